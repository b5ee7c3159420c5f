//! The interface between a campaign and the subjects that points run: a chip, a Petri net, the fluid
//! model or a network.

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

/// The metrics of a sweep, by name.
pub(crate) type Metrics<'a> = BTreeMap<&'a str, &'a Metric>;

/// Inputs from which the points of a sweep are prepared.
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
    /// Number of threads that it may use.
    pub threads: usize,
    /// The observation files.
    pub files: PointFiles,
    /// Receives the cycles done since the last call, in units of the run's cost, from any thread; the
    /// run stops if it returns `false`.
    pub proceed: &'a (dyn Fn(Cycle) -> bool + Sync),
}

/// A point that is ready to run.
pub(crate) trait Subject: Sized {
    /// Checks that a sweep uses nothing that subjects of this kind lack.
    ///
    /// # Errors
    /// Returns a description of the problem if it does.
    fn check(study: &Study, sweep: &Sweep) -> Result<(), String>;

    /// Prepares a point.
    ///
    /// # Errors
    /// Returns an error if a file is missing or malformed, or a setting has no target or a wrong
    /// value.
    fn prepare(inputs: &PointInputs<'_>, point: &Point) -> Result<Self, Problems>;

    /// The key of its outcome: points with equal inputs have equal keys.
    fn key(&self) -> &str;

    /// The key of its run, if other points can be measured in the same run.
    fn shared_run(&self) -> Option<&str> {
        None
    }

    /// The chip that it runs on, if any.
    fn chip(&self) -> Option<PointChip> {
        None
    }

    /// The host cost of its run unless it ends early, in cycles of a chip.
    fn cost(&self) -> Cycle;

    /// Measures several points in one run and returns their outcomes in order; `None` if it was
    /// interrupted.
    ///
    /// # Errors
    /// Returns an error if the subject cannot run or an observation cannot be written.
    fn execute(
        points: &[(Self, Metrics<'_>)],
        execution: &Execution<'_>,
    ) -> Result<Option<Vec<PointOutcome>>, Problem>;
}

/// Runs points that share no run one by one; `None` if one was interrupted.
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
    /// Adds the value of each metric, or the reason why it has none.
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
