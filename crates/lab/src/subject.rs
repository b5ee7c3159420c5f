//! What a campaign asks of whatever a point runs: a chip, a Petri net, the fluid model or a network.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_project::problem::{Problem, Problems};

use crate::assemblies::Assemblies;
use crate::metric::Metric;
use crate::observed::PointFiles;
use crate::places::SearchPath;
use crate::points::Point;
use crate::results::PointChip;
use crate::store::{MetricReading, PointOutcome};
use crate::study::{Study, Sweep};

/// What a sweep measures, by name.
pub(crate) type Metrics<'a> = BTreeMap<&'a str, &'a Metric>;

/// What points of a sweep are made ready from.
#[derive(Clone, Copy)]
pub(crate) struct PointInputs<'a> {
    pub study: &'a Study,
    pub sweep: &'a Sweep,
    pub quick: bool,
    pub places: &'a SearchPath,
    pub assemblies: &'a Assemblies,
}

impl<'a> PointInputs<'a> {
    pub fn metrics(&self) -> Metrics<'a> {
        self.study.metrics_of(self.sweep)
    }
}

/// How a run is executed.
pub(crate) struct Execution<'a> {
    /// Threads that it may use.
    pub threads: usize,
    /// The files of what is observed.
    pub files: PointFiles,
    /// Takes the cycles of the run's cost that are done, from any thread; the run stops if it
    /// returns `false`.
    pub proceed: &'a (dyn Fn(Cycle) -> bool + Sync),
}

/// A point made ready to run.
pub(crate) trait Subject: Sized {
    /// Checks that a sweep asks for nothing that a subject of this kind does not have.
    ///
    /// # Errors
    /// It does, in words.
    fn check(study: &Study, sweep: &Sweep) -> Result<(), String>;

    /// Makes a point ready.
    ///
    /// # Errors
    /// A file is not there or wrong, or a setting leads nowhere or has a wrong value.
    fn prepare(inputs: &PointInputs<'_>, point: &Point) -> Result<Self, Problems>;

    /// The name of its outcome: points with equal inputs have equal keys.
    fn key(&self) -> &str;

    /// The name of its run, if other points can be measured in that run.
    fn shared_run(&self) -> Option<&str> {
        None
    }

    /// The chip that it runs on, if it runs on one.
    fn chip(&self) -> Option<PointChip> {
        None
    }

    /// What its run costs the host, in cycles of a chip, if it does not end early.
    fn cost(&self) -> Cycle;

    /// Measures points in one run, in their order; `None` if it was interrupted. Several points share
    /// a run.
    ///
    /// # Errors
    /// The subject cannot run, or what is observed cannot be written.
    fn execute(
        points: &[(Self, Metrics<'_>)],
        execution: &Execution<'_>,
    ) -> Result<Option<Vec<PointOutcome>>, Problem>;
}

/// Runs points one by one that share no run; `None` if one was interrupted.
pub(crate) fn one_by_one<S>(
    points: &[(S, Metrics<'_>)],
    execute: impl Fn(&S, &Metrics<'_>) -> Result<Option<PointOutcome>, Problem>,
) -> Result<Option<Vec<PointOutcome>>, Problem> {
    let outcomes = points
        .iter()
        .map(|(subject, metrics)| execute(subject, metrics));
    outcomes.collect()
}

impl PointOutcome {
    /// Takes in the value of each metric, or why it has none.
    pub(crate) fn measure(
        &mut self,
        metrics: &Metrics<'_>,
        value: impl Fn(&Metric) -> Result<f64, String>,
    ) {
        for (&name, metric) in metrics {
            let reading = MetricReading::from(value(metric));
            self.metrics.insert(name.to_owned(), reading);
        }
    }
}
