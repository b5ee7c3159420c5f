//! The part of a run that is analysed.

use npsim_inspect::stats::{BusInstanceStats, BusStats, LockStats, PortStats, UnitStats};
use npsim_observe::series::{Fill, ProbeKind, Sample, Series};

/// A part of a run, with counters and fill levels.
#[derive(Clone, Debug)]
pub struct AnalysisWindow {
    /// How it was chosen.
    pub when: &'static str,
    /// The sample at its start.
    pub before: Sample,
    /// The sample at its end.
    pub after: Sample,
    /// The fill of each place during it.
    pub fills: Vec<Fill>,
}

impl AnalysisWindow {
    /// The time in which frames were lost because something was full; otherwise the
    /// time in which frames arrived; otherwise the whole run. `None` without samples.
    #[must_use]
    pub fn of(series: &Series) -> Option<Self> {
        let samples = series.samples();
        let last = samples.len().checked_sub(1)?;
        let lost: Vec<u64> = samples.iter().map(|s| congested(series, s)).collect();
        let came: Vec<u64> = samples.iter().map(|sample| sample.frames().0).collect();
        let lossy = growth(&lost);
        let arriving = growth(&came);
        let (when, (from, to)) = match (lossy, arriving) {
            // A few samples are not enough.
            (Some((from, to)), _) if to >= from + 4 => ("while frames were lost", (from, to)),
            (_, Some((from, to))) if to > from => ("while frames arrived", (from, to)),
            _ => ("over the whole run", (0, last)),
        };
        // Sample 0 is taken at the end of the first interval: at the start everything
        // is empty.
        let whole = from == 0;
        let before = if whole {
            let mut start = samples[0].clone();
            clear(&mut start);
            start
        } else {
            samples[from].clone()
        };
        let inside = &samples[if whole { 0 } else { from + 1 }..=to];
        let fills = (0..series.places().len())
            .map(|place| {
                inside
                    .iter()
                    .filter_map(|sample| sample.fills.get(place))
                    .fold(Fill::default(), |sum, fill| sum.join(*fill))
            })
            .collect();
        Some(Self {
            when,
            before,
            after: samples[to].clone(),
            fills,
        })
    }

    /// The length in cycles.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.after.cycle.saturating_sub(self.before.cycle)
    }

    /// Frames per second for a number of frames in this window.
    #[must_use]
    pub fn per_second(&self, frames: u64) -> u64 {
        let hertz = u128::from(self.after.stats.mhz) * 1_000_000;
        (u128::from(frames) * hertz / u128::from(self.cycles().max(1))) as u64
    }

    /// Frames that began to arrive in it.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.after.frames().0 - self.before.frames().0
    }

    /// Frames that left in it.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.after.frames().1 - self.before.frames().1
    }

    /// Frames whose last byte reached RBUF in it.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        let sum = |sample: &Sample| -> u64 {
            let ports = sample.stats.ports.iter();
            ports.map(|port| port.delivered_frames).sum()
        };
        sum(&self.after) - sum(&self.before)
    }

    /// Frames lost in queues kept by the microcode: those counted by drop counters
    /// with the word `QUEUE` in their names.
    #[must_use]
    pub fn lost_in_queues(&self) -> u64 {
        let sum = |sample: &Sample| -> u64 {
            let counters = sample.stats.counters.iter();
            counters
                .filter(|counter| counter.drop && counter.name.split('_').any(|w| w == "QUEUE"))
                .map(|counter| counter.value)
                .sum()
        };
        sum(&self.after) - sum(&self.before)
    }

    /// Frames that found no room in a place: those reported by the media interface,
    /// and those in the microcode's drop counters whose name contains the place's, or
    /// matches like `PROCESSING_FULL` for `PROCESSING_RING`.
    #[must_use]
    pub fn lost_at(&self, series: &Series, place: usize) -> u64 {
        lost_at(series, &self.after, place) - lost_at(series, &self.before, place)
    }
}

/// Resets a sample to cycle 0.
fn clear(sample: &mut Sample) {
    sample.cycle = 0;
    let stats = &mut sample.stats;
    for me in &mut stats.microengines {
        (me.executing, me.aborted, me.stalled, me.idle) = (0, 0, 0, 0);
        (me.instructions, me.swaps, me.commands) = (0, 0, 0);
    }
    for unit in &mut stats.units {
        *unit = UnitStats {
            name: std::mem::take(&mut unit.name),
            ..UnitStats::default()
        };
    }
    for bus in &mut stats.buses {
        *bus = BusStats {
            name: std::mem::take(&mut bus.name),
            instances: vec![BusInstanceStats::default(); bus.instances.len()],
            ..BusStats::default()
        };
    }
    for port in &mut stats.ports {
        *port = PortStats {
            port: port.port,
            bits_per_second: port.bits_per_second,
            ..Default::default()
        };
    }
    for counter in &mut stats.counters {
        counter.value = 0;
    }
    for lock in &mut stats.locks {
        *lock = LockStats {
            name: std::mem::take(&mut lock.name),
            ..LockStats::default()
        };
    }
    (stats.media.receive_bus_busy, stats.media.transmit_bus_busy) = (0, 0);
    stats.media.drops.clear();
    stats.gpp.busy = 0;
}

fn lost_at(series: &Series, sample: &Sample, place: usize) -> u64 {
    let Some(place) = series.places().get(place) else {
        return 0;
    };
    match place.kind {
        ProbeKind::ReceiveFifo { port } => sample
            .stats
            .ports
            .get(usize::from(port))
            .map_or(0, |port| port.overflow_frames),
        ProbeKind::Ring { .. } | ProbeKind::Queue { .. } => sample
            .stats
            .counters
            .iter()
            .filter(|counter| counter.drop && is_drop_counter_of(&counter.name, &place.name))
            .map(|counter| counter.value)
            .sum(),
        _ => 0,
    }
}

/// Whether a drop counter counts frames that found no room in a ring or queue.
fn is_drop_counter_of(counter: &str, place: &str) -> bool {
    let stem = ["_RING", "_QUEUE"]
        .iter()
        .find_map(|kind| place.strip_suffix(kind));
    let full = stem.and_then(|stem| counter.strip_suffix("_FULL")?.strip_suffix(stem));
    counter.contains(place) || full.is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
}

/// Frames lost up to a sample because a place was full.
fn congested(series: &Series, sample: &Sample) -> u64 {
    (0..series.places().len())
        .map(|place| lost_at(series, sample, place))
        .sum()
}

/// The last sample before a count grew and the first with its final value.
fn growth(counts: &[u64]) -> Option<(usize, usize)> {
    let last = *counts.last()?;
    let first = counts.iter().position(|&count| count > 0)?;
    let end = counts.iter().position(|&count| count == last)?;
    Some((first.saturating_sub(1), end))
}

#[cfg(test)]
mod tests {
    use super::{growth, is_drop_counter_of};

    #[test]
    fn drop_counter_matches_the_ring_it_names() {
        assert!(is_drop_counter_of("DROP_TX_RING_FULL", "TX_RING"));
        assert!(is_drop_counter_of(
            "DROP_PROCESSING_FULL",
            "PROCESSING_RING"
        ));
        assert!(!is_drop_counter_of(
            "DROP_PREPROCESSING_FULL",
            "PROCESSING_RING"
        ));
        assert!(!is_drop_counter_of(
            "DROP_SLOW_PATH_FULL",
            "PROCESSING_RING"
        ));
        assert!(!is_drop_counter_of("DROP_PROCESSING", "PROCESSING_RING"));
    }

    #[test]
    fn growth_spans_last_zero_to_first_final_value() {
        assert_eq!(growth(&[0, 0, 3, 5, 9, 9, 9]), Some((1, 4)));
        assert_eq!(growth(&[2, 2]), Some((0, 0)));
        assert_eq!(growth(&[0, 0]), None);
        assert_eq!(growth(&[]), None);
    }
}
