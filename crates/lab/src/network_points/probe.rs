//! Measures a running network in one window.

use std::ops::Range;

use npsim_network::Network;
use npsim_network::counters::NetworkCounters;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_project::problem::Problem;
use npsim_transport::time::Time;
use serde_json::Value;

use super::measures::{Sampled, Samples, WindowData, value};
use crate::metric::{Measure, Metric};

/// A metric with the flows and the line that it names.
type ProbedMetric<'a> = (&'a str, &'a Metric, Vec<usize>, Option<usize>);

/// The sampler of a metric.
struct MetricSampler {
    every: Time,
    next: Time,
    samples: Samples,
}

/// A window and the metrics measured in it.
pub(super) struct Probe<'a> {
    window: Range<Time>,
    scale: u64,
    metrics: Vec<(ProbedMetric<'a>, Option<MetricSampler>)>,
    begin: Option<NetworkCounters>,
    /// The longest queue of each line so far.
    longest: Vec<u64>,
    values: Option<Vec<(&'a str, Result<f64, String>)>>,
    /// The chips' counts at the beginning of the window.
    counted: Value,
}

/// The chips' counts so far, in the form of the results. Unlike those of flows and lines, they
/// count from the beginning of the run.
fn routers(file: &NetworkFile, network: &Network, counters: &NetworkCounters) -> Value {
    let results = serde_json::to_value(Results::of(file, network, counters));
    results.map_or(
        Value::Null,
        |mut results| serde_json::json!({ "routers": results["routers"].take() }),
    )
}

impl<'a> Probe<'a> {
    /// Creates a probe whose window has not begun.
    ///
    /// # Errors
    /// Returns an error if the scale reduces a sampling interval to nothing.
    pub fn new(
        window: Range<Time>,
        scale: u64,
        chosen: Vec<ProbedMetric<'a>>,
    ) -> Result<Self, Problem> {
        let mut metrics = Vec::new();
        for chosen in chosen {
            let (name, metric, ..) = &chosen;
            let sampler = match metric.sampling_interval() {
                None => None,
                Some(delta) if delta < scale => {
                    let message = format!("metric `{name}`: `delta` divided by the scale is 0");
                    return Err(Problem::new(message));
                }
                Some(delta) => Some(MetricSampler {
                    every: delta / scale,
                    next: window.start,
                    samples: Samples::default(),
                }),
            };
            metrics.push((chosen, sampler));
        }
        Ok(Self {
            window,
            scale,
            metrics,
            begin: None,
            longest: Vec::new(),
            values: None,
            counted: Value::Null,
        })
    }

    /// Whether a metric reads counters of chips.
    pub fn counts(&self) -> bool {
        let counts =
            |(_, metric, ..): &ProbedMetric<'_>| matches!(metric.measure, Measure::Count(_));
        self.metrics.iter().any(|(chosen, _)| counts(chosen))
    }

    /// Whether its window is over.
    pub fn is_over(&self) -> bool {
        self.values.is_some()
    }

    /// The next time at which it needs to look; `None` when its window is over.
    pub fn next(&self) -> Option<Time> {
        if self.values.is_some() {
            return None;
        }
        if self.begin.is_none() {
            return Some(self.window.start);
        }
        let samplers = self.metrics.iter().filter_map(|(_, it)| it.as_ref());
        let next = samplers.map(|it| it.next).chain([self.window.end]).min();
        next.map(|next| next.min(self.window.end))
    }

    /// Takes measurements at a time that this or another probe requested. Longest queues are
    /// those since the previous look.
    pub fn look(&mut self, file: &NetworkFile, network: &Network, counters: &NetworkCounters) {
        let simulation = network.packet_simulation();
        let now = simulation.now();
        if now < self.window.start || self.values.is_some() {
            return;
        }
        if self.begin.is_none() {
            self.begin = Some(counters.clone());
            if self.counts() {
                self.counted = routers(file, network, counters);
            }
            self.longest = { 0..counters.lines.len() }
                .map(|line| simulation.queue(line).0)
                .collect();
        } else {
            for (longest, line) in self.longest.iter_mut().zip(&counters.lines) {
                *longest = (*longest).max(line.longest);
            }
        }
        for ((_, metric, flows, line), sampler) in &mut self.metrics {
            let Some(sampler) = sampler.as_mut().filter(|it| it.next <= now) else {
                continue;
            };
            let quantity = Sampled::of(&metric.measure);
            sampler
                .samples
                .take(quantity, simulation, counters, (flows, *line));
            sampler.next = sampler.next.saturating_add(sampler.every);
        }
        if now >= self.window.end
            && let Some(begin) = &self.begin
        {
            let since = counters.since(begin);
            let results = self.counts().then(|| Results::of(file, network, begin));
            let results = results.and_then(|results| serde_json::to_value(results).ok());
            let seen = WindowData {
                simulation,
                counters: &since,
                longest: &self.longest,
                results: results.as_ref(),
                counted: &self.counted,
                scale: self.scale,
            };
            let values = self
                .metrics
                .iter()
                .map(|((name, metric, flows, line), it)| {
                    let samples = it.as_ref().map(|it| (&it.samples, it.every));
                    (*name, value(&seen, metric, (flows, *line), samples))
                });
            self.values = Some(values.collect());
        }
    }

    /// Returns the measured values, or the reason why the run stopped early.
    pub fn values(self, fault: Option<&str>) -> Vec<(&'a str, Result<f64, String>)> {
        let nothing = |((name, ..), _): &(ProbedMetric<'a>, _)| {
            let why = fault.unwrap_or("the run did not come to its end");
            (*name, Err(format!("the run was stopped: {why}")))
        };
        let values = self.values;
        values.unwrap_or_else(|| self.metrics.iter().map(nothing).collect())
    }
}
