//! The payload: a pattern derived from the sequence number, so that endpoints store no bytes and the
//! bytes of a segment can be checked anywhere.

/// Returns the byte at sequence number `sequence` (as on the wire).
#[must_use]
pub const fn pattern(sequence: u32) -> u8 {
    let [a, b, c, d] = sequence.to_be_bytes();
    // A simple period of 256 would not reveal a segment moved by a multiple of it.
    a.wrapping_mul(7) ^ b.wrapping_mul(5) ^ c.wrapping_mul(3) ^ d
}

/// Returns the index of the first of `bytes`, which begin at `sequence`, that differs from the
/// [`pattern`].
#[must_use]
pub fn first_difference(sequence: u32, bytes: &[u8]) -> Option<usize> {
    let differs = |(at, byte): (usize, &u8)| *byte != pattern(sequence.wrapping_add(at as u32));
    bytes.iter().enumerate().position(differs)
}

/// Appends `length` bytes of the pattern from `sequence` on.
pub(super) fn append(bytes: &mut Vec<u8>, sequence: u32, length: u16) {
    bytes.extend((0..u32::from(length)).map(|at| pattern(sequence.wrapping_add(at))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_at_a_wrong_offset_is_detected() {
        let mut bytes = Vec::new();
        append(&mut bytes, u32::MAX - 100, 1460);
        assert_eq!(first_difference(u32::MAX - 100, &bytes), None);
        for moved in [1, 256, 1460, 65_536, 256 * 65_536] {
            let found = first_difference((u32::MAX - 100).wrapping_add(moved), &bytes);
            assert!(found.is_some_and(|at| at < 300), "{moved}: {found:?}");
        }
        bytes[77] ^= 1;
        assert_eq!(first_difference(u32::MAX - 100, &bytes), Some(77));
    }
}
