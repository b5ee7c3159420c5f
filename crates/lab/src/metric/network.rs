//! What measures of networks are about: flows, lines and the time between samples.

use std::fmt;

use npsim_project::quantity::Time;

use super::{LossPlace, Measure, Metric, SenderState};

/// Flows of a network, by their names or those of their groups, with `*` for any letters; all flows
/// if there is no name.
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

/// A time that is not 0, as it is written in the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleInterval {
    text: String,
    /// Picoseconds.
    pub picoseconds: u64,
}

impl SampleInterval {
    /// Reads an interval such as `100ms`; `None` if the text is no time with a unit, or 0.
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

/// Of what the lost share is taken. A line is named by its link, with ` back` behind it for the way
/// from the link's second end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossShare {
    /// Of all that a chip or a network was offered.
    Everywhere,
    /// Of what a chip was offered, lost at one place.
    At(LossPlace),
    /// Of what came to a line.
    Link(String),
    /// Of what some flows sent.
    Flows(FlowNames),
}

/// Whose utilisation is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Utilisation {
    /// Utilisation of the microengines that run a program.
    Running,
    /// Utilisation of a stage's microengines, by its name, or by indices such as `4-7`.
    Microengines(String),
    /// Utilisation of a line.
    Link(String),
}

/// What the number of drops is divided by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DropsPer {
    /// No divisor.
    Window,
    /// Seconds.
    Second,
    /// Round-trip times of this length.
    RoundTrip(SampleInterval),
}

/// Of what the variation is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// Of each flow, averaged over them.
    Flow,
    /// Of all flows together.
    Sum,
}

/// What settles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settles {
    /// The goodput of each of these flows.
    Goodput(FlowNames),
    /// The congestion window of each of these flows.
    Window(FlowNames),
    /// The queue before a line.
    Queue(String),
    /// The utilisation of a line.
    Utilisation(String),
}

impl Settles {
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
    /// The flows that it is about; no name for all of them.
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
                of: Settles::Goodput(flows) | Settles::Window(flows),
                ..
            }
            | Measure::Window(SenderState { flows, .. })
            | Measure::RoundTrip(SenderState { flows, .. }) => &flows.0,
            _ => &[],
        }
    }

    /// The line that it is about.
    #[must_use]
    pub(crate) fn link(&self) -> Option<&str> {
        match &self.measure {
            Measure::Queue { link, .. }
            | Measure::Drops { link, .. }
            | Measure::LossShare(LossShare::Link(link))
            | Measure::Utilisation(Utilisation::Link(link))
            | Measure::Settling {
                of: Settles::Queue(link) | Settles::Utilisation(link),
                ..
            } => Some(link),
            _ => None,
        }
    }

    /// Time from one sample to the next, in picoseconds, where it is sampled.
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
