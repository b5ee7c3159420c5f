//! Occupancy of a line by frames, in picoseconds.

use crate::ethernet::{busy_bytes, line_bytes};
use crate::recording::SECOND_PS;

/// Returns when the last bit of the FCS arrives, for a frame of `bytes` (without FCS) whose first
/// preamble bit arrives at `start_ps`, rounded down.
#[must_use]
pub fn line_end_ps(start_ps: u128, bytes: usize, bits_per_second: u64) -> u128 {
    start_ps + bits(busy_bytes(bytes)) / u128::from(bits_per_second.max(1))
}

/// Returns when the next frame may begin after it, rounded up.
#[must_use]
pub fn line_free_ps(start_ps: u128, bytes: usize, bits_per_second: u64) -> u128 {
    start_ps + bits(line_bytes(bytes)).div_ceil(u128::from(bits_per_second.max(1)))
}

/// Returns bits scaled by the picoseconds of a second.
fn bits(bytes: u64) -> u128 {
    u128::from(bytes * 8) * SECOND_PS
}

#[cfg(test)]
mod tests {
    use super::{line_end_ps, line_free_ps};

    #[test]
    fn frame_occupies_the_line_for_its_bits_and_the_gap() {
        assert_eq!(line_end_ps(5, 60, 1_000_000_000), 576_005);
        assert_eq!(line_free_ps(5, 60, 1_000_000_000), 672_005);
        // A bit is not a whole number of picoseconds.
        assert_eq!(line_end_ps(0, 60, 622_080_000), 925_925);
        assert_eq!(line_free_ps(0, 60, 622_080_000), 1_080_247);
    }
}
