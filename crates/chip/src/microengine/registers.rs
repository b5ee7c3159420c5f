//! The flat register file and who owns transfer registers at the moment.

use crate::quiescence::bits;
use npsim_isa::{Bank, CommandOp, Operand};
use serde::{Deserialize, Serialize};

use super::template::Moved;
use crate::Cycle;
use crate::kernel::exposure::Exposure;
use crate::kernel::fabric::TransferKind;

pub(super) const A: u16 = 0;
pub(super) const B: u16 = 128;
pub(super) const S_IN: u16 = 256;
pub(super) const D_IN: u16 = 384;
pub(super) const S_OUT: u16 = 512;
pub(super) const D_OUT: u16 = 640;
pub(super) const NN: u16 = 768;
/// Slots in a file of transfer registers.
const TRANSFER_FILE: usize = 128;
/// Temporaries for operands that are no plain registers.
pub(super) const TEMP_A: u16 = 896;
pub(super) const TEMP_B: u16 = 897;
pub(super) const TEMP_D: u16 = 898;
/// Where results go that nobody wants.
pub(super) const SINK: u16 = 899;
/// Constants 0-255 at their own slots, so that they are read as registers are.
pub(super) const CONSTANT: u16 = 1024;
/// `KEEP + m`: the longword mask of the bytes that byte enables `m` leave alone.
pub(super) const KEEP: u16 = 1280;
/// Slots in the file; a power of two so that an index is masked, not checked.
pub(super) const SLOTS: usize = 2048;
/// Marks a slot as relative to the running context.
pub(super) const RELATIVE: u16 = 0x8000;

/// A file with its constants in place.
pub(super) fn new_file() -> [u32; SLOTS] {
    let mut file = [0; SLOTS];
    for k in 0..256 {
        file[CONSTANT as usize + k] = k as u32;
    }
    for mask in 0..16_u32 {
        file[KEEP as usize + mask as usize] = !byte_mask(mask as u8);
    }
    file
}

/// For `#[serde(with)]` of a file: its constants are the same in every one.
pub(super) mod saved_file {
    use super::{CONSTANT, SLOTS, new_file};
    use crate::quiescence::stamp::registers;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    const WRITTEN: usize = CONSTANT as usize;

    #[derive(Serialize, Deserialize)]
    struct Written(#[serde(with = "serde_big_array::BigArray")] [u32; WRITTEN]);

    pub fn serialize<S: Serializer>(file: &[u32; SLOTS], to: S) -> Result<S::Ok, S::Error> {
        let mut written = Written([0; WRITTEN]);
        written.0.copy_from_slice(&file[..WRITTEN]);
        registers::serialize(&written, to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u32; SLOTS], D::Error> {
        let written: Written = registers::deserialize(from)?;
        let mut file = new_file();
        file[..WRITTEN].copy_from_slice(&written.0);
        Ok(file)
    }
}

/// For `#[serde(with)]` of claims by their first slot: those that there are.
mod saved_claims {
    use super::{Claim, NN, PLACES, Places};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub fn serialize<S: Serializer>(places: &Places, to: S) -> Result<S::Ok, S::Error> {
        let claims: Vec<&Claim> = places.iter().filter(|claim| claim.words != 0).collect();
        claims.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Places, D::Error> {
        let mut places = [Claim::NONE; PLACES];
        for claim in Vec::<Claim>::deserialize(from)? {
            if claim.first >= NN {
                return Err(de::Error::custom("a claim of no transfer register"));
            }
            places[usize::from(claim.first)] = claim;
        }
        Ok(places)
    }
}

/// The longword mask of four byte enables, bit 3 the most significant byte.
pub(super) fn byte_mask(enables: u8) -> u32 {
    (0..4)
        .filter(|byte| enables & 1 << byte != 0)
        .map(|byte| 0xff << (8 * byte))
        .sum()
}

/// The flat base of the file that units push to or pull from.
pub(super) const fn transfer_file(kind: TransferKind, incoming: bool) -> u16 {
    match (kind, incoming) {
        (TransferKind::S, true) => S_IN,
        (TransferKind::D, true) => D_IN,
        (TransferKind::S, false) => S_OUT,
        (TransferKind::D, false) => D_OUT,
    }
}

/// The slot that an operand reads; `limit` is the number of context-relative
/// registers. `None` for operands that are no plain registers.
pub(super) fn source_slot(operand: Operand, limit: u8) -> Option<u16> {
    let relative = |file: u16, n: u8| RELATIVE | (file + u16::from(n % limit));
    Some(match operand {
        Operand::None => CONSTANT,
        Operand::Gpr(Bank::A, n) => relative(A, n),
        Operand::Gpr(Bank::B, n) => relative(B, n),
        Operand::GprAbsolute(Bank::A, n) => A + u16::from(n & 127),
        Operand::GprAbsolute(Bank::B, n) => B + u16::from(n & 127),
        Operand::STransfer(n) => relative(S_IN, n),
        Operand::DTransfer(n) => relative(D_IN, n),
        Operand::Nn(n) => relative(NN, n),
        Operand::Constant(k) => CONSTANT + u16::from(k),
        _ => return None,
    })
}

/// The slot that an operand writes.
pub(super) fn destination_slot(operand: Operand, limit: u8) -> Option<u16> {
    let relative = |file: u16, n: u8| RELATIVE | (file + u16::from(n % limit));
    match operand {
        Operand::None => Some(SINK),
        Operand::STransfer(n) => Some(relative(S_OUT, n)),
        Operand::DTransfer(n) => Some(relative(D_OUT, n)),
        Operand::Nn(_) | Operand::Constant(_) => None,
        _ => source_slot(operand, limit),
    }
}

/// A slot with the context's base applied.
#[inline]
pub(super) const fn resolve(slot: u16, base: u16) -> usize {
    let relative = (slot as i16 >> 15) as u16;
    ((slot & !RELATIVE) + (base & relative)) as usize & (SLOTS - 1)
}

/// Which slots have ever been written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Initialised(#[serde(with = "bits")] [u64; SLOTS / 64]);

impl Initialised {
    pub fn new() -> Self {
        let mut bits = [0; SLOTS / 64];
        bits[NN as usize / 64..].fill(u64::MAX);
        Self(bits)
    }

    pub fn mark(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub fn has(&self, slot: usize) -> bool {
        self.0[slot / 64] & 1 << (slot % 64) != 0
    }

    /// Whether all of some neighbouring slots have been written.
    #[inline]
    pub fn has_here(&self, slots: Here) -> bool {
        !self.0[slots.word()] & slots.bits == 0
    }

    /// Marks some neighbouring slots.
    #[inline]
    pub fn mark_here(&mut self, slots: Here) {
        self.0[slots.word()] |= slots.bits;
    }
}

/// Transfer registers that a unit owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// First slot.
    pub first: u16,
    pub words: u8,
    /// The command that moves them, or that put their thread on a receive freelist; `None` where
    /// another microengine did that.
    pub op: Option<CommandOp>,
    /// Who issued the command, where and when; all 0 without one.
    pub context: u8,
    pub pc: u16,
    pub issued: Cycle,
}

impl Claim {
    /// What a command claims that a context has issued: so many slots from the first on.
    #[inline]
    pub fn new(
        op: CommandOp,
        (first, words): (u16, u8),
        (context, pc): (u8, u16),
        issued: Cycle,
    ) -> Self {
        Self {
            first,
            words,
            op: Some(op),
            context,
            pc,
            issued,
        }
    }

    /// What stands where there is none.
    const NONE: Self = Self {
        first: 0,
        words: 0,
        op: None,
        context: 0,
        pc: 0,
        issued: 0,
    };

    pub fn covers(&self, slot: usize) -> bool {
        let (first, words) = (usize::from(self.first), usize::from(self.words));
        let place = slot.wrapping_sub(first) % TRANSFER_FILE;
        slot / TRANSFER_FILE == first / TRANSFER_FILE && place < words
    }

    #[inline]
    fn bits(&self) -> Bits {
        Bits::new(self.first, self.words)
    }

    #[inline]
    fn here(&self) -> Option<Here> {
        Here::new(self.first, self.words)
    }
}

/// Neighbouring slots as bits of one word, which those of nearly all commands are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    word: u16,
    bits: u64,
}

impl Here {
    /// No slots.
    pub const NONE: Self = Self { word: 0, bits: 0 };

    /// One slot.
    #[inline]
    pub const fn one(slot: u16) -> Self {
        Self {
            word: slot / 64,
            bits: 1 << (slot % 64),
        }
    }

    /// Up to 63 slots; `None` where they are bits of two words, or wrap in their file.
    #[inline]
    pub fn new(first: u16, words: u8) -> Option<Self> {
        let shift = usize::from(first) % 64;
        (shift + usize::from(words) <= 64).then(|| Self {
            word: first / 64,
            bits: ((1 << (words & 63)) - 1) << shift,
        })
    }

    #[inline]
    fn word(self) -> usize {
        usize::from(self.word) % (SLOTS / 64)
    }
}

/// Up to 63 neighbouring slots of a file of transfer registers, which begins anew behind its
/// end, as bits of its two words.
#[derive(Clone, Copy, Debug)]
struct Bits {
    word: usize,
    low: u64,
    high: u64,
}

impl Bits {
    #[inline]
    fn new(first: u16, words: u8) -> Self {
        let bits = (1 << (words & 63)) - 1_u64;
        let shift = first % 64;
        Self {
            word: usize::from(first / 64),
            low: bits << shift,
            high: bits >> 1 >> (63 - shift),
        }
    }

    /// The words that they concern, with their bits.
    #[inline]
    fn each(self, mut change: impl FnMut(usize, u64)) {
        change(self.word, self.low);
        if self.high != 0 {
            change(self.word ^ 1, self.high);
        }
    }
}

/// Whether a transfer register's file is among those that are exposed.
const fn exposes(exposed: Exposure, slot: u16) -> bool {
    if slot < S_OUT {
        exposed.incoming
    } else {
        exposed.outgoing
    }
}

/// A place for each transfer register, a power of two so that a slot is masked, not checked.
const PLACES: usize = 1024;

const _: () = assert!(PLACES >= NN as usize);

/// Claims by their first slot; of no words where there is none.
type Places = [Claim; PLACES];

/// All claims of a microengine, and one bit a slot to ask quickly.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Claims {
    /// No two of them have a slot in common.
    #[serde(with = "saved_claims")]
    places: Places,
    /// Claims that had slots in common with another when they came, oldest first: what two
    /// commands take from the same registers, or, where a check is allowed, put into them.
    shared: Vec<Claim>,
    /// Files that count as owned all the time, since others may change or read them at any.
    exposed: Exposure,
    /// Claims in these files, oldest first.
    in_exposed: Vec<Claim>,
    owned: [u64; SLOTS / 64],
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            places: [Claim::NONE; PLACES],
            shared: Vec::new(),
            exposed: Exposure::default(),
            in_exposed: Vec::new(),
            owned: [0; SLOTS / 64],
        }
    }
}

impl Claims {
    #[inline]
    fn place(&mut self, first: u16) -> &mut Claim {
        &mut self.places[usize::from(first) % PLACES]
    }

    #[inline]
    pub fn add(&mut self, claim: Claim) {
        match claim.here() {
            Some(here) if !self.owns_here(here) => self.add_free(&claim, here, claim.issued),
            _ => self.add_rarely(claim),
        }
    }

    /// What a command claims that is issued at a cycle, if anything. Its slots are free.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of issuing a command.
    pub fn add_moved(&mut self, moved: &Moved, issued: Cycle) {
        if moved.claim.words != 0 {
            self.add_free(&moved.claim, moved.here, issued);
        }
    }

    /// The same of slots that are bits of one word and of which no unit owns any, for a
    /// command that is issued at a cycle.
    #[inline]
    pub fn add_free(&mut self, claim: &Claim, here: Here, issued: Cycle) {
        debug_assert!(!self.owns_here(here), "{claim:?} shares slots");
        let place = self.place(claim.first);
        // Copied whole first: field by field it takes three times as long.
        *place = *claim;
        place.issued = issued;
        self.owned[here.word()] |= here.bits;
    }

    #[cold]
    #[inline(never)]
    fn add_rarely(&mut self, claim: Claim) {
        if exposes(self.exposed, claim.first) {
            return self.in_exposed.push(claim);
        }
        if Self::any(&self.owned, &claim) {
            self.shared.push(claim);
        } else {
            *self.place(claim.first) = claim;
        }
        self.cover(&claim);
    }

    fn any(owned: &[u64], claim: &Claim) -> bool {
        let mut any = false;
        claim.bits().each(|at, bits| {
            any |= owned.get(at).is_some_and(|word| word & bits != 0);
        });
        any
    }

    #[inline]
    fn cover(&mut self, claim: &Claim) {
        claim.bits().each(|at, bits| {
            if let Some(word) = self.owned.get_mut(at) {
                *word |= bits;
            }
        });
    }

    /// Files that others reach count as owned from now on.
    pub fn expose(&mut self, exposed: Exposure) {
        self.exposed = exposed;
        for slot in (S_IN..NN)
            .step_by(64)
            .filter(|slot| exposes(exposed, *slot))
        {
            self.owned[usize::from(slot / 64)] = u64::MAX;
        }
    }

    /// Whether others reach a slot, which is a transfer register.
    pub fn exposes(&self, slot: usize) -> bool {
        exposes(self.exposed, slot as u16)
    }

    pub fn exposed(&self) -> Exposure {
        self.exposed
    }

    /// Whether a unit owns a slot, or others reach it.
    #[inline]
    pub fn owns(&self, slot: u16) -> bool {
        let word = self.owned[usize::from(slot / 64) % (SLOTS / 64)];
        word & 1 << (slot % 64) != 0
    }

    /// Whether a unit owns one of some neighbouring slots, or others reach one.
    #[inline]
    pub fn owns_here(&self, slots: Here) -> bool {
        self.owned[slots.word()] & slots.bits != 0
    }

    /// All claims in files that are not exposed, older ones before those that share slots with them.
    fn all(&self) -> impl Iterator<Item = &Claim> {
        let places = self.places.iter().filter(|claim| claim.words != 0);
        places.chain(&self.shared)
    }

    /// The oldest claim of a slot.
    pub fn of(&self, slot: usize) -> Option<&Claim> {
        if !self.owns(slot as u16) {
            return None;
        }
        if exposes(self.exposed, slot as u16) {
            return self.in_exposed.iter().find(|claim| claim.covers(slot));
        }
        self.all().find(|claim| claim.covers(slot))
    }

    /// Whether there is a claim of so many words from a slot on, and none that shares slots
    /// with another, as it nearly always is.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of moving data.
    pub fn has_alone(&self, first: u16, words: u8) -> bool {
        self.places[usize::from(first) % PLACES].words == words && self.shared.is_empty()
    }

    /// Ends a [claim](Self::has_alone) from a slot on, of these slots.
    #[inline]
    pub fn end(&mut self, first: u16, slots: Here) {
        self.place(first).words = 0;
        self.owned[slots.word()] &= !slots.bits;
    }

    /// Ends the oldest claim of so many words from a slot on, or else the oldest that begins
    /// there.
    #[inline(never)]
    pub fn release(&mut self, first: u16, words: u8) {
        if exposes(self.exposed, first) {
            let begins = |claim: &Claim| claim.first == first;
            let exact = |claim: &Claim| begins(claim) && claim.words == words;
            let all = &mut self.in_exposed;
            if let Some(at) = { all.iter().position(exact) }.or_else(|| all.iter().position(begins))
            {
                all.remove(at);
            }
            return;
        }
        // Any of those that share slots may share them with the one that ends.
        let shares = !self.shared.is_empty();
        let alone = *self.place(first);
        let of_all = || std::iter::once(&alone).chain(&self.shared).enumerate();
        let begin = || of_all().filter(|(_, claim)| claim.first == first && claim.words != 0);
        let found = { begin().find(|(_, claim)| claim.words == words) }.or_else(|| begin().next());
        let Some((at, &ended)) = found else {
            return;
        };
        match at.checked_sub(1) {
            Some(at) => {
                self.shared.remove(at);
            }
            None => *self.place(first) = Claim::NONE,
        }
        ended.bits().each(|at, bits| {
            if let Some(word) = self.owned.get_mut(at) {
                *word &= !bits;
            }
        });
        if shares {
            self.cover_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn cover_all(&mut self) {
        let all: Vec<Claim> = self.all().copied().collect();
        for claim in &all {
            self.cover(claim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(first: u16, words: u8) -> Claim {
        Claim::new(CommandOp::SramRead, (first, words), (3, 17), 1000)
    }

    #[test]
    fn claims_that_are_there_are_saved_and_no_others() {
        let mut claims = Claims::default();
        claims.add(claim(S_IN + 5, 2));
        claims.add(claim(D_OUT + 120, 8));
        let bytes = postcard::to_allocvec(&claims).unwrap();
        assert!(bytes.len() < 100, "{} bytes", bytes.len());
        let again: Claims = postcard::from_bytes(&bytes).unwrap();
        assert!(again.all().eq(claims.all()));
        assert_eq!(again.owned, claims.owned);
        assert_eq!(
            again.of(usize::from(D_OUT) + 127),
            Some(&claim(D_OUT + 120, 8))
        );
        assert_eq!(again.of(usize::from(S_IN) + 7), None);
    }

    fn owned(claims: &Claims) -> Vec<u16> {
        (0..NN).filter(|slot| claims.owns(*slot)).collect()
    }

    #[test]
    fn a_claim_goes_on_at_the_beginning_of_its_file() {
        let mut claims = Claims::default();
        claims.add(claim(S_IN + 126, 4));
        let slots = [S_IN, S_IN + 1, S_IN + 126, S_IN + 127];
        assert_eq!(owned(&claims), slots);
        assert_eq!(
            slots.map(|slot| claims.of(slot.into()).is_some()),
            [true; 4]
        );
        assert!(claims.of(usize::from(D_IN)).is_none());
        claims.release(S_IN + 126, 4);
        assert_eq!(owned(&claims), []);
    }

    #[test]
    fn claims_that_share_slots_end_in_any_order() {
        let both = || {
            let mut claims = Claims::default();
            claims.add(claim(S_IN + 7, 4));
            claims.add(claim(S_IN + 6, 3));
            claims
        };
        let mut claims = both();
        claims.release(S_IN + 7, 4);
        assert_eq!(owned(&claims), [S_IN + 6, S_IN + 7, S_IN + 8]);
        claims.release(S_IN + 6, 3);
        assert_eq!(owned(&claims), []);
        let mut claims = both();
        claims.release(S_IN + 6, 3);
        assert_eq!(owned(&claims), [S_IN + 7, S_IN + 8, S_IN + 9, S_IN + 10]);
        claims.release(S_IN + 7, 4);
        assert_eq!(owned(&claims), []);
    }

    #[test]
    fn what_others_reach_stays_exposed_when_a_claim_ends() {
        let mut claims = Claims::default();
        claims.expose(Exposure {
            incoming: true,
            outgoing: false,
        });
        let incoming: Vec<_> = (S_IN..S_OUT).collect();
        claims.add(claim(S_IN + 3, 2));
        claims.add(claim(S_OUT + 3, 2));
        assert!(claims.of(usize::from(S_IN) + 4).is_some());
        assert!(claims.of(usize::from(S_IN) + 5).is_none());
        claims.release(S_IN + 3, 2);
        assert!(claims.of(usize::from(S_IN) + 4).is_none());
        claims.release(S_OUT + 3, 2);
        assert_eq!(owned(&claims), incoming);

        // Two that share slots, and one that goes on at the beginning of its file.
        claims.add(claim(D_IN + 126, 4));
        claims.add(claim(D_IN, 1));
        claims.add(claim(D_IN, 3));
        claims.release(D_IN, 3);
        assert_eq!(
            claims.of(usize::from(D_IN)),
            Some(&claim(D_IN + 126, 4)),
            "the oldest"
        );
        let bytes = postcard::to_allocvec(&claims).unwrap();
        let mut again: Claims = postcard::from_bytes(&bytes).unwrap();
        again.release(D_IN + 126, 4);
        assert_eq!(again.of(usize::from(D_IN)), Some(&claim(D_IN, 1)));
        assert!(again.of(usize::from(D_IN) + 1).is_none());
        assert_eq!(owned(&again), incoming);
    }

    #[test]
    fn of_claims_from_one_slot_on_the_one_of_that_length_ends() {
        for (older, younger) in [(4, 1), (1, 4)] {
            let mut claims = Claims::default();
            claims.add(claim(S_OUT, older));
            claims.add(claim(S_OUT, younger));
            claims.release(S_OUT, younger);
            let slots = S_OUT..S_OUT + u16::from(older);
            assert!(slots.eq(owned(&claims)));
            claims.release(S_OUT, older);
            assert_eq!(owned(&claims), []);
        }
    }

    #[test]
    fn a_claim_of_what_is_no_transfer_register_is_refused() {
        let saved = |first| {
            let none: [Claim; 0] = [];
            let exposed = Exposure::default();
            let parts = (
                &[claim(first, 1)][..],
                &none[..],
                exposed,
                &none[..],
                [0_u64; SLOTS / 64],
            );
            postcard::from_bytes::<Claims>(&postcard::to_allocvec(&parts).unwrap())
        };
        assert!(saved(NN - 1).is_ok());
        assert!(saved(NN).is_err());
    }

    #[test]
    fn a_file_gets_its_constants_back() {
        #[derive(Serialize, Deserialize)]
        struct Saved(#[serde(with = "saved_file")] [u32; SLOTS]);

        let mut file = new_file();
        for (slot, word) in file.iter_mut().enumerate().take(usize::from(CONSTANT)) {
            *word = slot as u32 * 77;
        }
        let bytes = postcard::to_allocvec(&Saved(file)).unwrap();
        let again: Saved = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again.0, file);
    }
}
