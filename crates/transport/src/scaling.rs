//! Times of a world that runs faster.

use npsim_protocols::time::Time;
use thiserror::Error;

/// A length of time that a scale makes zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{name} is {time} ps; divided by {scale} nothing is left of it")]
pub struct ScaleError {
    /// What the time is for.
    pub name: &'static str,
    /// The time before.
    pub time: Time,
    /// What it was to be divided by.
    pub scale: u64,
}

/// `time / scale`, rounded down. A time that is zero already stays so.
pub(crate) fn divided(name: &'static str, time: Time, scale: u64) -> Result<Time, ScaleError> {
    match time.checked_div(scale) {
        Some(divided) if divided > 0 || time == 0 => Ok(divided),
        _ => Err(ScaleError { name, time, scale }),
    }
}
