//! Who owns transfer registers at the moment: units, which have yet to fill or to empty them.

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use crate::registers::{D_IN, D_OUT, Here, NN, S_IN, S_OUT, SLOTS, TRANSFER_FILE};
use crate::template::Moved;
use npsim_chip::Cycle;
use npsim_chip::core::Owner;
use npsim_chip::kernel::exposure::Exposure;
use npsim_chip::kernel::fabric::TransferKind;

/// Transfer registers that a unit owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claim {
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

    /// What it tells those who look. A file has one side and one kind.
    pub fn owner(&self) -> Owner {
        let file = file_of(self.first) as u16;
        Owner {
            op: self.op,
            context: self.context,
            pc: self.pc,
            issued: self.issued,
            kind: if matches!(file, S_IN | S_OUT) {
                TransferKind::S
            } else {
                TransferKind::D
            },
            incoming: file < S_OUT,
            first: (usize::from(self.first) % TRANSFER_FILE) as u8,
            words: self.words,
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

/// A place for each transfer register, a power of two so that a slot is masked, not checked.
const PLACES: usize = 1024;

const _: () = assert!(PLACES >= NN as usize);

/// Claims by their first slot; of no words where there is none.
type Places = [Claim; PLACES];

/// All claims of a microengine, and one bit a slot to ask quickly.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// No two of them have a slot in common.
    #[serde(with = "saved_claims")]
    places: Places,
    /// Claims that had slots in common with another when they came, oldest first: what two
    /// commands take from the same registers, or, where a check is allowed, put into them.
    shared: Vec<Claim>,
    /// What others reach counts as owned all the time. The chip's programs say what that is.
    #[serde(skip)]
    exposed: Exposure,
    owned: [u64; SLOTS / 64],
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            places: [Claim::NONE; PLACES],
            shared: Vec::new(),
            exposed: Exposure::default(),
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
        for file in [S_IN, D_IN, S_OUT, D_OUT] {
            self.cover_exposed(file);
        }
    }

    pub const fn exposed(&self) -> Exposure {
        self.exposed
    }

    /// Whether others reach a transfer register.
    pub const fn exposes(&self, slot: u16) -> bool {
        if slot < S_OUT {
            self.exposed.incoming
        } else {
            self.exposed.outgoing
        }
    }

    /// Covers the file of a transfer register, if others reach it.
    fn cover_exposed(&mut self, slot: u16) {
        if self.exposes(slot) {
            let word = file_of(slot) / 64;
            self.owned[word..word + TRANSFER_FILE / 64].fill(u64::MAX);
        }
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

    /// The claims of a slot's file, older ones before those that share slots with them.
    fn beside(&self, slot: u16) -> impl Iterator<Item = &Claim> {
        let file = file_of(slot);
        // Where all counts as owned, each claim shares its slots.
        let alone = if self.exposes(slot) {
            &[]
        } else {
            &self.places[file..file + TRANSFER_FILE]
        };
        let shared = self.shared.iter();
        alone
            .iter()
            .filter(|claim| claim.words != 0)
            .chain(shared.filter(move |claim| file_of(claim.first) == file))
    }

    /// The oldest claim of a slot.
    pub fn of(&self, slot: usize) -> Option<&Claim> {
        if !self.owns(slot as u16) {
            return None;
        }
        self.beside(slot as u16).find(|claim| claim.covers(slot))
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
            self.cover_beside(first);
        }
    }

    /// Covers anew what is claimed or exposed in a slot's file.
    #[cold]
    #[inline(never)]
    fn cover_beside(&mut self, slot: u16) {
        if self.exposes(slot) {
            return self.cover_exposed(slot);
        }
        let claims: Vec<Claim> = self.beside(slot).copied().collect();
        for claim in &claims {
            self.cover(claim);
        }
    }
}

/// The first slot of a transfer register's file.
const fn file_of(slot: u16) -> usize {
    slot as usize / TRANSFER_FILE * TRANSFER_FILE
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
        assert_eq!(again.places, claims.places);
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
        again.expose(claims.exposed());
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
            let parts = (&[claim(first, 1)][..], &none[..], [0_u64; SLOTS / 64]);
            postcard::from_bytes::<Claims>(&postcard::to_allocvec(&parts).unwrap())
        };
        assert!(saved(NN - 1).is_ok());
        assert!(saved(NN).is_err());
    }
}
