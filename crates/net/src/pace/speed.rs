//! Timing of replayed frames.

use std::fmt;
use std::str::FromStr;

use super::PaceError;
use crate::Ratio;
use crate::quantity::{ratio, scaled};

/// How a capture's frames are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At the times of the capture, `speed` times as fast.
    Trace {
        /// A speed of 2 compresses a second of capture to half a second.
        speed: Ratio,
    },
    /// At the picoseconds of a [recording](crate::recording), at the ports at which the frames
    /// arrived.
    Recorded,
    /// Back to back on every port.
    Line,
    /// Evenly spaced, over all ports together.
    Rate {
        /// Frames per second over all ports.
        packets_per_second: Ratio,
    },
}

impl FromStr for Pace {
    type Err = PaceError;

    /// Parses `trace`, `recorded`, `2x`, `line`, `200pps`, `100kpps`, `4.5Mpps`, `1/3 kpps`.
    fn from_str(text: &str) -> Result<Pace, PaceError> {
        let number = |digits: &str, factor: u64| {
            ratio(digits)
                .and_then(|ratio| ratio.times(factor))
                .map_err(|source| PaceError::PaceNumber {
                    text: text.to_string(),
                    source,
                })
        };
        match text {
            "trace" => return Ok(Pace::Trace { speed: Ratio::ONE }),
            "recorded" => return Ok(Pace::Recorded),
            "line" => return Ok(Pace::Line),
            _ => {}
        }
        if let Some(digits) = text.strip_suffix('x') {
            return Ok(Pace::Trace {
                speed: number(digits, 1)?,
            });
        }
        if let Some((digits, factor)) = scaled(text, "pps") {
            return Ok(Pace::Rate {
                packets_per_second: number(digits, factor)?,
            });
        }
        Err(PaceError::UnknownPace {
            text: text.to_string(),
        })
    }
}

impl fmt::Display for Pace {
    /// Writes the form that [`Pace::from_str`] parses.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Trace { speed: Ratio::ONE } => write!(out, "trace"),
            Pace::Trace { speed } => write!(out, "{speed}x"),
            Pace::Recorded => write!(out, "recorded"),
            Pace::Line => write!(out, "line"),
            Pace::Rate { packets_per_second } => write!(out, "{packets_per_second}pps"),
        }
    }
}
