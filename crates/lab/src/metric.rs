//! What is measured at a point, with its unit and definition.

mod describe;
mod keys;
mod network;
mod statistic;

pub use network::{
    DropsPer, FlowNames, LossShare, SampleInterval, Settles, Utilisation, Variation,
};
pub use statistic::Statistic;

use npsim_net::order::Counter;
use serde::Deserialize;

/// A metric of a study: `[metric.NAME]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "keys::Keys")]
pub struct Metric {
    /// The title for people; the measure's own if left out.
    pub title: Option<String>,
    /// What is measured.
    pub measure: Measure,
}

/// What is measured, with all that it needs to be measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Frames that left, in Mpps.
    EgressRate,
    /// Bits of frames that left, in Gb/s.
    EgressBitRate {
        /// Whether the check sequence and the padding of short frames count.
        fcs: bool,
    },
    /// Frames that came, in Mpps.
    OfferedRate,
    /// Frames that were lost, in Mpps.
    LossRate {
        /// Where; everywhere if absent.
        place: Option<LossPlace>,
    },
    /// The share of the offered frames or packets that was lost, in percent.
    LossShare(LossShare),
    /// From the last bit in to the last bit out, in microseconds.
    Latency(Delay),
    /// The delay that the microcode wrote into the frame, in microseconds.
    StampDelay {
        /// Which of the delays.
        delay: Delay,
        /// Where it stands in the frame.
        stamp: DelayStamp,
    },
    /// Cycles in which microengines executed, or time in which a line sent, in percent.
    Utilisation(Utilisation),
    /// The growth of counters.
    Count(CounterGrowth),
    /// The growth of counters over the growth of others.
    Ratio(CounterRatio),
    /// Instructions or commands of a program, without running it.
    Code(StaticCount),
    /// The share of the packets that a counter of their order counts, in percent.
    Order {
        /// The counter.
        counter: Counter,
        /// The flows whose packets count.
        flows: ObservedFlows,
    },
    /// Data that was delivered in a network, in Mb/s.
    Goodput {
        /// Of these flows.
        flows: FlowNames,
        /// One number for the rates of the flows; their sum if absent.
        statistic: Option<Statistic>,
    },
    /// The part of all delivered data that some flows have, in percent.
    Share {
        /// The flows.
        flows: FlowNames,
    },
    /// Jain's index of what flows delivered.
    Jain {
        /// The flows.
        flows: FlowNames,
    },
    /// Bytes that wait before a line, in KB.
    Queue {
        /// The line.
        link: String,
        /// Whether it is the longest queue, not the mean over time.
        longest: bool,
    },
    /// Packets that the queue before a line dropped.
    Drops {
        /// The line.
        link: String,
        /// What the number is divided by.
        per: DropsPer,
    },
    /// The coefficient of variation of throughput.
    Cov {
        /// Of these flows.
        flows: FlowNames,
        /// Of each flow or of their sum.
        of: Variation,
        /// Time over which throughput is taken.
        delta: SampleInterval,
    },
    /// From a flow's start until all its data was acknowledged, in seconds.
    Completion {
        /// Of these flows.
        flows: FlowNames,
        /// One number for several flows.
        statistic: Statistic,
    },
    /// How long it takes until something stays what it is, in seconds.
    Settling {
        /// What settles.
        of: Settles,
        /// Time from one sample to the next.
        delta: SampleInterval,
        /// How far from its end a value may be, as a share of it.
        within: f64,
    },
    /// Congestion windows, in KB.
    Window(SenderState),
    /// Smoothed round-trip times, in milliseconds.
    RoundTrip(SenderState),
}

/// What senders know of their flows: at the window's end, or sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderState {
    /// The flows.
    pub flows: FlowNames,
    /// One number for several flows and samples.
    pub statistic: Statistic,
    /// Time from one sample to the next; once at the window's end if absent.
    pub delta: Option<SampleInterval>,
}

/// Which delays are measured, as one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// One number for many frames.
    pub statistic: Statistic,
    /// Which frames count; all if absent.
    pub only: Option<ByteFilter>,
}

/// Where the microcode writes a delay into a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayStamp {
    /// First byte, from 0.
    pub at: usize,
    /// Length in bytes, 1 to 8.
    pub bytes: usize,
    /// Microengine cycles of a tick.
    pub tick: u64,
}

impl Default for DelayStamp {
    /// In the Ethernet source address, in ticks of the chip's time stamp.
    fn default() -> Self {
        Self {
            at: 6,
            bytes: 6,
            tick: 16,
        }
    }
}

/// Frames whose byte has, or has not, a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByteFilter {
    /// The byte, from 0.
    pub byte: usize,
    /// The byte has this value.
    pub is: Option<u8>,
    /// The byte has another value than this.
    pub not: Option<u8>,
}

impl ByteFilter {
    /// Whether a frame counts.
    #[must_use]
    pub fn accepts(&self, frame: &[u8]) -> bool {
        frame.get(self.byte).is_some_and(|&byte| {
            self.is.is_none_or(|is| byte == is) && self.not.is_none_or(|not| byte != not)
        })
    }
}

/// Where a chip loses frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossPlace {
    /// At the ports and the media interface.
    Media,
    /// By counters of the microcode with `drop = true`.
    Microcode,
}

/// Counters whose growth is summed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterGrowth {
    /// Paths into the `chip` object of the stats file, or into the results of a network.
    pub of: Vec<String>,
    /// The microengines below which the paths are; a stage's name, or indices.
    pub me: Option<String>,
    /// What the sum is divided by; nothing if absent.
    pub per: Option<Per>,
}

/// Counters over others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRatio {
    /// Paths of what is divided.
    pub of: Vec<String>,
    /// Paths of what it is divided by.
    pub over: Vec<String>,
    /// The microengines below which the paths are; a stage's name, or indices.
    pub me: Option<String>,
}

/// What counts are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Frames that left.
    Packet,
    /// Microengine cycles.
    Cycle,
    /// Seconds.
    Second,
}

/// What is counted in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticCount {
    /// What is counted.
    pub of: CountedCode,
    /// The microengines that run the program; a stage's name, or indices.
    pub me: String,
    /// The label with which the code begins; the first word if absent.
    pub from: Option<String>,
    /// The label before which it ends; the last word if absent.
    pub until: Option<String>,
}

/// What of a program is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedCode {
    /// Words of the control store.
    Instructions,
    /// Commands to one unit, or to all memories.
    References(Option<MemoryUnit>),
}

/// Units that commands go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryUnit {
    /// The scratchpad.
    Scratch,
    /// SRAM channels.
    Sram,
    /// DRAM channels.
    Dram,
    /// The hash unit.
    Hash,
    /// The media interface.
    Msf,
    /// The CSR proxy.
    Cap,
}

/// Flows whose order is observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObservedFlows {
    /// All flows.
    #[default]
    All,
    /// The first one, and those that take its place one after the other.
    One,
}

impl Metric {
    /// Whether it is the growth of what the chip counts, not seen in frames.
    #[must_use]
    pub(crate) const fn is_counted(&self) -> bool {
        matches!(
            self.measure,
            Measure::LossRate { .. }
                | Measure::LossShare(_)
                | Measure::Utilisation(_)
                | Measure::Count(_)
                | Measure::Ratio(_)
        )
    }

    /// Whether it needs no run.
    #[must_use]
    pub(crate) const fn is_static(&self) -> bool {
        matches!(self.measure, Measure::Code(_))
    }

    /// Whether it can be measured at a chip.
    #[must_use]
    pub(crate) const fn fits_chips(&self) -> bool {
        match &self.measure {
            Measure::EgressRate
            | Measure::EgressBitRate { .. }
            | Measure::OfferedRate
            | Measure::LossRate { .. }
            | Measure::LossShare(LossShare::Everywhere | LossShare::At(_))
            | Measure::Latency(_)
            | Measure::StampDelay { .. }
            | Measure::Utilisation(Utilisation::Running | Utilisation::Microengines(_))
            | Measure::Count(_)
            | Measure::Ratio(_)
            | Measure::Code(_)
            | Measure::Order { .. } => true,
            Measure::LossShare(_)
            | Measure::Utilisation(_)
            | Measure::Goodput { .. }
            | Measure::Share { .. }
            | Measure::Jain { .. }
            | Measure::Queue { .. }
            | Measure::Drops { .. }
            | Measure::Cov { .. }
            | Measure::Completion { .. }
            | Measure::Settling { .. }
            | Measure::Window(_)
            | Measure::RoundTrip(_) => false,
        }
    }

    /// Whether it can be measured in a network.
    #[must_use]
    pub(crate) fn fits_networks(&self) -> bool {
        match &self.measure {
            Measure::LossShare(share) => !matches!(share, LossShare::At(_)),
            Measure::Utilisation(of) => matches!(of, Utilisation::Link(_)),
            Measure::Count(count) => {
                count.me.is_none() && count.per.is_none_or(|per| per == Per::Second)
            }
            _ => !self.fits_chips(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteFilter, Metric};

    fn metric(text: &str) -> Metric {
        toml::from_str(text).expect(text)
    }

    #[test]
    fn only_accepts_frames_by_a_byte() {
        let frame = [0, 0x45];
        let only = |is, not| ByteFilter { byte: 1, is, not };
        assert!(only(Some(0x45), None).accepts(&frame));
        assert!(!only(None, Some(0x45)).accepts(&frame));
        assert!(only(None, Some(0x46)).accepts(&frame));
        assert!(
            !only(None, Some(0x46)).accepts(&frame[..1]),
            "the byte is not there"
        );
    }

    #[test]
    fn measures_fit_chips_or_networks_or_both() {
        for (text, chips, networks) in [
            ("measure = \"egress-rate\"", true, false),
            ("measure = \"utilisation\"", true, false),
            ("measure = \"utilisation\"\nlink = \"b\"", false, true),
            ("measure = \"loss-share\"", true, true),
            ("measure = \"loss-share\"\nplace = \"media\"", true, false),
            ("measure = \"loss-share\"\nflow = \"a\"", false, true),
            ("measure = \"count\"\nof = \"a\"", true, true),
            (
                "measure = \"count\"\nof = \"a\"\nper = \"packet\"",
                true,
                false,
            ),
            ("measure = \"jain\"", false, true),
        ] {
            let metric = metric(text);
            assert_eq!(metric.fits_chips(), chips, "{text}");
            assert_eq!(metric.fits_networks(), networks, "{text}");
        }
    }
}
