//! Sequence numbers: 32 bits on the wire, which wrap, and 64-bit offsets internally.
//!
//! Offset 0 is the SYN, 1 the first byte of data; the FIN has the offset after the last byte.

/// Returns the wire number of `offset` in a stream with initial number `initial`.
pub(crate) fn to_wire(initial: u32, offset: u64) -> u32 {
    initial.wrapping_add(offset as u32)
}

/// Returns the offset with wire number `wire` that is nearest to the offset `near`; `None` if it is
/// before the beginning of the stream.
pub(crate) fn from_wire(initial: u32, near: u64, wire: u32) -> Option<u64> {
    let distance = wire.wrapping_sub(to_wire(initial, near)).cast_signed();
    near.checked_add_signed(i64::from(distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequence_numbers_before_the_start_are_rejected() {
        assert_eq!(from_wire(1_000, 5, 999), None);
        assert_eq!(from_wire(1_000, 5, 1_000), Some(0));
        assert_eq!(from_wire(u32::MAX, 0, 4), Some(5));
    }

    proptest! {
        #[test]
        fn stream_offset_round_trips_within_two_gigabytes(
            initial: u32, near in 0..1_u64 << 50, distance in -(1_i64 << 31) + 1..1_i64 << 31,
        ) {
            let Some(offset) = near.checked_add_signed(distance) else { return Ok(()) };
            prop_assert_eq!(from_wire(initial, near, to_wire(initial, offset)), Some(offset));
        }
    }
}
