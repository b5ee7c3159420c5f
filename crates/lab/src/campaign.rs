//! Runs the points of a study on the cores of this machine. Points with a saved outcome are not run
//! again, and outcomes do not depend on how many points run at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use npsim_chip::Cycle;
use npsim_project::problem::{Problem, Problems};
use rayon::prelude::*;

use crate::assemblies::Assemblies;
use crate::chip_points::ChipPoint;
use crate::fluid_points::FluidPoint;
use crate::missing::missing;
use crate::network_points::NetworkPoint;
use crate::observed::{Observe, PointFiles};
use crate::part::{cost, together};
use crate::petri_points::PetriPoint;
use crate::places::SearchPath;
use crate::points::Point;
use crate::queue;
use crate::results::{CachedPoint, Results};
use crate::store::{PointOutcome, Store};
use crate::study::{Study, SubjectKind as Kind};
use crate::subject::{Execution, PointInputs, Subject};
use crate::task::{Task, TaskFolder, TaskRecord, TaskState};

/// What to run, and how.
#[derive(Clone, Copy, Debug)]
pub struct Campaign<'a> {
    /// The study.
    pub study: &'a Study,
    /// Whether this is a quick run.
    pub quick: bool,
    /// Where to search for systems.
    pub places: &'a SearchPath,
    /// The results folder.
    pub results: &'a Path,
    /// How many points run at a time.
    pub jobs: usize,
    /// What to observe at each point that runs.
    pub observe: &'a [Observe],
}

/// Reports the progress of a campaign; called from any thread.
pub trait Progress: Sync {
    /// Called when the campaign begins to check this many points for saved outcomes.
    fn preparing(&self, _points: usize) {}
    /// Called for each point that was checked.
    fn prepared(&self) {}
    /// Called when the runs begin, with the number of points to run, the cycles that all their routers
    /// simulate unless a run ends early, and the number of points that had run before.
    fn starting(&self, to_run: usize, cycles: Cycle, done_before: usize);
    /// Called when a point has simulated this many more cycles. The remaining cycles of a point that
    /// ends early are reported when it ends.
    fn advanced(&self, cycles: Cycle);
    /// Called when a point is done.
    fn finished(&self, point: &Point, outcome: &PointOutcome);
}

/// Reports nothing.
impl Progress for () {
    fn starting(&self, _: usize, _: Cycle, _: usize) {}
    fn advanced(&self, _: Cycle) {}
    fn finished(&self, _: &Point, _: &PointOutcome) {}
}

impl Campaign<'_> {
    /// Returns the points with their keys. Mistakes in any of them are found here, before the first one
    /// runs.
    ///
    /// # Errors
    /// Returns the problems of the first faulty point: a file is missing or malformed, or a setting has
    /// no target or a wrong value.
    pub fn cached(&self, points: Vec<Point>) -> Result<Vec<CachedPoint>, Problems> {
        let never = AtomicBool::new(false);
        let cached = self.cached_with(points, &Assemblies::default(), &never, &())?;
        Ok(cached.unwrap_or_default())
    }

    /// As [`cached`](Self::cached); `None` if the user interrupted.
    fn cached_with(
        &self,
        points: Vec<Point>,
        assemblies: &Assemblies,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<CachedPoint>>, Problems> {
        progress.preparing(points.len());
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
            Kind::Chip => self.cached_as::<ChipPoint>(point, assemblies),
            Kind::PetriNet => self.cached_as::<PetriPoint>(point, assemblies),
            Kind::Fluid => self.cached_as::<FluidPoint>(point, assemblies),
            Kind::Network => self.cached_as::<NetworkPoint>(point, assemblies),
        }
    }

    fn cached_as<S: Subject>(
        &self,
        point: Point,
        assemblies: &Assemblies,
    ) -> Result<CachedPoint, Problems> {
        let subject: S = self.prepare(&point, assemblies)?;
        Ok(CachedPoint {
            chip: subject.chip(),
            cycles: subject.cost(),
            key: subject.key().to_owned(),
            run: subject.shared_run().map(str::to_owned),
            point,
        })
    }

    fn inputs<'b>(
        &'b self,
        point: &Point,
        assemblies: &'b Assemblies,
    ) -> Result<PointInputs<'b>, Problem> {
        let sweep = self.study.sweep.get(&point.sweep);
        let unknown = || Problem::new(format!("there is no sweep `{}`", point.sweep));
        Ok(PointInputs {
            study: self.study,
            sweep: sweep.ok_or_else(unknown)?,
            quick: self.quick,
            places: self.places,
            assemblies,
        })
    }

    /// Prepares a point; problems name the point that they occurred in.
    fn prepare<S: Subject>(&self, point: &Point, assemblies: &Assemblies) -> Result<S, Problems> {
        let inputs = self.inputs(point, assemblies)?;
        S::prepare(&inputs, point).map_err(|Problems(mut problems)| {
            if let Some(first) = problems.first_mut() {
                first.notes.push(point_note(point));
            }
            Problems(problems)
        })
    }

    /// Runs the points that have no saved outcome. Setting `stop` interrupts the campaign; finished
    /// points stay saved.
    ///
    /// # Errors
    /// Returns an error if a point cannot be prepared or its outcome cannot be saved.
    pub fn run(
        &self,
        points: Vec<Point>,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Results, Problems> {
        self.run_task(points, &Task::default(), stop, progress)
    }

    /// Runs the points of a task that have no saved outcome, as [`run`](Self::run) does. The results
    /// contain no other points.
    ///
    /// # Errors
    /// Returns an error as [`run`](Self::run) does, or if the task names a point that does not exist.
    pub fn run_task(
        &self,
        points: Vec<Point>,
        task: &Task,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Results, Problems> {
        let points = task.part.candidates(points)?;
        let assemblies = Assemblies::default();
        let Some(points) = self.cached_with(points, &assemblies, stop, progress)? else {
            return Ok(Results::interrupted_early());
        };
        let points = task.part.select(points)?;
        let store = Store::open(self.results)?;
        let mut outcomes = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut to_run = Vec::new();
        for cached in &points {
            if !seen.insert(&cached.key) {
                continue;
            }
            match store.get(&cached.key) {
                Some(outcome) if self.files(&cached.key).all_exist() => {
                    outcomes.insert(cached.key.clone(), outcome);
                }
                _ => to_run.push(cached),
            }
        }
        let runs = together(&to_run);
        let all = runs.iter().map(|run| cost(run)).sum();
        progress.starting(to_run.len(), all, outcomes.len());
        let tasks = TaskFolder::of(self.results);
        let mut record = None;
        if !to_run.is_empty() {
            let begun = TaskRecord::begun(task, &points);
            tasks.put(&task.part, &begun)?;
            record = Some(begun);
        }
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
                    // The remaining points would fail too, or their outcomes be lost.
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
        if let Some(mut record) = record {
            record.state = match &failure {
                Some(Problems(problems)) => {
                    let why = problems.first().map(|problem| problem.message.clone());
                    TaskState::Failed(why.unwrap_or_default())
                }
                None if interrupted => TaskState::Interrupted,
                None => TaskState::Done,
            };
            let saved = tasks.put(&task.part, &record);
            if failure.is_none() {
                saved?;
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

    /// Collects saved outcomes without running anything. Setting `stop` interrupts it.
    ///
    /// # Errors
    /// Returns an error if a point cannot be prepared or has not run yet; the problem says why not.
    pub fn merge(&self, points: Vec<Point>, stop: &AtomicBool) -> Result<Results, Problems> {
        let store = Store::open(self.results)?;
        let Some(points) = self.cached_with(points, &Assemblies::default(), stop, &())? else {
            return Ok(Results::interrupted_early());
        };
        let mut outcomes = BTreeMap::new();
        let mut gone = Vec::new();
        for cached in &points {
            match store.get(&cached.key) {
                Some(outcome) => {
                    outcomes.insert(cached.key.clone(), outcome);
                }
                None => gone.push(cached),
            }
        }
        if !gone.is_empty() {
            return Err(missing(self.results, &store, &points, &gone).into());
        }
        Ok(Results {
            points,
            outcomes,
            ran: 0,
            interrupted: false,
        })
    }

    /// Runs points that are measured in the same run.
    fn run_all(
        &self,
        run: &[&CachedPoint],
        kept: (&Store, &Assemblies),
        threads: usize,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<PointOutcome>>, Problems> {
        let kind = run.first().map_or(Kind::Chip, |first| first.point.kind);
        let run_as = match kind {
            Kind::Chip => Self::run_as::<ChipPoint>,
            Kind::PetriNet => Self::run_as::<PetriPoint>,
            Kind::Fluid => Self::run_as::<FluidPoint>,
            Kind::Network => Self::run_as::<NetworkPoint>,
        };
        run_as(self, run, kept, threads, stop, progress)
    }

    fn run_as<S: Subject>(
        &self,
        run: &[&CachedPoint],
        (store, assemblies): (&Store, &Assemblies),
        threads: usize,
        stop: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<PointOutcome>>, Problems> {
        let Some(first) = run.first() else {
            return Ok(Some(Vec::new()));
        };
        let mut points = Vec::new();
        for cached in run {
            let subject: S = self.prepare(&cached.point, assemblies)?;
            if subject.key() != cached.key {
                return Err(changed(cached).into());
            }
            let metrics = self.inputs(&cached.point, assemblies)?.metrics();
            points.push((subject, metrics));
        }
        let done = AtomicU64::new(0);
        let proceed = |cycles: Cycle| {
            let before = done.fetch_max(cycles, Ordering::Relaxed);
            progress.advanced(cycles.saturating_sub(before));
            !stop.load(Ordering::Relaxed)
        };
        let execution = Execution {
            threads,
            files: self.files(&first.key),
            proceed: &proceed,
        };
        let outcomes = S::execute(&points, &execution)
            .map_err(|problem| problem.note(point_note(&first.point)))?;
        progress.advanced(cost(run).saturating_sub(done.into_inner()));
        for outcome in outcomes.iter().flatten() {
            store.put(outcome)?;
        }
        Ok(outcomes)
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

fn point_note(point: &Point) -> String {
    format!("in point {}, {}", point.number, point.shown())
}

fn changed(cached: &CachedPoint) -> Problem {
    let message = format!(
        "something that point {} reads changed while the study ran",
        cached.point.number
    );
    Problem::new(message)
        .help("start again; points that are done and not touched by the change stay")
}
