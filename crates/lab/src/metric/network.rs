//! Parameters of network metrics: flows, lines and sampling intervals.

use std::fmt;

use npsim_project::quantity::Time;

use super::{LossPlace, Measure, Metric, SenderState};

/// Flows of a network, by their names or the names of their groups, where `*` matches any letters;
/// all flows if the list is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowNames(pub Vec<String>);

impl fmt::Display for FlowNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("all flows")
        } else {
            f.write_str(&self.0.join(", "))
        }
    }
}

/// A time that is not 0, with its text in the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleInterval {
    text: String,
    /// The same in picoseconds.
    pub picoseconds: u64,
}

impl SampleInterval {
    /// Parses an interval such as `100ms`; `None` if the text is not a time with a unit, or is 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.parse() {
            Ok(Time::Picoseconds(picoseconds)) if picoseconds > 0 => Some(Self {
                text: text.to_owned(),
                picoseconds,
            }),
            _ => None,
        }
    }
}

impl fmt::Display for SampleInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The traffic that a lost share refers to. A line is named by its link, followed by ` back` for
/// the direction from the link's second end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossShare {
    /// Everything offered to a chip or a network.
    Everywhere,
    /// Everything offered to a chip, counting losses at one place.
    At(LossPlace),
    /// Everything that arrived at a line.
    Link(String),
    /// Everything that some flows sent.
    Flows(FlowNames),
}

/// What utilisation is measured of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Utilisation {
    /// The microengines that run a program.
    Running,
    /// A stage's microengines, by its name or by indices such as `4-7`.
    Microengines(String),
    /// A line.
    Link(String),
}

/// The divisor of the number of drops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DropsPer {
    /// None: drops over the whole window.
    Window,
    /// Seconds.
    Second,
    /// Round-trip times of this length.
    RoundTrip(SampleInterval),
}

/// What the variation is computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// Each flow, averaged over the flows.
    Flow,
    /// The sum of all flows.
    Sum,
}

/// The quantity that settles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettlingQuantity {
    /// The goodput of each of these flows.
    Goodput(FlowNames),
    /// The congestion window of each of these flows.
    Window(FlowNames),
    /// The queue before a line.
    Queue(String),
    /// The utilisation of a line.
    Utilisation(String),
}

impl SettlingQuantity {
    /// The name in studies.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Goodput(_) => "goodput",
            Self::Window(_) => "window",
            Self::Queue(_) => "queue",
            Self::Utilisation(_) => "utilisation",
        }
    }
}

impl Metric {
    /// The flows that it is about; empty for all of them.
    #[must_use]
    pub(crate) fn flows(&self) -> &[String] {
        match &self.measure {
            Measure::Goodput { flows, .. }
            | Measure::Share { flows }
            | Measure::Jain { flows }
            | Measure::Cov { flows, .. }
            | Measure::Completion { flows, .. }
            | Measure::LossShare(LossShare::Flows(flows))
            | Measure::Settling {
                of: SettlingQuantity::Goodput(flows) | SettlingQuantity::Window(flows),
                ..
            }
            | Measure::Window(SenderState { flows, .. })
            | Measure::RoundTrip(SenderState { flows, .. }) => &flows.0,
            _ => &[],
        }
    }

    /// The line that it is about, if any.
    #[must_use]
    pub(crate) fn link(&self) -> Option<&str> {
        match &self.measure {
            Measure::Queue { link, .. }
            | Measure::Drops { link, .. }
            | Measure::LossShare(LossShare::Link(link))
            | Measure::Utilisation(Utilisation::Link(link))
            | Measure::Settling {
                of: SettlingQuantity::Queue(link) | SettlingQuantity::Utilisation(link),
                ..
            } => Some(link),
            _ => None,
        }
    }

    /// The sampling interval in picoseconds, if it is sampled.
    #[must_use]
    pub(crate) fn sampling_interval(&self) -> Option<u64> {
        let interval = match &self.measure {
            Measure::Cov { delta, .. } | Measure::Settling { delta, .. } => Some(delta),
            Measure::Window(state) | Measure::RoundTrip(state) => state.delta.as_ref(),
            _ => None,
        };
        interval.map(|interval| interval.picoseconds)
    }
}
