//! The CRC unit.
//!
//! All polynomials run most significant bit first, without complements. The remainder of the short
//! ones is in the low bits of `CRC_REMAINDER` (convention; no source shows it).

use npsim_isa::{ByteOrder, CrcBytes, CrcKind};

struct Polynomial {
    width: u32,
    table: [u32; 256],
}

impl Polynomial {
    /// The table works on a remainder aligned to bit 31.
    const fn new(width: u32, polynomial: u32) -> Self {
        let aligned = polynomial << (32 - width);
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut rest = (byte as u32) << 24;
            let mut bit = 0;
            while bit < 8 {
                rest = if rest & 1 << 31 != 0 {
                    rest << 1 ^ aligned
                } else {
                    rest << 1
                };
                bit += 1;
            }
            table[byte] = rest;
            byte += 1;
        }
        Self { width, table }
    }
}

static POLYNOMIALS: [Polynomial; 5] = [
    Polynomial::new(16, 0x1021),
    Polynomial::new(32, 0x04c1_1db7),
    Polynomial::new(32, 0x1edc_6f41),
    Polynomial::new(10, 0x233),
    Polynomial::new(5, 0x05),
];

/// The options of a CRC instruction in one longword: polynomial + 1 in bits
/// 2..0 (0: none), little endian in bit 3, bit swap in bit 4, first byte in bits
/// 9..8, number of bytes in bits 14..12.
pub(crate) fn pack(order: ByteOrder, kind: CrcKind, bytes: CrcBytes, bit_swap: bool) -> u32 {
    let polynomial = match kind {
        CrcKind::None => 0,
        CrcKind::Ccitt => 1,
        CrcKind::Crc32 => 2,
        CrcKind::Iscsi => 3,
        CrcKind::Crc10 => 4,
        CrcKind::Crc5 => 5,
    };
    let (first, count) = match bytes {
        CrcBytes::All => (0, 4),
        CrcBytes::B1_3 => (1, 3),
        CrcBytes::B2_3 => (2, 2),
        CrcBytes::B3 => (3, 1),
        CrcBytes::B0_2 => (0, 3),
        CrcBytes::B0_1 => (0, 2),
        CrcBytes::B0 => (0, 1),
    };
    polynomial
        | u32::from(order == ByteOrder::Little) << 3
        | u32::from(bit_swap) << 4
        | first << 8
        | count << 12
}

/// The remainder after the selected bytes of `source`. Byte 0 is fed first: it is the most
/// significant byte in big-endian order.
pub(crate) fn update(remainder: u32, packed: u32, source: u32) -> u32 {
    let Some(polynomial) = (packed as usize & 7)
        .checked_sub(1)
        .and_then(|i| POLYNOMIALS.get(i))
    else {
        return remainder;
    };
    let bytes = if packed & 1 << 3 != 0 {
        source.to_le_bytes()
    } else {
        source.to_be_bytes()
    };
    let first = (packed >> 8 & 3) as usize;
    let count = (packed >> 12 & 7) as usize;
    let shift = 32 - polynomial.width;
    let mut rest = remainder << shift;
    for &byte in bytes.iter().skip(first).take(count) {
        let byte = if packed & 1 << 4 != 0 {
            byte.reverse_bits()
        } else {
            byte
        };
        rest = rest << 8 ^ polynomial.table[(rest >> 24) as usize ^ byte as usize];
    }
    rest >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds bytes four at a time, the last ones as part of a longword.
    fn run(kind: CrcKind, start: u32, order: ByteOrder, swap: bool, bytes: &[u8]) -> u32 {
        let mut rest = start;
        for chunk in bytes.chunks(4) {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            let word = match order {
                ByteOrder::Big => u32::from_be_bytes(word),
                ByteOrder::Little => u32::from_le_bytes(word),
            };
            let part = match chunk.len() {
                1 => CrcBytes::B0,
                2 => CrcBytes::B0_1,
                3 => CrcBytes::B0_2,
                _ => CrcBytes::All,
            };
            rest = update(rest, pack(order, kind, part, swap), word);
        }
        rest
    }

    #[test]
    fn crc_check_values_match_the_catalogue() {
        let text = b"123456789";
        let big = ByteOrder::Big;
        assert_eq!(
            run(CrcKind::Crc32, u32::MAX, big, true, text).reverse_bits() ^ u32::MAX,
            0xcbf4_3926
        );
        assert_eq!(
            run(CrcKind::Iscsi, u32::MAX, big, true, text).reverse_bits() ^ u32::MAX,
            0xe306_9283
        );
        assert_eq!(
            run(CrcKind::Crc32, u32::MAX, big, false, text) ^ u32::MAX,
            0xfc89_1918
        );
        assert_eq!(run(CrcKind::Ccitt, 0, big, false, text), 0x31c3);
        assert_eq!(run(CrcKind::Ccitt, 0xffff, big, false, text), 0x29b1);
        assert_eq!(run(CrcKind::Crc10, 0, big, false, text), 0x199);
        assert_eq!(
            run(CrcKind::Crc5, 0x1f, big, true, text).reverse_bits() >> 27 ^ 0x1f,
            0x19
        );
    }

    #[test]
    fn crc_byte_orders_agree_on_swapped_longwords() {
        let text = b"The quick brown fox";
        let big = run(CrcKind::Crc32, 1, ByteOrder::Big, false, text);
        assert_eq!(run(CrcKind::Crc32, 1, ByteOrder::Little, false, text), big);
    }

    #[test]
    fn crc_byte_ranges_select_their_bytes() {
        let one =
            |bytes, word: u32| update(5, pack(ByteOrder::Big, CrcKind::Crc32, bytes, false), word);
        assert_eq!(
            one(CrcBytes::B3, 0x1122_3344),
            one(CrcBytes::B0, 0x4400_0000)
        );
        assert_eq!(
            one(CrcBytes::B2_3, 0x1122_3344),
            one(CrcBytes::B0_1, 0x3344_0000)
        );
        assert_eq!(
            one(CrcBytes::B1_3, 0x1122_3344),
            one(CrcBytes::B0_2, 0x2233_4400)
        );
        assert_eq!(
            update(
                5,
                pack(ByteOrder::Big, CrcKind::None, CrcBytes::All, false),
                9
            ),
            5
        );
    }
}
