//! Conversion from the times and rates of a run to those of its file.

use npsim_transport::time::{SECOND, Time};

/// Undoes the scale, which it holds.
#[derive(Debug, Clone, Copy)]
pub struct Unscaled(pub u64);

impl Unscaled {
    /// Returns a time in seconds of the file.
    pub fn seconds(self, time: Time) -> f64 {
        time as f64 * self.0 as f64 / SECOND as f64
    }

    /// Returns a rate of the file.
    pub fn rate(self, rate: f64) -> f64 {
        rate / self.0 as f64
    }
}
