//! Runs the points of a study on the cores of this machine. Points that were run
//! before are not run again; what they come to does not depend on how many run
//! at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use npsim_chip::Cycle;
use npsim_project::problem::{Problem, Problems};
use rayon::prelude::*;

use crate::assemblies::Assemblies;
use crate::execute::execute;
use crate::fluids;
use crate::metric::Metric;
use crate::nets;
use crate::networks;
use crate::observed::{Observe, PointFiles};
use crate::places::Places;
use crate::points::Point;
use crate::prepare::{Ready, prepare};
use crate::profiles::Chip;
use crate::queue;
use crate::store::{Outcome, Store};
use crate::study::{Kind, Study};

/// What is to be run, and how.
#[derive(Clone, Copy, Debug)]
pub struct Campaign<'a> {
    /// The study.
    pub study: &'a Study,
    /// Whether it is a quick run.
    pub quick: bool,
    /// Where systems lie.
    pub places: &'a Places,
    /// The folder of results.
    pub results: &'a Path,
    /// How many points run at a time.
    pub jobs: usize,
    /// What is observed of each point that runs.
    pub observe: &'a [Observe],
}

/// Is told how far a campaign is, from any thread.
pub trait Watcher: Sync {
    /// So many points are looked at first, to see which of them are to be run.
    fn prepares(&self, _points: usize) {}
    /// One of them was.
    fn prepared(&self) {}
    /// So many points are to be run, which simulate so many cycles, of all routers, if
    /// none of them ends early; so many were run before.
    fn begins(&self, to_run: usize, cycles: Cycle, done_before: usize);
    /// So many cycles of it are behind a point. What one that ends early leaves comes
    /// with its end.
    fn advanced(&self, cycles: Cycle);
    /// A point is done.
    fn finished(&self, point: &Point, outcome: &Outcome);
}

/// Nobody.
impl Watcher for () {
    fn begins(&self, _: usize, _: Cycle, _: usize) {}
    fn advanced(&self, _: Cycle) {}
    fn finished(&self, _: &Point, _: &Outcome) {}
}

/// A point with its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyed {
    /// The point.
    pub point: Point,
    /// Its key.
    pub key: String,
    /// The chip that it runs on; a Petri net runs on none.
    pub chip: Option<Chip>,
    /// Cycles that it simulates, of all routers, if it does not end early.
    pub cycles: Cycle,
    /// Names its run, if it can be measured in one run with others: in a network, in another
    /// window.
    pub run: Option<String>,
}

/// What a campaign came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Points that were asked for, by number.
    pub points: Vec<Keyed>,
    /// What they came to, by key.
    pub outcomes: BTreeMap<String, Outcome>,
    /// How many were run now.
    pub ran: usize,
    /// Whether it was broken off.
    pub interrupted: bool,
}

impl Results {
    /// Those of a campaign that was broken off before its points were known.
    fn broken_off() -> Self {
        Self {
            interrupted: true,
            ..Self::default()
        }
    }

    /// What a point came to.
    #[must_use]
    pub fn outcome(&self, keyed: &Keyed) -> Option<&Outcome> {
        self.outcomes.get(&keyed.key)
    }

    /// Points that had not settled when their longest warm-up was over.
    pub fn unsettled(&self) -> impl Iterator<Item = &Keyed> {
        let settled = |keyed: &&Keyed| self.outcome(keyed).and_then(|o| o.settled);
        self.points
            .iter()
            .filter(move |keyed| settled(keyed) == Some(false))
    }

    /// Points that were stopped by a fault.
    pub fn faults(&self) -> impl Iterator<Item = (&Keyed, &str)> {
        self.points.iter().filter_map(|keyed| {
            let fault = self.outcome(keyed)?.fault.as_deref()?;
            Some((keyed, fault))
        })
    }
}

impl Campaign<'_> {
    /// The keys of points; whatever is wrong with one is found here, before the
    /// first one runs.
    ///
    /// # Errors
    /// As in [`prepare`], of the first point in which something is wrong.
    pub fn keyed(&self, points: Vec<Point>) -> Result<Vec<Keyed>, Problems> {
        let never = AtomicBool::new(false);
        let keyed = self.keyed_with(points, &Assemblies::default(), &never, &())?;
        Ok(keyed.unwrap_or_default())
    }

    /// None if it was broken off.
    fn keyed_with(
        &self,
        points: Vec<Point>,
        assemblies: &Assemblies,
        stop: &AtomicBool,
        watcher: &dyn Watcher,
    ) -> Result<Option<Vec<Keyed>>, Problems> {
        watcher.prepares(points.len());
        let all: Vec<Result<Option<Keyed>, Problems>> = self.pool()?.install(|| {
            points
                .into_par_iter()
                .map(|point| {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    let keyed = self.keyed_one(point, assemblies);
                    watcher.prepared();
                    keyed.map(Some)
                })
                .collect()
        });
        all.into_iter().collect()
    }

    fn keyed_one(&self, point: Point, assemblies: &Assemblies) -> Result<Keyed, Problems> {
        match point.kind {
            Kind::Chip => {}
            Kind::Net => {
                let net = nets::prepare(self.study, &point, self.quick)?;
                return Ok(Keyed {
                    chip: None,
                    point,
                    cycles: net.cycles(),
                    key: net.key,
                    run: None,
                });
            }
            Kind::Fluid => {
                let model = fluids::prepare(self.study, &point, self.quick)?;
                return Ok(Keyed {
                    chip: None,
                    point,
                    cycles: model.cycles(),
                    key: model.key,
                    run: None,
                });
            }
            Kind::Network => {
                let network = self.network(&point, assemblies)?;
                return Ok(Keyed {
                    chip: None,
                    point,
                    cycles: network.cycles(),
                    key: network.key,
                    run: Some(network.run),
                });
            }
        }
        let ready = self.ready(&point, assemblies)?;
        let sweep = self.study.sweep.get(&point.sweep);
        let other = sweep.and_then(|sweep| sweep.other_chip.as_ref());
        Ok(Keyed {
            chip: Some(Chip::of(&ready.project).meant(other)),
            point,
            cycles: ready.cycles(),
            key: ready.key,
            run: None,
        })
    }

    /// Runs the points that were not run before. `stop` breaks it off; what is
    /// done stays.
    ///
    /// # Errors
    /// A point cannot be prepared, or its outcome not be saved.
    pub fn run(
        &self,
        points: Vec<Point>,
        stop: &AtomicBool,
        watcher: &dyn Watcher,
    ) -> Result<Results, Problems> {
        let store = Store::open(self.results)?;
        let assemblies = Assemblies::default();
        let Some(points) = self.keyed_with(points, &assemblies, stop, watcher)? else {
            return Ok(Results::broken_off());
        };
        let mut outcomes = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut to_run = Vec::new();
        for keyed in &points {
            if !seen.insert(&keyed.key) {
                continue;
            }
            match store.get(&keyed.key) {
                Some(outcome) if self.files(&keyed.key).are_there() => {
                    outcomes.insert(keyed.key.clone(), outcome);
                }
                _ => to_run.push(keyed),
            }
        }
        let runs = together(&to_run);
        let all = runs.iter().map(|run| cost(run)).sum();
        watcher.begins(to_run.len(), all, outcomes.len());
        let done = queue::run(
            &runs,
            |run| cost(run),
            self.jobs,
            |run, threads| {
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let (store, assemblies) = (&store, &assemblies);
                let outcome = self.run_all(run, (store, assemblies), threads, stop, watcher);
                match &outcome {
                    Ok(Some(outcomes)) => {
                        for (keyed, outcome) in run.iter().zip(outcomes) {
                            watcher.finished(&keyed.point, outcome);
                        }
                    }
                    Ok(None) => {}
                    // The others would come to nothing as well, or be lost.
                    Err(_) => stop.store(true, Ordering::Relaxed),
                }
                outcome
            },
        );
        let mut ran = 0;
        let mut interrupted = false;
        let mut failure = None;
        for done in done {
            match done {
                Ok(Some(done)) => {
                    ran += done.len();
                    outcomes.extend(done.into_iter().map(|it| (it.key.clone(), it)));
                }
                Ok(None) => interrupted = true,
                Err(problems) => failure = failure.or(Some(problems)),
            }
        }
        match failure {
            Some(problems) => Err(problems),
            None => Ok(Results {
                points,
                outcomes,
                ran,
                interrupted,
            }),
        }
    }

    /// What was run before, without running anything; `stop` breaks it off.
    ///
    /// # Errors
    /// A point cannot be prepared, or was not run yet.
    pub fn merge(&self, points: Vec<Point>, stop: &AtomicBool) -> Result<Results, Problems> {
        let store = Store::open(self.results)?;
        let Some(points) = self.keyed_with(points, &Assemblies::default(), stop, &())? else {
            return Ok(Results::broken_off());
        };
        let mut outcomes = BTreeMap::new();
        let mut missing = Vec::new();
        for keyed in &points {
            match store.get(&keyed.key) {
                Some(outcome) => {
                    outcomes.insert(keyed.key.clone(), outcome);
                }
                None => missing.push(keyed.point.number.to_string()),
            }
        }
        if !missing.is_empty() {
            let problem = Problem::new(format!(
                "{} of {} points were not run yet: {}",
                missing.len(),
                points.len(),
                missing.join(", ")
            ))
            .help(format!(
                "run each with `--point N --out {}`, or all of them without `--merge`",
                self.results.display()
            ));
            return Err(problem.into());
        }
        Ok(Results {
            points,
            outcomes,
            ran: 0,
            interrupted: false,
        })
    }

    fn ready(&self, point: &Point, assemblies: &Assemblies) -> Result<Ready, Problems> {
        prepare(self.study, point, self.quick, self.places, assemblies)
    }

    fn network(
        &self,
        point: &Point,
        assemblies: &Assemblies,
    ) -> Result<networks::Network, Problem> {
        networks::prepare(self.study, point, self.quick, self.places, assemblies)
    }

    fn metrics_of(&self, keyed: &Keyed) -> BTreeMap<&str, &Metric> {
        let sweep = self.study.sweep.get(&keyed.point.sweep);
        sweep
            .map(|sweep| self.study.metrics_of(sweep))
            .unwrap_or_default()
    }

    /// Runs what is measured in one run.
    fn run_all(
        &self,
        run: &[&Keyed],
        kept: (&Store, &Assemblies),
        threads: usize,
        stop: &AtomicBool,
        watcher: &dyn Watcher,
    ) -> Result<Option<Vec<Outcome>>, Problems> {
        match run {
            [keyed] if keyed.run.is_none() => {
                let outcome = self.run_one(keyed, kept, threads, stop, watcher)?;
                Ok(outcome.map(|outcome| vec![outcome]))
            }
            _ => self.run_network(run, kept, threads, stop, watcher),
        }
    }

    fn run_network(
        &self,
        run: &[&Keyed],
        (store, assemblies): (&Store, &Assemblies),
        threads: usize,
        stop: &AtomicBool,
        watcher: &dyn Watcher,
    ) -> Result<Option<Vec<Outcome>>, Problems> {
        let mut points = Vec::new();
        for keyed in run {
            let network = self.network(&keyed.point, assemblies)?;
            if network.key != keyed.key {
                return Err(changed(keyed).into());
            }
            points.push((network, self.metrics_of(keyed)));
        }
        let all = cost(run);
        let behind = AtomicU64::new(0);
        let come_to = |thousandths: u64| {
            let now = (u128::from(all) * u128::from(thousandths) / 1_000) as Cycle;
            let before = behind.fetch_max(now, Ordering::Relaxed);
            watcher.advanced(now.saturating_sub(before));
            !stop.load(Ordering::Relaxed)
        };
        let outcomes = networks::execute(&points, threads, &come_to)?;
        watcher.advanced(all.saturating_sub(behind.into_inner()));
        for outcome in outcomes.iter().flatten() {
            store.put(outcome)?;
        }
        Ok(outcomes)
    }

    fn run_one(
        &self,
        keyed: &Keyed,
        (store, assemblies): (&Store, &Assemblies),
        threads: usize,
        stop: &AtomicBool,
        watcher: &dyn Watcher,
    ) -> Result<Option<Outcome>, Problems> {
        let metrics = self.metrics_of(keyed);
        let go_on = || !stop.load(Ordering::Relaxed);
        let of_model = match keyed.point.kind {
            Kind::Net => {
                let net = nets::prepare(self.study, &keyed.point, self.quick)?;
                Some(net.execute(&metrics, &go_on)?)
            }
            Kind::Fluid => {
                let model = fluids::prepare(self.study, &keyed.point, self.quick)?;
                Some(model.execute(&metrics, &go_on))
            }
            Kind::Chip | Kind::Network => None,
        };
        if let Some(outcome) = of_model {
            if let Some(outcome) = &outcome {
                watcher.advanced(keyed.cycles);
                store.put(outcome)?;
            }
            return Ok(outcome);
        }
        let ready = self.ready(&keyed.point, assemblies)?;
        if ready.key != keyed.key {
            return Err(changed(keyed).into());
        }
        let files = self.files(&keyed.key);
        let behind = AtomicU64::new(0);
        // Routers of a chain run beside each other: the furthest tells for all.
        let hops = ready.hops as Cycle;
        let come_to = |cycle: Cycle| {
            let before = behind.fetch_max(cycle, Ordering::Relaxed);
            watcher.advanced(cycle.saturating_sub(before) * hops);
            go_on()
        };
        let outcome = execute(&ready, &metrics, &files, threads, &come_to).map_err(|problem| {
            problem.note(format!(
                "in point {}, {}",
                keyed.point.number,
                keyed.point.shown()
            ))
        })?;
        let told = behind.into_inner().saturating_mul(hops);
        watcher.advanced(keyed.cycles.saturating_sub(told));
        if let Some(outcome) = &outcome {
            store.put(outcome)?;
        }
        Ok(outcome)
    }

    fn files(&self, key: &str) -> PointFiles {
        PointFiles::new(self.results, key, self.observe)
    }

    fn pool(&self) -> Result<rayon::ThreadPool, Problem> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs.max(1))
            .build()
            .map_err(|error| Problem::new(format!("cannot start {} threads: {error}", self.jobs)))
    }
}

/// Points in their order, those that share a run with the first of them.
fn together<'a>(points: &[&'a Keyed]) -> Vec<Vec<&'a Keyed>> {
    let mut runs: Vec<Vec<&Keyed>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for keyed in points {
        let Some(run) = &keyed.run else {
            runs.push(vec![keyed]);
            continue;
        };
        let at = *known.entry(run).or_insert(runs.len());
        match runs.get_mut(at) {
            Some(run) => run.push(keyed),
            None => runs.push(vec![keyed]),
        }
    }
    runs
}

/// What a run costs: as much as its longest point.
fn cost(run: &[&Keyed]) -> Cycle {
    run.iter().map(|keyed| keyed.cycles).max().unwrap_or(0)
}

fn changed(keyed: &Keyed) -> Problem {
    let message = format!(
        "something that point {} reads changed while the study ran",
        keyed.point.number
    );
    Problem::new(message)
        .help("start again; points that are done and not touched by the change stay")
}
