//! The Internet checksum (RFC 1071) and its incremental update (RFC 1624).
//!
//! All sums are ones' complement sums of 16-bit words in network byte order.

/// Adds the carries back until 16 bits are left.
// Everything in this file that packets of hosts pass through is inline, so that it is compiled in the calling crates:
// hosts sum every payload, and this crate is compiled without optimisation.
#[inline]
#[must_use]
pub fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Maximum number of bytes summed before carries are folded: the sum of 32,768 words fits in 32 bits.
const BLOCK: usize = 1 << 16;

/// Returns the folded sum of the 16-bit words of `bytes`; an odd last byte counts as the upper half of a word. It is
/// 0xffff over a header with a correct checksum.
#[inline]
#[must_use]
pub fn sum(bytes: &[u8]) -> u16 {
    bytes.chunks(BLOCK).fold(0, |sum, block| {
        fold(u32::from(sum) + u32::from(sum_of_block(block)))
    })
}

#[inline]
fn sum_of_block(block: &[u8]) -> u16 {
    let (words, last) = block.as_chunks::<2>();
    let last = last.first().map_or(0, |byte| u32::from(*byte) << 8);
    let words = words
        .iter()
        .map(|word| u32::from(u16::from_be_bytes(*word)));
    fold(words.sum::<u32>() + last)
}

/// Computes the checksum of an IPv4 header from scratch; the word in its checksum field (bytes 10 and 11) is ignored.
#[inline]
#[must_use]
pub fn of_ipv4(header: &[u8]) -> u16 {
    let before = sum(&header[..header.len().min(10)]);
    let after = sum(header.get(12..).unwrap_or_default());
    !fold(u32::from(before) + u32::from(after))
}

/// Returns the checksum after one word changed from `old` to `new`: equation 3 of RFC 1624.
#[must_use]
pub fn update(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u32::from(!checksum) + u32::from(!old) + u32::from(new))
}

/// Returns the checksum after the TTL was decremented: the word of TTL and protocol decreases by 0x100, so the
/// checksum increases by 0x100, with the end-around carry. The sum 0xffff stands for 0.
#[must_use]
pub fn ttl_step(checksum: u16) -> u16 {
    match fold(u32::from(checksum) + 0x100) {
        0xffff => 0,
        sum => sum,
    }
}

/// Updates the checksum field of an IPv4 header, word by word, for the bytes in which `header` differs from `before`,
/// which must have the same length.
pub fn update_ipv4(header: &mut [u8], before: &[u8]) {
    let word = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let mut checksum = word(before, 10);
    for at in (0..header.len() - 1).step_by(2).filter(|at| *at != 10) {
        let (old, new) = (word(before, at), word(header, at));
        if old != new {
            checksum = update(checksum, old, new);
        }
    }
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick_start::tests::bytes;
    use proptest::prelude::*;

    /// Identifier, old checksum, old and new word, new checksum.
    const UPDATES: [(&str, u16, u16, u16, u16); 10] = [
        ("C1", 0x9c5d, 0x4006, 0x3f06, 0x9d5d),
        ("C2", 0x9c5d, 0x4500, 0x45b8, 0x9ba5),
        ("C3", 0x9c5d, 0x1c46, 0x1c47, 0x9c5c),
        ("C4", 0x8b09, 0x0864, 0x0763, 0x8c0a),
        ("C5", 0x9c5d, 0x00c7, 0x0102, 0x9c22),
        ("C6", 0xdd2f, 0x5555, 0x3285, 0x0000),
        ("C7", 0x0000, 0x5555, 0x5555, 0x0000),
        ("C8", 0xfeff, 0x4006, 0x3f06, 0x0000),
        ("C9 first", 0x8b09, 0x4006, 0x3f06, 0x8c09),
        ("C9 second", 0x8c09, 0x0864, 0x0863, 0x8c0a),
    ];

    #[test]
    fn sum_covers_all_words() {
        for length in [0, 1, 2, 3, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 2] {
            for byte in [0, 1, 0xff] {
                let bytes = vec![byte; length];
                let words = bytes.chunks(2).map(|word| {
                    u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or(0))
                });
                // Ones' complement: modulo 0xffff, where only an empty sum is 0.
                let total: u64 = words.sum();
                let folded = total.checked_sub(1).map_or(0, |less| less % 0xffff + 1);
                assert_eq!(u64::from(sum(&bytes)), folded, "{length} bytes {byte}");
            }
        }
    }

    #[test]
    fn a_changed_word_updates_the_checksum() {
        for (name, before, old, new, after) in UPDATES {
            assert_eq!(update(before, old, new), after, "{name}");
        }
    }

    #[test]
    fn incremental_update_equals_full_recomputation() {
        let base = bytes("4500003c1c46400040069c5dc0a80001c0a800c7");
        let edge = bytes("4500002827cd40004006feff0a0000010a010002");
        for (header, at, new, expected) in [
            (&base, 8, 0x3f06_u16, 0x9d5d),
            (&base, 0, 0x45b8, 0x9ba5),
            (&base, 4, 0x1c47, 0x9c5c),
            (&base, 18, 0x0102, 0x9c22),
            (&edge, 8, 0x3f06, 0x0000),
        ] {
            assert_eq!(sum(header), 0xffff, "a right header");
            let mut changed = header.clone();
            changed[at..at + 2].copy_from_slice(&new.to_be_bytes());
            assert_eq!(of_ipv4(&changed), expected);
            update_ipv4(&mut changed, header);
            assert_eq!(changed[10..12], expected.to_be_bytes());
        }
    }

    #[test]
    fn update_is_right_where_rfc_1141_gives_negative_zero() {
        for (checksum, old, new) in [(0xdd2f, 0x5555, 0x3285), (0xfeff, 0x4006, 0x3f06)] {
            let older = fold(u32::from(checksum) + old + u32::from(!(new as u16)));
            assert_eq!(older, 0xffff);
            assert_eq!(update(checksum, old as u16, new as u16), 0);
        }
    }

    #[test]
    fn ttl_step_is_right_for_every_checksum() {
        let mut header = bytes("4500002827cd40004006feff0a0000010a010002");
        for identification in 0..=u16::MAX {
            header[8] = 64;
            header[4..6].copy_from_slice(&identification.to_be_bytes());
            let before = of_ipv4(&header);
            header[8] = 63;
            assert_eq!(ttl_step(before), of_ipv4(&header), "{identification:#06x}");
            assert_eq!(ttl_step(before), update(before, 0x4006, 0x3f06));
        }
    }

    proptest! {
        #[test]
        fn updates_preserve_header_checksum_validity(
            mut header in prop::collection::vec(any::<u8>(), 20..=60),
            at in 0_usize..30,
            new: u16,
        ) {
            header.truncate(header.len() / 4 * 4);
            header[0] = 0x40 | (header.len() / 4) as u8;
            let checksum = of_ipv4(&header);
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
            prop_assert_eq!(sum(&header), 0xffff);
            let at = at % (header.len() / 2) * 2;
            prop_assume!(at != 10 && at != 0);
            let before = header.clone();
            header[at..at + 2].copy_from_slice(&new.to_be_bytes());
            update_ipv4(&mut header, &before);
            prop_assert_eq!(&header[10..12], &of_ipv4(&header).to_be_bytes());
        }
    }
}
