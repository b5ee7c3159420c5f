//! Overhead of a frame on Ethernet (IEEE 802.3, clauses 3 and 4), in bytes.

/// Preamble and start-of-frame delimiter, 7 + 1 bytes.
pub(crate) const PREAMBLE_BYTES: u64 = 8;
/// Frame check sequence.
pub const FCS_BYTES: u64 = 4;
/// Minimum gap between two frames, 96 bit times.
pub(crate) const GAP_BYTES: u64 = 12;
/// Shortest frame, without FCS; a sender pads shorter ones.
pub const MIN_FRAME_BYTES: u64 = 60;

/// Returns the bytes from the first of the preamble to the last of the FCS of a frame of `len` bytes without FCS.
#[must_use]
pub fn busy_bytes(len: usize) -> u64 {
    PREAMBLE_BYTES + MIN_FRAME_BYTES.max(len as u64) + FCS_BYTES
}

/// Returns the bytes of line time from the start of a frame of `len` bytes without FCS to the earliest start of
/// the next: [`busy_bytes`] and the gap.
#[must_use]
pub fn line_bytes(len: usize) -> u64 {
    busy_bytes(len) + GAP_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_occupy_84_to_1538_line_bytes() {
        assert_eq!(line_bytes(0), 84);
        assert_eq!(line_bytes(60), 84);
        assert_eq!(line_bytes(61), 85);
        assert_eq!(line_bytes(1514), 1538);
    }
}
