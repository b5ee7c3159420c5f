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
use crate::fluid_points as fluids;
use crate::metric::Metric;
use crate::network_points as networks;
use crate::observed::{Observe, PointFiles};
use crate::petri_points as nets;
use crate::places::Places;
use crate::points::Point;
use crate::prepare::{Ready, prepare};
use crate::queue;
use crate::results::{CachedPoint, Chip, Results};
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
pub trait Progress: Sync {
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
impl Progress for () {
    fn begins(&self, _: usize, _: Cycle, _: usize) {}
    fn advanced(&self, _: Cycle) {}
    fn finished(&self, _: &Point, _: &Outcome) {}
}

impl Campaign<'_> {
    /// The keys of points; whatever is wrong with one is found here, before the
    /// first one runs.
    ///
    /// # Errors
    /// As in [`prepare`], of the first point in which something is wrong.
    pub fn cached(&self, points: Vec<Point>) -> Result<Vec<CachedPoint>, Problems> {
        let never = AtomicBool::new(false);
        let cached = self.cached_with(points, &Assemblies::default(), &never, &())?;
        Ok(cached.unwrap_or_default())
    }

    /// None if it was broken off.
    fn cached_with(
        &self,
        points: Vec<Point>,
        assemblies: &Assemblies,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<CachedPoint>>, Problems> {
        progress.prepares(points.len());
        let all: Vec<Result<Option<CachedPoint>, Problems>> = self.pool()?.install(|| {
            points
                .into_par_iter()
                .map(|point| {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    let cached = self.cached_one(point, assemblies);
                    progress.prepared();
                    cached.map(Some)
                })
                .collect()
        });
        all.into_iter().collect()
    }

    fn cached_one(&self, point: Point, assemblies: &Assemblies) -> Result<CachedPoint, Problems> {
        match point.kind {
            Kind::Chip => {}
            Kind::Net => {
                let net = nets::prepare(self.study, &point, self.quick)?;
                return Ok(CachedPoint {
                    chip: None,
                    point,
                    cycles: net.cycles(),
                    key: net.key,
                    run: None,
                });
            }
            Kind::Fluid => {
                let model = fluids::prepare(self.study, &point, self.quick)?;
                return Ok(CachedPoint {
                    chip: None,
                    point,
                    cycles: model.cycles(),
                    key: model.key,
                    run: None,
                });
            }
            Kind::Network => {
                let network = self.network(&point, assemblies)?;
                return Ok(CachedPoint {
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
        Ok(CachedPoint {
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
        progress: &dyn Progress,
    ) -> Result<Results, Problems> {
        let store = Store::open(self.results)?;
        let assemblies = Assemblies::default();
        let Some(points) = self.cached_with(points, &assemblies, stop, progress)? else {
            return Ok(Results::broken_off());
        };
        let mut outcomes = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut to_run = Vec::new();
        for cached in &points {
            if !seen.insert(&cached.key) {
                continue;
            }
            match store.get(&cached.key) {
                Some(outcome) if self.files(&cached.key).are_there() => {
                    outcomes.insert(cached.key.clone(), outcome);
                }
                _ => to_run.push(cached),
            }
        }
        let runs = together(&to_run);
        let all = runs.iter().map(|run| cost(run)).sum();
        progress.begins(to_run.len(), all, outcomes.len());
        let done = queue::run(
            &runs,
            |run| cost(run),
            self.jobs,
            |run, threads| {
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let (store, assemblies) = (&store, &assemblies);
                let outcome = self.run_all(run, (store, assemblies), threads, stop, progress);
                match &outcome {
                    Ok(Some(outcomes)) => {
                        for (cached, outcome) in run.iter().zip(outcomes) {
                            progress.finished(&cached.point, outcome);
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
        let Some(points) = self.cached_with(points, &Assemblies::default(), stop, &())? else {
            return Ok(Results::broken_off());
        };
        let mut outcomes = BTreeMap::new();
        let mut missing = Vec::new();
        for cached in &points {
            match store.get(&cached.key) {
                Some(outcome) => {
                    outcomes.insert(cached.key.clone(), outcome);
                }
                None => missing.push(cached.point.number.to_string()),
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

    fn metrics_of(&self, cached: &CachedPoint) -> BTreeMap<&str, &Metric> {
        let sweep = self.study.sweep.get(&cached.point.sweep);
        sweep
            .map(|sweep| self.study.metrics_of(sweep))
            .unwrap_or_default()
    }

    /// Runs what is measured in one run.
    fn run_all(
        &self,
        run: &[&CachedPoint],
        kept: (&Store, &Assemblies),
        threads: usize,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<Outcome>>, Problems> {
        match run {
            [cached] if cached.run.is_none() => {
                let outcome = self.run_one(cached, kept, threads, stop, progress)?;
                Ok(outcome.map(|outcome| vec![outcome]))
            }
            _ => self.run_network(run, kept, threads, stop, progress),
        }
    }

    fn run_network(
        &self,
        run: &[&CachedPoint],
        (store, assemblies): (&Store, &Assemblies),
        threads: usize,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<Outcome>>, Problems> {
        let mut points = Vec::new();
        for cached in run {
            let network = self.network(&cached.point, assemblies)?;
            if network.key != cached.key {
                return Err(changed(cached).into());
            }
            points.push((network, self.metrics_of(cached)));
        }
        let all = cost(run);
        let behind = AtomicU64::new(0);
        let come_to = |thousandths: u64| {
            let now = (u128::from(all) * u128::from(thousandths) / 1_000) as Cycle;
            let before = behind.fetch_max(now, Ordering::Relaxed);
            progress.advanced(now.saturating_sub(before));
            !stop.load(Ordering::Relaxed)
        };
        let outcomes = networks::execute(&points, threads, &come_to)?;
        progress.advanced(all.saturating_sub(behind.into_inner()));
        for outcome in outcomes.iter().flatten() {
            store.put(outcome)?;
        }
        Ok(outcomes)
    }

    fn run_one(
        &self,
        cached: &CachedPoint,
        (store, assemblies): (&Store, &Assemblies),
        threads: usize,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Option<Outcome>, Problems> {
        let metrics = self.metrics_of(cached);
        let go_on = || !stop.load(Ordering::Relaxed);
        let of_model = match cached.point.kind {
            Kind::Net => {
                let net = nets::prepare(self.study, &cached.point, self.quick)?;
                Some(net.execute(&metrics, &go_on)?)
            }
            Kind::Fluid => {
                let model = fluids::prepare(self.study, &cached.point, self.quick)?;
                Some(model.execute(&metrics, &go_on))
            }
            Kind::Chip | Kind::Network => None,
        };
        if let Some(outcome) = of_model {
            if let Some(outcome) = &outcome {
                progress.advanced(cached.cycles);
                store.put(outcome)?;
            }
            return Ok(outcome);
        }
        let ready = self.ready(&cached.point, assemblies)?;
        if ready.key != cached.key {
            return Err(changed(cached).into());
        }
        let files = self.files(&cached.key);
        let behind = AtomicU64::new(0);
        // Routers of a chain run beside each other: the furthest tells for all.
        let hops = ready.hops as Cycle;
        let come_to = |cycle: Cycle| {
            let before = behind.fetch_max(cycle, Ordering::Relaxed);
            progress.advanced(cycle.saturating_sub(before) * hops);
            go_on()
        };
        let outcome = execute(&ready, &metrics, &files, threads, &come_to).map_err(|problem| {
            problem.note(format!(
                "in point {}, {}",
                cached.point.number,
                cached.point.shown()
            ))
        })?;
        let told = behind.into_inner().saturating_mul(hops);
        progress.advanced(cached.cycles.saturating_sub(told));
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
fn together<'a>(points: &[&'a CachedPoint]) -> Vec<Vec<&'a CachedPoint>> {
    let mut runs: Vec<Vec<&CachedPoint>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for cached in points {
        let Some(run) = &cached.run else {
            runs.push(vec![cached]);
            continue;
        };
        let at = *known.entry(run).or_insert(runs.len());
        match runs.get_mut(at) {
            Some(run) => run.push(cached),
            None => runs.push(vec![cached]),
        }
    }
    runs
}

/// What a run costs: as much as its longest point.
fn cost(run: &[&CachedPoint]) -> Cycle {
    run.iter().map(|cached| cached.cycles).max().unwrap_or(0)
}

fn changed(cached: &CachedPoint) -> Problem {
    let message = format!(
        "something that point {} reads changed while the study ran",
        cached.point.number
    );
    Problem::new(message)
        .help("start again; points that are done and not touched by the change stay")
}
