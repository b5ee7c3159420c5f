//! Counters and depths over time, sampled at regular intervals.
//!
//! Sampling changes nothing: a chip that runs in steps goes through the same
//! states as one that runs straight through. The number of samples is bounded;
//! when there are too many, neighbours are joined and the interval doubles, so
//! a series covers a run of any length in the same memory.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::gpp::boot::RingStatus;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_chip::watch::Sampler;
use npsim_inspect::stats::Stats;

use npsim_project::Project;

/// Initial interval between samples, in cycles.
const FIRST_INTERVAL: Cycle = 1000;
/// Maximum number of samples; even, since they are joined in pairs.
const KEPT: usize = 512;

/// What can pile up at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// Longwords on a scratch ring.
    Ring {
        /// The ring's number.
        number: u8,
    },
    /// Entries of a queue, or longwords of a ring, in a Q-array entry.
    Queue {
        /// SRAM channel.
        channel: u8,
        /// Q-array entry.
        entry: u8,
    },
    /// Packet buffers that are not on their free list.
    Buffers {
        /// SRAM channel of the free list.
        channel: u8,
        /// The Q-array entry.
        entry: u8,
    },
    /// RBUF elements that are not free.
    Rbuf,
    /// Closed RBUF elements that wait for a thread.
    FullList,
    /// Threads that wait for an RBUF element.
    Freelist,
    /// Valid TBUF elements.
    Tbuf,
    /// Bytes of a port's frames that are on the line or in its receive FIFO.
    ReceiveFifo {
        /// The port.
        port: u8,
    },
    /// Frames given to a port's MAC that have not left.
    Transmit {
        /// The port.
        port: u8,
    },
}

/// A place whose fill level is sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccupancyProbe {
    /// The kind of place.
    pub kind: ProbeKind,
    /// Display name.
    pub name: String,
    /// The unit of the level: `longwords`, `elements`...
    pub unit: &'static str,
    /// Maximum level, if it is bounded.
    pub capacity: Option<u64>,
    /// Level from which on it counts as full: nine tenths of its capacity, or
    /// of the level at which its status flag applies back-pressure.
    pub full_at: Option<u64>,
}

/// The levels of a place during an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// Minimum.
    pub least: u64,
    /// Maximum.
    pub most: u64,
    /// Sum over the samples.
    pub sum: u64,
    /// Number of samples.
    pub samples: u64,
    /// Number of samples in which it was full, by [`OccupancyProbe::full_at`].
    pub full: u64,
    /// Number of samples in which it was empty.
    pub empty: u64,
}

impl Fill {
    /// A single sample.
    #[must_use]
    pub fn of(found: u64, full_at: Option<u64>) -> Self {
        let full = full_at.is_some_and(|level| found >= level);
        Self {
            least: found,
            most: found,
            sum: found,
            samples: 1,
            full: u64::from(full),
            empty: u64::from(found == 0),
        }
    }

    /// Combines the samples of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        if self.samples == 0 {
            return other;
        }
        if other.samples == 0 {
            return self;
        }
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            sum: self.sum + other.sum,
            samples: self.samples + other.samples,
            full: self.full + other.full,
            empty: self.empty + other.empty,
        }
    }
}

/// The counts from the start of the run to a cycle, and the levels since the
/// previous sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The cycle.
    pub cycle: Cycle,
    /// All counters at this cycle.
    pub stats: Stats,
    /// The levels, one for each of [`Series::places`].
    pub fills: Vec<Fill>,
}

impl Sample {
    /// Frames lost so far at the media interface and in the microcode.
    #[must_use]
    pub fn dropped(&self) -> (u64, u64) {
        let media = self.stats.media.drops.iter().map(|drop| drop.frames).sum();
        let counters = self.stats.counters.iter().filter(|counter| counter.drop);
        (media, counters.map(|counter| counter.value).sum())
    }

    /// Frames that have begun to arrive, and frames that have left.
    #[must_use]
    pub fn frames(&self) -> (u64, u64) {
        let ports = self.stats.ports.iter();
        ports.fold((0, 0), |(received, sent), port| {
            (received + port.received_frames, sent + port.sent_frames)
        })
    }
}

/// The samples of a run, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    places: Vec<OccupancyProbe>,
    samples: Vec<Sample>,
    interval: Cycle,
    kept: usize,
}

impl Series {
    /// An empty series for a run of this project.
    #[must_use]
    pub fn new(project: &Project) -> Self {
        Self::with(places(project), FIRST_INTERVAL, KEPT)
    }

    /// An empty series: `interval` is the initial one in cycles, `kept` the
    /// maximum number of samples, at least 2 and rounded down to an even
    /// number.
    #[must_use]
    pub fn with(places: Vec<OccupancyProbe>, interval: Cycle, kept: usize) -> Self {
        Self {
            places,
            samples: Vec::new(),
            interval: interval.max(1),
            kept: kept.max(2) & !1,
        }
    }

    /// The places that are sampled besides the counters.
    #[must_use]
    pub fn places(&self) -> &[OccupancyProbe] {
        &self.places
    }

    /// The samples, oldest first.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Current interval between samples, in cycles.
    #[must_use]
    pub fn interval(&self) -> Cycle {
        self.interval
    }

    /// Samples the chip in its present state.
    fn take(&mut self, chip: &Chip) {
        let fills = self.places.iter().map(|place| {
            let found = found(chip, place);
            Fill::of(found, place.full_at)
        });
        let sample = Sample {
            cycle: chip.now(),
            stats: Stats::collect(chip),
            fills: fills.collect(),
        };
        self.push(sample);
    }

    /// Samples the chip at the end of a run, unless it has just been sampled.
    pub fn end(&mut self, chip: &Chip) {
        if self
            .samples
            .last()
            .is_none_or(|sample| sample.cycle < chip.now())
        {
            self.take(chip);
        }
    }

    /// Adds a sample that is later than the previous ones.
    pub fn push(&mut self, sample: Sample) {
        if self.samples.len() == self.kept {
            self.halve();
        }
        self.samples.push(sample);
    }

    fn halve(&mut self) {
        self.interval *= 2;
        let mut pairs = std::mem::take(&mut self.samples).into_iter();
        while let Some(first) = pairs.next() {
            let Some(mut second) = pairs.next() else {
                self.samples.push(first);
                break;
            };
            for (fill, earlier) in second.fills.iter_mut().zip(first.fills) {
                *fill = earlier.join(*fill);
            }
            self.samples.push(second);
        }
    }
}

/// A series samples the chip and needs no events.
impl Observer for Series {
    fn wants(&self) -> EventKinds {
        EventKinds::NONE
    }

    fn see(&mut self, _: Cycle, _: &TraceEvent) {}
}

impl Sampler for Series {
    fn due(&self) -> Cycle {
        let last = self.samples.last().map_or(0, |sample| sample.cycle);
        (last / self.interval + 1) * self.interval
    }

    fn sample(&mut self, chip: &Chip) {
        self.take(chip);
    }
}

fn found(chip: &Chip, place: &OccupancyProbe) -> u64 {
    let queue = |channel, entry| {
        chip.units()
            .sram
            .entry(channel, entry)
            .map_or(0, |entry| u64::from(entry.count()))
    };
    let (receive, transmit) = (&chip.units().msf.receive, &chip.units().msf.transmit);
    match place.kind {
        ProbeKind::Ring { number } => u64::from(chip.units().scratch.ring(number).count()),
        ProbeKind::Queue { channel, entry } => queue(channel, entry),
        ProbeKind::Buffers { channel, entry } => place
            .capacity
            .unwrap_or(0)
            .saturating_sub(queue(channel, entry)),
        ProbeKind::Rbuf => place
            .capacity
            .unwrap_or(0)
            .saturating_sub(receive.rbuf.free() as u64),
        ProbeKind::FullList => receive.rbuf.waiting() as u64,
        ProbeKind::Freelist => receive.waiters() as u64,
        ProbeKind::Tbuf => transmit.tbuf.valid() as u64,
        ProbeKind::ReceiveFifo { port } => chip
            .units()
            .msf
            .ports()
            .get(usize::from(port))
            .map_or(0, npsim_chip::units::msf::port::Port::receive_backlog),
        ProbeKind::Transmit { port } => chip
            .units()
            .msf
            .ports()
            .get(usize::from(port))
            .map_or(0, |port| port.sending() as u64),
    }
}

/// The places of a project where something can pile up: rings and queues in the
/// order of their numbers, buffers, the media interface.
fn places(project: &Project) -> Vec<OccupancyProbe> {
    let boot = &project.boot;
    let profile = &project.profile;
    let mut places = Vec::new();
    let mut add = |kind, name: String, unit, capacity| {
        places.push(OccupancyProbe {
            kind,
            name,
            unit,
            capacity,
            full_at: capacity.map(|capacity| (capacity * 9).div_ceil(10)),
        });
    };
    let element = u64::from(if boot.element_size == 0 {
        64
    } else {
        boot.element_size
    });
    for port in 0..boot.ports.len() as u8 {
        let room = u64::from(profile.receive_fifo_bytes());
        let kind = ProbeKind::ReceiveFifo { port };
        add(
            kind,
            format!("port {port} receive FIFO"),
            "bytes",
            Some(room),
        );
    }
    if !boot.ports.is_empty() {
        let rbuf = u64::from(profile.rbuf_bytes()) / element;
        add(ProbeKind::Rbuf, "RBUF".into(), "elements", Some(rbuf));
        add(
            ProbeKind::FullList,
            "RBUF, waiting for a thread".into(),
            "elements",
            Some(rbuf),
        );
        add(
            ProbeKind::Freelist,
            "threads waiting for RBUF".into(),
            "threads",
            None,
        );
    }
    for ring in &boot.rings {
        let name = project
            .name_at("scratch", ring.base)
            .unwrap_or_else(|| format!("scratch ring {}", ring.number));
        let kind = ProbeKind::Ring {
            number: ring.number,
        };
        add(kind, name, "longwords", Some(u64::from(ring.size)));
    }
    for queue in &boot.queues {
        let (channel, entry) = (queue.channel, queue.entry);
        let buffers = boot
            .buffers
            .filter(|buffers| (buffers.channel, buffers.entry) == (channel, entry));
        if let Some(buffers) = buffers {
            let kind = ProbeKind::Buffers { channel, entry };
            let count = u64::from(buffers.count);
            add(kind, "packet buffers in use".into(), "buffers", Some(count));
        } else {
            let name = project
                .name_at(&format!("sram{channel}"), queue.descriptor)
                .unwrap_or_else(|| format!("queue {entry} of sram{channel}"));
            add(ProbeKind::Queue { channel, entry }, name, "entries", None);
        }
    }
    if !boot.ports.is_empty() {
        let tbuf = u64::from(profile.tbuf_bytes()) / element;
        add(ProbeKind::Tbuf, "TBUF".into(), "elements", Some(tbuf));
    }
    for port in 0..boot.ports.len() as u8 {
        let kind = ProbeKind::Transmit { port };
        add(kind, format!("port {port} transmit"), "frames", None);
    }
    let flag = u64::from(profile.ring_full_percent());
    for place in &mut places {
        let raised = boot.rings.iter().find(|ring| {
            let kind = ProbeKind::Ring {
                number: ring.number,
            };
            ring.status == RingStatus::NearlyFull && place.kind == kind
        });
        if let Some(ring) = raised {
            place.full_at = Some((u64::from(ring.size) * flag * 9).div_ceil(1000));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use npsim_chip::watch::Sampler;

    use super::{Fill, OccupancyProbe, ProbeKind, Sample, Series};

    fn series(kept: usize) -> Series {
        let place = OccupancyProbe {
            kind: ProbeKind::Rbuf,
            name: "RBUF".into(),
            unit: "elements",
            capacity: Some(10),
            full_at: Some(9),
        };
        Series::with(vec![place], 100, kept)
    }

    fn sample(cycle: u64, found: u64) -> Sample {
        Sample {
            cycle,
            fills: vec![Fill::of(found, Some(9))],
            ..Sample::default()
        }
    }

    #[test]
    fn long_run_keeps_bounded_samples_and_all_peaks() {
        let mut series = series(8);
        let mut taken = 0;
        for found in (0..100).map(|n| if n == 37 { 9 } else { n % 3 }) {
            series.push(sample(series.due(), found));
            taken += 1;
            assert!(series.samples().len() <= 8);
        }
        let all = series.samples().iter();
        let joined = all.fold(Fill::default(), |sum, sample| sum.join(sample.fills[0]));
        assert_eq!((joined.samples, joined.most, joined.least), (taken, 9, 0));
        assert_eq!(joined.full, 1);
        let cycles: Vec<_> = series.samples().iter().map(|sample| sample.cycle).collect();
        assert!(
            cycles.windows(2).all(|pair| pair[0] < pair[1]),
            "{cycles:?}"
        );
        assert!(series.interval() > 100 && series.interval().is_multiple_of(100));
    }

    #[test]
    fn samples_are_due_at_multiples_of_the_interval() {
        let mut series = series(4);
        assert_eq!(series.due(), 100);
        series.push(sample(100, 1));
        assert_eq!(series.due(), 200);
        // A run that continues from somewhere else falls back into step.
        series.push(sample(250, 1));
        assert_eq!(series.due(), 300);
    }

    #[test]
    fn full_starts_at_the_threshold_and_empty_is_zero() {
        assert_eq!(Fill::of(9, Some(9)).full, 1);
        assert_eq!(Fill::of(8, Some(9)).full, 0);
        assert_eq!(Fill::of(0, Some(9)).empty, 1);
        assert_eq!(Fill::of(9, None).full, 0);
    }
}
