//! Precomputed products of a multiplier: it stays the same for many operands, and a product is the
//! sum over the parts of an operand.

use std::ops::BitXor;

use super::HashWidth;

/// Bits in a part of an operand.
const PART: usize = 8;
const PARTS: usize = 1 << PART;
/// Number of parts in 64 bits.
const PLACES: usize = 64 / PART;

/// The products for each part of 64 bits of an operand.
type Rows<T> = [[T; PARTS]; PLACES];

/// A multiplier's products for every value of a part, at each place in an operand.
#[derive(Clone, Debug)]
pub(super) enum Table {
    /// For a width whose products fit into a register.
    Short(Box<Rows<u64>>),
    /// For 128 bits: the products for the lower and the upper half of an operand.
    Long([Box<Rows<u128>>; 2]),
}

impl Table {
    /// Computes the table of a multiplier. Cold, as a table is built once and used many times.
    #[cold]
    #[inline(never)]
    pub fn new(width: HashWidth, multiplier: u128) -> Self {
        let powers = powers(width, multiplier);
        if width == HashWidth::Bits128 {
            let (low, high) = powers.split_at(64);
            return Self::Long([low, high].map(|half| Box::new(rows(half))));
        }
        let short = |row: [u128; PARTS]| row.map(|product| product as u64);
        Self::Short(Box::new(rows(&powers).map(short)))
    }

    /// Replaces an operand by its product. Bits beyond the width are ignored; longwords are in
    /// order, lowest first.
    #[inline]
    pub fn hash(&self, operand: &mut [u32]) {
        match (self, operand) {
            (Self::Short(rows), [a, b]) => {
                let product = sum(rows, joined(*a, *b));
                [*a, *b] = [product as u32, (product >> 32) as u32];
            }
            (Self::Long([low, high]), [a, b, c, d]) => {
                let product = sum(low, joined(*a, *b)) ^ sum(high, joined(*c, *d));
                [*a, *b] = [product as u32, (product >> 32) as u32];
                [*c, *d] = [(product >> 64) as u32, (product >> 96) as u32];
            }
            _ => debug_assert!(false, "the operand is of another width"),
        }
    }
}

/// Joins two longwords to 64 bits of an operand.
const fn joined(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// The products of a multiplier with each power of x in an operand.
fn powers(width: HashWidth, multiplier: u128) -> Vec<u128> {
    let top = width.bits() - 1;
    let rest = (width.middle().iter()).fold(1, |rest, exponent| rest | 1 << exponent);
    let times_x = |of: &u128| {
        let over = of >> top & 1 == 1;
        Some((of & !(1 << top)) << 1 ^ if over { rest } else { 0 })
    };
    let first = multiplier & u128::MAX >> (127 - top);
    let all = std::iter::successors(Some(first), times_x);
    all.take(width.bits() as usize).collect()
}

/// The sum of the products of all parts.
#[inline]
fn sum<T: Copy + Default + BitXor<Output = T>>(rows: &Rows<T>, mut parts: u64) -> T {
    rows.iter().fold(T::default(), |sum, row| {
        let product = row[parts as usize % PARTS];
        parts >>= PART;
        sum ^ product
    })
}

/// The sums of the powers for every value of each part; places beyond the width contribute nothing.
fn rows(powers: &[u128]) -> Rows<u128> {
    std::array::from_fn(|place| {
        std::array::from_fn(|part| {
            let own = powers.iter().skip(PART * place).take(PART).enumerate();
            let taken = own.filter(|(bit, _)| part >> bit & 1 == 1);
            taken.fold(0, |sum, (_, power)| sum ^ power)
        })
    })
}
