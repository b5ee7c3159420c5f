//! Values of network metrics, in the times and rates of the network's file.

use npsim_network::Simulation;
use npsim_network::counters::NetworkCounters;
use npsim_transport::time::{SECOND, Time};
use serde_json::Value;

use crate::counters::growth;
use crate::metric::{
    CounterGrowth, DropsPer, LossShare, Measure, Metric, SenderState, SettlingQuantity, Statistic,
    Utilisation, Variation,
};

/// Minimum number of samples to judge settling.
const MIN_TO_SETTLE: usize = 8;

/// Data of a window.
pub(super) struct WindowData<'a> {
    /// The network at the window's end.
    pub simulation: &'a Simulation,
    /// Counts within the window.
    pub counters: &'a NetworkCounters,
    /// The longest queue of each line in the window, in bytes.
    pub longest: &'a [u64],
    /// All results in the form of the statistics file, if they are needed.
    pub results: Option<&'a Value>,
    /// The chips' counts before the window, in the same form.
    pub counted: &'a Value,
    /// The factor to multiply times and divide rates by.
    pub scale: u64,
}

/// A sampled quantity of a network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sampled {
    /// Bytes that reached a flow's receiver.
    Reached,
    /// Data that was delivered to a flow's receiver.
    Delivered,
    /// A sender's congestion window.
    Window,
    /// A sender's smoothed round-trip time.
    RoundTrip,
    /// The queue before a line, integrated over time.
    Waited,
    /// The time that a line spent sending.
    Busy,
}

impl Sampled {
    /// Returns the quantity to sample for a measure.
    pub fn of(measure: &Measure) -> Self {
        match measure {
            Measure::Cov { .. } => Self::Reached,
            Measure::Settling { of, .. } => match of {
                SettlingQuantity::Goodput(_) => Self::Delivered,
                SettlingQuantity::Window(_) => Self::Window,
                SettlingQuantity::Queue(_) => Self::Waited,
                SettlingQuantity::Utilisation(_) => Self::Busy,
            },
            Measure::RoundTrip(_) => Self::RoundTrip,
            _ => Self::Window,
        }
    }
}

/// Samples of one metric: one series per flow, or one of the line.
#[derive(Debug, Default)]
pub(super) struct Samples {
    series: Vec<Vec<f64>>,
}

impl Samples {
    /// Takes one sample of each series.
    pub fn take(
        &mut self,
        quantity: Sampled,
        simulation: &Simulation,
        counters: &NetworkCounters,
        (flows, line): (&[usize], Option<usize>),
    ) {
        let has_begun = |flow: usize| simulation.topology().flows[flow].start <= simulation.now();
        let flow = |flow: usize| match quantity {
            Sampled::Reached => Some(counters.flows[flow].reached.bytes as f64),
            Sampled::Delivered => Some(counters.flows[flow].delivered as f64),
            // A flow that has not started has no window yet.
            Sampled::Window | Sampled::RoundTrip if !has_begun(flow) => None,
            Sampled::RoundTrip => simulation.view(flow).srtt.map(|srtt| srtt as f64),
            _ => simulation.view(flow).window.map(|window| window as f64),
        };
        let of_line = line.map(|line| match quantity {
            Sampled::Waited => counters.lines[line].waited as f64,
            _ => counters.lines[line].busy as f64,
        });
        let taken: Vec<Option<f64>> = match of_line {
            Some(value) => vec![Some(value)],
            None => flows.iter().map(|&it| flow(it)).collect(),
        };
        self.series.resize_with(taken.len(), Vec::new);
        for (series, value) in self.series.iter_mut().zip(taken) {
            series.extend(value);
        }
    }

    /// Increments of each series from one sample to the next.
    fn growth(&self) -> Vec<Vec<f64>> {
        let grown = |series: &Vec<f64>| series.windows(2).map(|pair| pair[1] - pair[0]).collect();
        self.series.iter().map(grown).collect()
    }
}

/// Computes a metric's value, or returns why there is none. `flows` and `line` are those that the
/// metric names; samples come with the simulated time between them.
pub(super) fn value(
    seen: &WindowData<'_>,
    metric: &Metric,
    (flows, line): (&[usize], Option<usize>),
    samples: Option<(&Samples, Time)>,
) -> Result<f64, String> {
    let (counters, scale) = (seen.counters, seen.scale as f64);
    let of_line = || line.ok_or("no link is named");
    let sampled = || samples.ok_or("`delta` is missing");
    match &metric.measure {
        Measure::Goodput { statistic, .. } => {
            let rate = |flow: &usize| counters.goodput(*flow) / scale;
            match statistic {
                None => Ok(flows.iter().map(rate).sum::<f64>() / 1e6),
                Some(statistic) => {
                    let rates: Vec<u64> = flows.iter().map(|it| rate(it) as u64).collect();
                    one_of_flows(*statistic, &rates).map(|rate| rate / 1e6)
                }
            }
        }
        Measure::Share { .. } => share(counters, flows),
        Measure::Jain { .. } => {
            let topology = seen.simulation.topology();
            let index = counters.jain(topology, flows.iter().copied());
            index.ok_or_else(|| "nothing was delivered".into())
        }
        Measure::Utilisation(Utilisation::Link(_)) => {
            Ok(counters.lines[of_line()?].utilisation() * 100.0)
        }
        Measure::Queue { longest: true, .. } => Ok(seen.longest[of_line()?] as f64 / 1e3),
        Measure::Queue { .. } => Ok(counters.lines[of_line()?].mean_queue() / 1e3),
        Measure::Drops { per, .. } => {
            let drops = counters.lines[of_line()?].drops() as f64;
            let time = seen.seconds(counters.time as f64);
            Ok(match per {
                DropsPer::RoundTrip(rtt) => drops * (rtt.picoseconds as f64 / SECOND as f64) / time,
                DropsPer::Second => drops / time,
                DropsPer::Window => drops,
            })
        }
        Measure::LossShare(LossShare::Link(_)) => lost_by_line(counters, of_line()?),
        Measure::LossShare(_) => lost_by_flows(counters, flows),
        Measure::Count(count) => seen.growth(count),
        Measure::Cov { of, .. } => {
            let (samples, _) = sampled()?;
            cov(&samples.growth(), *of)
        }
        Measure::Completion { statistic, .. } => completion(seen, *statistic, flows),
        Measure::Settling { of, within, .. } => {
            let (samples, every) = sampled()?;
            let series = match of {
                SettlingQuantity::Window(_) => samples.series.clone(),
                _ => samples.growth(),
            };
            let steps = settling(&series, *within)?;
            Ok(seen.seconds(steps as f64 * every as f64))
        }
        Measure::Window(state) => {
            let quantity = (Sampled::Window, state);
            instant(seen, quantity, flows, samples).map(|bytes| bytes / 1e3)
        }
        Measure::RoundTrip(state) => {
            let quantity = (Sampled::RoundTrip, state);
            instant(seen, quantity, flows, samples).map(|time| seen.seconds(time) * 1e3)
        }
        _ => Err("a network has no such quantity".into()),
    }
}

impl WindowData<'_> {
    /// Converts a simulated time to seconds of the network's file.
    fn seconds(&self, time: f64) -> f64 {
        time * self.scale as f64 / SECOND as f64
    }

    fn growth(&self, count: &CounterGrowth) -> Result<f64, String> {
        let results = self.results.ok_or("there are no results")?;
        let mut sum = 0.0;
        for path in &count.of {
            sum += growth(self.counted, results, path)?;
        }
        let time = self.seconds(self.counters.time as f64);
        Ok(if count.per.is_some() { sum / time } else { sum })
    }
}

fn one_of_flows(statistic: Statistic, values: &[u64]) -> Result<f64, String> {
    let value = statistic.of(values);
    value.ok_or_else(|| "there is no flow".into())
}

/// The percentage of all delivered data that belongs to some flows.
fn share(counters: &NetworkCounters, flows: &[usize]) -> Result<f64, String> {
    let all: u64 = counters.flows.iter().map(|flow| flow.delivered).sum();
    let part: u64 = flows
        .iter()
        .map(|&flow| counters.flows[flow].delivered)
        .sum();
    if all == 0 {
        return Err("nothing was delivered".into());
    }
    Ok(part as f64 * 100.0 / all as f64)
}

fn lost_by_line(counters: &NetworkCounters, line: usize) -> Result<f64, String> {
    let line = &counters.lines[line];
    let gone = line.drops() + line.lost.packets;
    if line.offered.packets == 0 {
        return Err("nothing came to the line".into());
    }
    Ok(gone as f64 * 100.0 / line.offered.packets as f64)
}

fn lost_by_flows(counters: &NetworkCounters, flows: &[usize]) -> Result<f64, String> {
    let sent: u64 = flows
        .iter()
        .map(|&it| counters.flows[it].sent.packets)
        .sum();
    let gone: u64 = flows
        .iter()
        .map(|&it| counters.flows[it].gone.packets)
        .sum();
    if sent == 0 {
        return Err("nothing was sent".into());
    }
    Ok(gone as f64 * 100.0 / sent as f64)
}

/// State of the senders, at the window's end or as sampled.
fn instant(
    seen: &WindowData<'_>,
    (quantity, state): (Sampled, &SenderState),
    flows: &[usize],
    samples: Option<(&Samples, Time)>,
) -> Result<f64, String> {
    let mut now = Samples::default();
    let samples = if let Some((samples, _)) = samples {
        samples
    } else {
        now.take(quantity, seen.simulation, seen.counters, (flows, None));
        &now
    };
    let values: Vec<u64> = { samples.series.iter().flatten() }
        .map(|&value| value as u64)
        .collect();
    let value = state.statistic.of(&values);
    value.ok_or_else(|| "no flow reports that".into())
}

fn completion(seen: &WindowData<'_>, statistic: Statistic, flows: &[usize]) -> Result<f64, String> {
    let topology = seen.simulation.topology();
    let mut times = Vec::new();
    for &flow in flows {
        let Some(at) = seen.counters.flows[flow].sender.completed_at else {
            return Err(format!(
                "`{}` was not done when the window ended",
                topology.flows[flow].name
            ));
        };
        times.push(at.saturating_sub(topology.flows[flow].start));
    }
    one_of_flows(statistic, &times).map(|time| seen.seconds(time))
}

/// The coefficient of variation: averaged over the series, or of their sum.
fn cov(series: &[Vec<f64>], of: Variation) -> Result<f64, String> {
    let one = |values: &[f64]| {
        if values.len() < 2 {
            return Err("the window is shorter than two `delta`".to_owned());
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if mean == 0.0 {
            return Err("a flow delivered nothing".to_owned());
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Ok((squares / count).sqrt() / mean)
    };
    match of {
        Variation::Sum => {
            let length = series.iter().map(Vec::len).min().unwrap_or(0);
            let sum = |at: usize| series.iter().map(|values| values[at]).sum();
            one(&(0..length).map(sum).collect::<Vec<f64>>())
        }
        Variation::Flow => {
            let each = series.iter().map(|values| one(values));
            let each = each.collect::<Result<Vec<f64>, _>>()?;
            Ok(each.iter().sum::<f64>() / each.len().max(1) as f64)
        }
    }
}

/// The number of samples after which all series stay near their means over the last quarter.
fn settling(series: &[Vec<f64>], within: f64) -> Result<usize, String> {
    let mut last = 0;
    for values in series {
        if values.len() < MIN_TO_SETTLE {
            return Err(format!(
                "the window is shorter than {MIN_TO_SETTLE} `delta`"
            ));
        }
        let end = &values[values.len() - values.len() / 4..];
        let mean = end.iter().sum::<f64>() / end.len() as f64;
        let off = |value: &f64| (value - mean).abs() > within * mean.abs();
        if end.iter().any(off) {
            return Err("it had not settled when the window ended".into());
        }
        let after = values.iter().rposition(off).map_or(0, |at| at + 1);
        last = last.max(after);
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::{Variation, cov, settling};

    #[test]
    fn variation_is_per_flow_or_of_the_sum() {
        let apart = [vec![1.0, 3.0, 1.0, 3.0], vec![3.0, 1.0, 3.0, 1.0]];
        assert_eq!(cov(&apart, Variation::Flow), Ok(0.5));
        assert_eq!(cov(&apart, Variation::Sum), Ok(0.0));
        assert!(cov(&[vec![1.0]], Variation::Flow).is_err());
        assert!(cov(&[vec![0.0, 0.0]], Variation::Flow).is_err());
    }

    #[test]
    fn settled_series_stays_near_its_end() {
        let mut rising: Vec<f64> = (0..10).map(f64::from).collect();
        rising.extend([10.0; 20]);
        assert_eq!(settling(std::slice::from_ref(&rising), 0.1), Ok(9));
        assert_eq!(settling(std::slice::from_ref(&rising), 0.5), Ok(5));
        // The slowest series counts.
        assert_eq!(settling(&[vec![10.0; 30], rising.clone()], 0.1), Ok(9));
        rising.extend([5.0, 15.0]);
        assert!(settling(&[rising], 0.1).is_err());
        assert!(settling(&[vec![1.0; 3]], 0.1).is_err());
    }
}
