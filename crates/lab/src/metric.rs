//! Metrics measured at a point, with their units and definitions.

mod describe;
mod keys;
mod network;
mod statistic;

pub use network::{
    DropsPer, FlowNames, LossShare, SampleInterval, SettlingQuantity, Utilisation, Variation,
};
pub use statistic::Statistic;

use npsim_net::order::Counter;
use serde::Deserialize;

/// A metric of a study: `[metric.NAME]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "keys::Keys")]
pub struct Metric {
    /// The title in reports; the measure's own if absent.
    pub title: Option<String>,
    /// What is measured.
    pub measure: Measure,
}

/// A measured quantity with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Rate of frames that left, in Mpps.
    EgressRate,
    /// Bit rate of frames that left, in Gb/s.
    EgressBitRate {
        /// Whether the frame check sequence and the padding of short frames count.
        fcs: bool,
    },
    /// Rate of frames that arrived, in Mpps.
    OfferedRate,
    /// Rate of lost frames, in Mpps.
    LossRate {
        /// Where they were lost; everywhere if absent.
        place: Option<LossPlace>,
    },
    /// The percentage of offered frames or packets that were lost.
    LossShare(LossShare),
    /// The time from the last bit in to the last bit out, in microseconds.
    Latency(Delay),
    /// The delay that the microcode wrote into the frame, in microseconds.
    StampDelay {
        /// The statistic and the frames that count.
        delay: Delay,
        /// Its position in the frame.
        stamp: DelayStamp,
    },
    /// The percentage of cycles in which microengines executed, or of time in which a
    /// line sent.
    Utilisation(Utilisation),
    /// The growth of counters.
    Count(CounterGrowth),
    /// The growth of counters divided by the growth of others.
    Ratio(CounterRatio),
    /// Static instructions or commands of a program, counted without running it.
    Code(StaticCount),
    /// The percentage of packets that an ordering counter counts.
    Order {
        /// The counter.
        counter: Counter,
        /// The flows whose packets count.
        flows: ObservedFlows,
    },
    /// The rate of data delivered in a network, in Mb/s.
    Goodput {
        /// The flows.
        flows: FlowNames,
        /// The statistic over the rates of the flows; their sum if absent.
        statistic: Option<Statistic>,
    },
    /// The percentage of all delivered data that belongs to some flows.
    Share {
        /// The flows.
        flows: FlowNames,
    },
    /// Jain's fairness index of the data delivered per flow.
    Jain {
        /// The flows.
        flows: FlowNames,
    },
    /// Bytes queued before a line, in KB.
    Queue {
        /// The line.
        link: String,
        /// Whether to report the longest queue instead of the mean over time.
        longest: bool,
    },
    /// Packets that the queue before a line dropped.
    Drops {
        /// The line.
        link: String,
        /// The divisor of their number.
        per: DropsPer,
    },
    /// The coefficient of variation of throughput.
    Cov {
        /// The flows.
        flows: FlowNames,
        /// Whether each flow or their sum is meant.
        of: Variation,
        /// The interval over which throughput is measured.
        delta: SampleInterval,
    },
    /// The time from a flow's start until all its data is acknowledged, in seconds.
    Completion {
        /// The flows.
        flows: FlowNames,
        /// The statistic over several flows.
        statistic: Statistic,
    },
    /// The time until a quantity stays near its final value, in seconds.
    Settling {
        /// The quantity.
        of: SettlingQuantity,
        /// The sampling interval.
        delta: SampleInterval,
        /// The permitted distance from the final value, as a share of it.
        within: f64,
    },
    /// Congestion windows, in KB.
    Window(SenderState),
    /// Smoothed round-trip times, in milliseconds.
    RoundTrip(SenderState),
}

/// State of the senders of some flows, at the window's end or sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderState {
    /// The flows.
    pub flows: FlowNames,
    /// The statistic over flows and samples.
    pub statistic: Statistic,
    /// The sampling interval; if absent, one sample at the window's end.
    pub delta: Option<SampleInterval>,
}

/// Which delays are measured, and the statistic over them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// The statistic over the frames.
    pub statistic: Statistic,
    /// The frames that count; all if absent.
    pub only: Option<ByteFilter>,
}

/// The place of a delay that the microcode writes into a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayStamp {
    /// First byte, from 0.
    pub at: usize,
    /// Length in bytes, 1 to 8.
    pub bytes: usize,
    /// Microengine cycles per tick.
    pub tick: u64,
}

impl Default for DelayStamp {
    /// The Ethernet source address, in ticks of the chip's time stamp.
    fn default() -> Self {
        Self {
            at: 6,
            bytes: 6,
            tick: 16,
        }
    }
}

/// Selects frames by the value of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByteFilter {
    /// The index of the byte, from 0.
    pub byte: usize,
    /// The value that the byte must have.
    pub is: Option<u8>,
    /// A value that the byte must not have.
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
    /// In the microcode, by its counters with `drop = true`.
    Microcode,
}

/// Counters whose growth is summed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterGrowth {
    /// Paths into the `chip` object of the stats file, or into the results of a network.
    pub of: Vec<String>,
    /// The microengines that the paths start from: a stage's name, or indices.
    pub me: Option<String>,
    /// The divisor of the sum, if any.
    pub per: Option<Per>,
}

/// The growth of counters divided by that of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRatio {
    /// Paths of the dividend.
    pub of: Vec<String>,
    /// Paths of the divisor.
    pub over: Vec<String>,
    /// The microengines that the paths start from: a stage's name, or indices.
    pub me: Option<String>,
}

/// Divisors of counts.
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

/// A static count over a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticCount {
    /// What to count.
    pub of: CountedCode,
    /// The microengines that run the program; a stage's name, or indices.
    pub me: String,
    /// The label where the code begins; the first word if absent.
    pub from: Option<String>,
    /// The label before which the code ends; the last word if absent.
    pub until: Option<String>,
}

/// What to count in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedCode {
    /// Words of the control store.
    Instructions,
    /// Commands to one unit, or to all memories.
    References(Option<MemoryUnit>),
}

/// Units that receive commands.
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

/// Flows whose packet order is observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObservedFlows {
    /// All flows.
    #[default]
    All,
    /// The first flow, and its successors in the same slot.
    One,
}

impl Metric {
    /// Whether it is a growth of the chip's counters rather than derived from frames.
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

    /// Whether it can be computed without a run.
    #[must_use]
    pub(crate) const fn is_static(&self) -> bool {
        matches!(self.measure, Measure::Code(_))
    }

    /// Whether it can be measured on a chip.
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
    fn byte_filter_selects_frames() {
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
