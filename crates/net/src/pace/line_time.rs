//! What a frame takes of its line's time.

use crate::ethernet::{GAP_BYTES, busy_bytes};

const SECOND_PS: u128 = 1_000_000_000_000;

/// A line, on which a frame begins at a whole picosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTime {
    bits_per_second: u64,
}

impl LineTime {
    /// A line of a rate, at least 1 bit/s.
    #[must_use]
    pub fn of(bits_per_second: u64) -> Self {
        Self {
            bits_per_second: bits_per_second.max(1),
        }
    }

    /// Picoseconds from the first bit of the preamble to the last bit of the FCS, rounded down, of
    /// a frame of so many bytes without FCS.
    #[must_use]
    pub fn frame(self, bytes: usize) -> u64 {
        let bits = u128::from(busy_bytes(bytes)) * 8;
        clamped(bits * SECOND_PS / u128::from(self.bits_per_second))
    }

    /// Picoseconds between two frames, rounded up.
    #[must_use]
    pub fn gap(self) -> u64 {
        let bits = u128::from(GAP_BYTES) * 8;
        clamped((bits * SECOND_PS).div_ceil(u128::from(self.bits_per_second)))
    }
}

fn clamped(picoseconds: u128) -> u64 {
    u64::try_from(picoseconds).unwrap_or(u64::MAX)
}
