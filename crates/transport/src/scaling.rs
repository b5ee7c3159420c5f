//! Times of a simulation that runs faster.

use npsim_protocols::time::Time;
use thiserror::Error;

/// A time that scaling would reduce to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{name} is {time} ps; divided by {scale} it is 0")]
pub struct ScaleError {
    /// The purpose of the time.
    pub name: &'static str,
    /// The time before scaling.
    pub time: Time,
    /// The divisor.
    pub scale: u64,
}

/// Returns `time / scale`, rounded down. A time of zero stays zero.
pub(crate) fn divided(name: &'static str, time: Time, scale: u64) -> Result<Time, ScaleError> {
    match time.checked_div(scale) {
        Some(divided) if divided > 0 || time == 0 => Ok(divided),
        _ => Err(ScaleError { name, time, scale }),
    }
}
