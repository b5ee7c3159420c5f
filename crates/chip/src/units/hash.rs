//! The hash unit: multiplies an operand of 48, 64 or 128 bits by a programmable multiplier, as
//! polynomials over GF(2), and returns the remainder modulo a fixed generator polynomial.

mod table;

use npsim_isa::{CommandOp, cap_csr};
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::event::Event;
use crate::kernel::fabric::{CommandId, Fabric};
use crate::kernel::sideband::CsrBank;
use crate::kernel::target::{Inlet, Interleave};
use crate::kernel::unit::{HasTarget, Unit};
use crate::kernel::unit_counters::UnitCounters;
use npsim_profile::Profile;
use table::Table;

/// Operand widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashWidth {
    /// G = x^48 + x^36 + x^25 + x^10 + 1
    Bits48,
    /// G = x^64 + x^54 + x^35 + x^17 + 1
    Bits64,
    /// G = x^128 + x^98 + x^69 + x^33 + 1
    Bits128,
}

impl HashWidth {
    /// Bits of operand, multiplier and result.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits48 => 48,
            Self::Bits64 => 64,
            Self::Bits128 => 128,
        }
    }

    /// Longwords of an operand or a result.
    #[must_use]
    pub const fn words(self) -> usize {
        match self {
            Self::Bits48 | Self::Bits64 => 2,
            Self::Bits128 => 4,
        }
    }

    /// Exponents of the generator's terms between the highest and the constant.
    const fn middle(self) -> [u32; 3] {
        match self {
            Self::Bits48 => [36, 25, 10],
            Self::Bits64 => [54, 35, 17],
            Self::Bits128 => [98, 69, 33],
        }
    }

    const fn of(op: CommandOp) -> Self {
        match op {
            CommandOp::Hash48 => Self::Bits48,
            CommandOp::Hash64 => Self::Bits64,
            _ => Self::Bits128,
        }
    }
}

/// `operand * multiplier mod G` over GF(2); bits beyond the width are ignored.
#[must_use]
pub fn hash(width: HashWidth, operand: u128, multiplier: u128) -> u128 {
    match width {
        HashWidth::Bits128 => long_hash(operand, multiplier),
        _ => short_hash(width, operand as u64, multiplier as u64).into(),
    }
}

/// The hash for a width whose operands fit into a register.
fn short_hash(width: HashWidth, operand: u64, multiplier: u64) -> u64 {
    let bits = width.bits();
    let mask = u64::MAX >> (64 - bits);
    let product = product(operand & mask, multiplier & mask);
    let (mut high, mut low) = ((product >> bits) as u64, product as u64 & mask);
    // x^bits is congruent to the rest of G.
    while high != 0 {
        low ^= high;
        let mut over = 0;
        for shift in width.middle() {
            low ^= high << shift & mask;
            over ^= high >> (bits - shift);
        }
        high = over;
    }
    low
}

/// The hash for 128 bits.
fn long_hash(operand: u128, multiplier: u128) -> u128 {
    const MIDDLE: [u32; 3] = HashWidth::Bits128.middle();
    // Three products of halves suffice for all four: the product of the sums is the sum of all four
    // products.
    let halves = |of: u128| (of as u64, (of >> 64) as u64);
    let ((a, b), (c, d)) = (halves(operand), halves(multiplier));
    let (mut low, mut high) = (product(a, c), product(b, d));
    let middle = product(a ^ b, c ^ d) ^ low ^ high;
    low ^= middle << 64;
    high ^= middle >> 64;
    while high != 0 {
        low ^= high;
        let mut over = 0;
        for shift in MIDDLE {
            low ^= high << shift;
            over ^= high >> (128 - shift);
        }
        high = over;
    }
    low
}

/// The carry-less product of two 64-bit polynomials. Both are split into sets of every fourth bit,
/// the first operand after truncation to 60 bits: at most fifteen terms then meet at one place of
/// the ordinary product. Its three spare bits absorb their carries, and the lowest bit is their sum
/// over GF(2).
fn product(one: u64, other: u64) -> u128 {
    const FOURTH: u64 = u64::MAX / 15;
    const FIFTEEN: u32 = 60;
    let part = |of: u64, at: usize| of & FOURTH << at;
    let ones: [_; 4] = std::array::from_fn(|at| part(one & u64::MAX >> (64 - FIFTEEN), at));
    let others: [_; 4] = std::array::from_fn(|at| part(other, at));
    let mut all = 0;
    for place in 0..4 {
        let terms =
            (0..4).map(|at| u128::from(ones[at]) * u128::from(others[(4 + place - at) % 4]));
        let sum = terms.fold(0, |sum, term| sum ^ term);
        all ^= sum & (u128::MAX / 15) << place;
    }
    for at in FIFTEEN..64 {
        let taken = 0u64.wrapping_sub(one >> at & 1);
        all ^= u128::from(other & taken) << at;
    }
    all
}

/// The hash unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hash {
    multipliers: [u128; 3],
    /// Products of each multiplier, computed on first use. Not saved, since they follow from the
    /// multipliers.
    #[serde(skip)]
    tables: [Option<Table>; 3],
    array_free: Cycle,
    pull_lead: Cycle,
    /// Cycles in the multiplier array and in both buffers together, by width.
    times: [(Cycle, Cycle); 3],
    counters: UnitCounters,
}

impl Hash {
    /// Initial multipliers: the reset values are not documented, so the loader sets these.
    pub const DEFAULT_MULTIPLIERS: [u128; 3] = [
        0x9e37_79b9_7f4b,
        0x9e37_79b9_7f4a_7c15,
        0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835,
    ];

    /// An idle unit.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let clock = profile.bus_cycle();
        let short = 2 * profile.hash_buffer_48_64() * clock;
        let times = [
            (profile.hash_array_48() * clock, short),
            (profile.hash_array_64() * clock, short),
            (
                profile.hash_array_128() * clock,
                2 * profile.hash_buffer_128() * clock,
            ),
        ];
        // One hash_48 on an idle chip: the way there with two longwords pulled, the unit itself,
        // two longwords pushed.
        let unit = times[0].0 + times[0].1;
        let back = profile.push_lead_after_pull(profile.hash_one(), unit, 2);
        Self {
            multipliers: Self::DEFAULT_MULTIPLIERS,
            tables: Default::default(),
            array_free: 0,
            pull_lead: profile.pull_lead(back, 2),
            times,
            counters: UnitCounters::default(),
        }
    }

    /// The multiplier of a width.
    #[must_use]
    pub fn multiplier(&self, width: HashWidth) -> u128 {
        self.multipliers[width as usize]
    }

    /// Sets longword `word` (0 is the lowest) of a width's multiplier, as a write of
    /// `HASH_MULTIPLIER_48_1`, ... does. Returns false if the width has no such word.
    pub(crate) fn set_multiplier_word(
        &mut self,
        width: HashWidth,
        word: usize,
        value: u32,
    ) -> bool {
        if word >= width.words() {
            return false;
        }
        let shift = 32 * word;
        let multiplier = &mut self.multipliers[width as usize];
        *multiplier = *multiplier & !(u128::from(u32::MAX) << shift) | u128::from(value) << shift;
        *multiplier &= u128::MAX >> (128 - width.bits());
        self.tables[width as usize] = None;
        true
    }
}

impl Unit for Hash {
    type Sideband<'a> = ();

    fn inlet(profile: &Profile) -> Inlet {
        Inlet {
            channels: 1,
            depth: profile.hash_inlet_depth(),
            interleave: Interleave::None,
            shared: true,
        }
    }

    fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric) {
        self.counters.count_arrival(fabric.now);
        let command = &fabric.flight(slot).command;
        let words = HashWidth::of(command.op).words() as u8 * command.count.clamp(1, 3);
        let at = fabric.now + self.pull_lead;
        fabric.pull(slot, words, at);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let now = fabric.now;
        let flight = fabric.flight_mut(slot);
        let (op, count) = (flight.command.op, flight.command.count.clamp(1, 3));
        let width = HashWidth::of(op);
        let multiplier = self.multipliers[width as usize];
        let table =
            self.tables[width as usize].get_or_insert_with(|| Table::new(width, multiplier));
        let words = width.words();
        for operand in flight.data[..words * usize::from(count)].chunks_exact_mut(words) {
            table.hash(operand);
        }
        let (array, buffers) = self.times[width as usize];
        let start = self.array_free.max(now);
        let busy = array * Cycle::from(count);
        self.array_free = start + busy;
        self.counters.busy_otherwise += busy;
        self.counters
            .started(op, (words * usize::from(count)) as u8, start - now);
        fabric.record_service(slot, Self::FIRST, 0, start, start + busy);
        // The operands' place in the queue is free once they enter the array.
        fabric.events.post(start, Event::Turn(Self::FIRST));
        fabric.push_at(
            slot,
            (words * usize::from(count)) as u8,
            start + busy + buffers,
        );
    }

    fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, (): ()) {
        fabric.finish(slot);
    }

    fn turn(&mut self, _: u8, fabric: &mut Fabric) {
        self.counters.count_departure(fabric.now);
        fabric.release(Self::FIRST);
    }

    fn adopt_unsaved(&mut self, from: &mut Self) {
        if self.multipliers == from.multipliers {
            std::mem::swap(&mut self.tables, &mut from.tables);
        }
    }

    fn counters(&self) -> impl Iterator<Item = &UnitCounters> {
        std::iter::once(&self.counters)
    }
}

impl CsrBank for Hash {
    fn read_csr(&self, address: u16) -> Option<u32> {
        let (width, word) = multiplier_csr(address)?;
        Some((self.multiplier(width) >> (32 * word)) as u32)
    }

    fn write_csr(&mut self, address: u16, value: u32, _: &mut Fabric) -> bool {
        multiplier_csr(address)
            .is_some_and(|(width, word)| self.set_multiplier_word(width, word, value))
    }
}

/// The multiplier, and the longword of it, at an address of the CSR proxy: those of 48, 64 and 128
/// bits are consecutive.
fn multiplier_csr(address: u16) -> Option<(HashWidth, usize)> {
    let offset = match address {
        cap_csr::HASH_MULTIPLIER_48_1..=cap_csr::HASH_MULTIPLIER_128_4 => {
            address - cap_csr::HASH_MULTIPLIER_48_1
        }
        _ => return None,
    };
    Some(match usize::from(offset) / 4 {
        word @ 0..2 => (HashWidth::Bits48, word),
        word @ 2..4 => (HashWidth::Bits64, word - 2),
        word => (HashWidth::Bits128, word - 4),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Schoolbook: product bit by bit, then long division bit by bit.
    fn slow(width: HashWidth, operand: u128, multiplier: u128) -> u128 {
        let bits = width.bits() as usize;
        let mut product = [false; 256];
        for i in 0..bits {
            for j in 0..bits {
                product[i + j] ^= operand >> i & 1 == 1 && multiplier >> j & 1 == 1;
            }
        }
        let mut generator = vec![0, bits];
        generator.extend(width.middle().map(|e| e as usize));
        for top in (bits..256).rev() {
            if product[top] {
                for &exponent in &generator {
                    product[top - bits + exponent] ^= true;
                }
            }
        }
        (0..bits).fold(0, |value, bit| value | u128::from(product[bit]) << bit)
    }

    proptest! {
        #[test]
        fn hash_of_every_width_agrees_with_long_division(operand: u128, multiplier: u128) {
            for width in [HashWidth::Bits48, HashWidth::Bits64, HashWidth::Bits128] {
                let right = slow(width, operand, multiplier);
                prop_assert_eq!(hash(width, operand, multiplier), right);
                let words = |value: u128| (0..width.words()).map(move |at| (value >> (32 * at)) as u32);
                let mut product: Vec<u32> = words(operand).collect();
                Table::new(width, multiplier).hash(&mut product);
                prop_assert_eq!(product, words(right).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn multiplying_the_top_bit_by_x_reduces_by_the_generator() {
        assert_eq!(
            hash(HashWidth::Bits48, 1 << 47, 2),
            1 << 36 | 1 << 25 | 1 << 10 | 1
        );
        assert_eq!(
            hash(HashWidth::Bits64, 1 << 63, 2),
            1 << 54 | 1 << 35 | 1 << 17 | 1
        );
        assert_eq!(
            hash(HashWidth::Bits128, 1 << 127, 2),
            1 << 98 | 1 << 69 | 1 << 33 | 1
        );
        assert_eq!(
            hash(HashWidth::Bits64, 0x1234_5678_9abc_def0, 1),
            0x1234_5678_9abc_def0
        );
    }

    #[test]
    fn hash_multiplier_words_are_set_individually() {
        let mut unit = Hash::new(&Profile::load("ixp2400").unwrap());
        assert!(unit.set_multiplier_word(HashWidth::Bits48, 0, 0x1111_1111));
        assert!(unit.set_multiplier_word(HashWidth::Bits48, 1, 0x2222_3333));
        assert!(!unit.set_multiplier_word(HashWidth::Bits48, 2, 1));
        assert_eq!(
            unit.multiplier(HashWidth::Bits48),
            0x3333_1111_1111,
            "48 bits are kept"
        );
    }
}
