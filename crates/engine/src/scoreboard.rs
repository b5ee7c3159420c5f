//! Ownership of transfer registers by units that have yet to fill or read them.

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use crate::operation::Op;
use crate::registers::{D_IN, D_OUT, NN, S_IN, S_OUT, SLOTS, SlotMask, TRANSFER_FILE};
use npsim_chip::Cycle;
use npsim_chip::core::TransferOwner;
use npsim_chip::kernel::fabric::TransferKind;
use npsim_chip::kernel::remote_access::RemoteAccess;

/// The transfer registers that a command moves in one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterRange {
    /// The reservation for the unit, without the cycle; zero words if the command moves none.
    pub reservation: Reservation,
    /// The slots of the registers, if they are bits of a single word; empty if the command moves
    /// none.
    pub here: SlotMask,
}

/// Transfer registers owned by a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reservation {
    /// First slot.
    pub first: u16,
    pub words: u8,
    /// The command that moves them, or that put their thread on a receive freelist; `None` if
    /// another microengine did that.
    pub op: Option<CommandOp>,
    /// The context that issued the command, with the instruction and cycle; all 0 without a
    /// command.
    pub context: u8,
    pub pc: u16,
    pub issued: Cycle,
}

impl Reservation {
    /// Creates the reservation of a command issued by a context, for `words` slots starting at
    /// `first`.
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

    /// The reservation as a debugger sees it. Each file has one side and one kind.
    pub fn owner(&self) -> TransferOwner {
        let file = file_of(self.first) as u16;
        TransferOwner {
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

    /// The value that stands for no reservation.
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
    fn here(&self) -> Option<SlotMask> {
        SlotMask::new(self.first, self.words)
    }
}

/// Up to 63 neighbouring slots of a file of transfer registers, wrapping around at its end, as bits
/// of its two words.
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

    /// Calls a function for each word concerned, with its bits.
    #[inline]
    fn each(self, mut change: impl FnMut(usize, u64)) {
        change(self.word, self.low);
        if self.high != 0 {
            change(self.word ^ 1, self.high);
        }
    }
}

/// One entry for each transfer register; a power of two, so that a slot is masked rather than
/// checked.
const PLACES: usize = 1024;

const _: () = assert!(PLACES >= NN as usize);

/// Reservations by their first slot; those with zero words are absent.
type ReservationMap = [Reservation; PLACES];

/// All reservations of a microengine, with one bit per slot for fast tests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scoreboard {
    /// Reservations of which no two share a slot.
    #[serde(with = "saved_reservations")]
    places: ReservationMap,
    /// Reservations that shared slots with another when they were made, oldest first: registers
    /// that two commands read, or, if a check is allowed, fill.
    shared: Vec<Reservation>,
    /// Exposed registers always count as owned. They are determined by the chip's programs.
    #[serde(skip)]
    exposed: RemoteAccess,
    owned: [u64; SLOTS / 64],
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            places: [Reservation::NONE; PLACES],
            shared: Vec::new(),
            exposed: RemoteAccess::default(),
            owned: [0; SLOTS / 64],
        }
    }
}

impl Scoreboard {
    #[inline]
    fn place(&mut self, first: u16) -> &mut Reservation {
        &mut self.places[usize::from(first) % PLACES]
    }

    #[inline]
    pub fn add(&mut self, reservation: Reservation) {
        match reservation.here() {
            Some(here) if !self.any_reserved(here) => {
                self.reserve_free(&reservation, here, reservation.issued);
            }
            _ => self.reserve_shared(reservation),
        }
    }

    /// Makes the reservation, if any, of a command issued at a cycle. Its slots must be free.
    #[inline(always)]
    pub fn reserve_range(&mut self, moved: &RegisterRange, issued: Cycle) {
        if moved.reservation.words != 0 {
            self.reserve_free(&moved.reservation, moved.here, issued);
        }
    }

    /// Reserves free slots that are bits of a single word, for a command issued at a cycle.
    #[inline]
    pub fn reserve_free(&mut self, reservation: &Reservation, here: SlotMask, issued: Cycle) {
        debug_assert!(!self.any_reserved(here), "{reservation:?} shares slots");
        let place = self.place(reservation.first);
        // Copied as a whole first: copying field by field takes three times as long.
        *place = *reservation;
        place.issued = issued;
        self.owned[here.word()] |= here.bits;
    }

    #[cold]
    #[inline(never)]
    fn reserve_shared(&mut self, reservation: Reservation) {
        if Self::any(&self.owned, &reservation) {
            self.shared.push(reservation);
        } else {
            *self.place(reservation.first) = reservation;
        }
        self.cover(&reservation);
    }

    fn any(owned: &[u64], reservation: &Reservation) -> bool {
        let mut any = false;
        reservation.bits().each(|at, bits| {
            any |= owned.get(at).is_some_and(|word| word & bits != 0);
        });
        any
    }

    #[inline]
    fn cover(&mut self, reservation: &Reservation) {
        reservation.bits().each(|at, bits| {
            if let Some(word) = self.owned.get_mut(at) {
                *word |= bits;
            }
        });
    }

    /// Sets the accesses of others, whose files count as owned from now on.
    pub fn expose(&mut self, exposed: RemoteAccess) {
        self.exposed = exposed;
        for file in [S_IN, D_IN, S_OUT, D_OUT] {
            self.cover_exposed(file);
        }
    }

    pub const fn exposed(&self) -> RemoteAccess {
        self.exposed
    }

    /// Whether others can access a transfer register.
    pub const fn exposes(&self, slot: u16) -> bool {
        if slot < S_OUT {
            self.exposed.incoming
        } else {
            self.exposed.outgoing
        }
    }

    /// Marks the file of a transfer register as owned, if others can access it.
    fn cover_exposed(&mut self, slot: u16) {
        if self.exposes(slot) {
            let word = file_of(slot) / 64;
            self.owned[word..word + TRANSFER_FILE / 64].fill(u64::MAX);
        }
    }

    /// Whether a unit owns a slot, or others can access it.
    #[inline]
    pub fn is_reserved(&self, slot: u16) -> bool {
        let word = self.owned[usize::from(slot / 64) % (SLOTS / 64)];
        word & 1 << (slot % 64) != 0
    }

    /// Whether a unit owns a register that an operation names, or others can access one.
    #[inline]
    pub fn has_any_of(&self, op: &Op) -> bool {
        self.is_reserved(op.a) || self.is_reserved(op.b) || self.is_reserved(op.d)
    }

    /// Whether a unit owns any of the given neighbouring slots, or others can access one.
    #[inline]
    pub fn any_reserved(&self, slots: SlotMask) -> bool {
        self.owned[slots.word()] & slots.bits != 0
    }

    /// The reservations in a slot's file, older ones before those that share slots with them.
    fn reservations_in_file(&self, slot: u16) -> impl Iterator<Item = &Reservation> {
        let file = file_of(slot);
        // If the whole file counts as owned, each reservation is stored as shared.
        let alone = if self.exposes(slot) {
            &[]
        } else {
            &self.places[file..file + TRANSFER_FILE]
        };
        let shared = self.shared.iter();
        alone
            .iter()
            .filter(|reservation| reservation.words != 0)
            .chain(shared.filter(move |reservation| file_of(reservation.first) == file))
    }

    /// The oldest reservation of a slot.
    pub fn of(&self, slot: usize) -> Option<&Reservation> {
        if !self.is_reserved(slot as u16) {
            return None;
        }
        self.reservations_in_file(slot as u16)
            .find(|reservation| reservation.covers(slot))
    }

    /// Whether there is a reservation of this length starting at a slot, and no reservation shares
    /// slots, as is nearly always the case.
    #[inline(always)]
    pub fn has_alone(&self, first: u16, words: u8) -> bool {
        self.places[usize::from(first) % PLACES].words == words && self.shared.is_empty()
    }

    /// Ends a [reservation](Self::has_alone) starting at a slot, with these slots.
    #[inline]
    pub fn end(&mut self, first: u16, slots: SlotMask) {
        self.place(first).words = 0;
        self.owned[slots.word()] &= !slots.bits;
    }

    /// Ends the oldest reservation of this length starting at a slot, or else the oldest that
    /// starts there.
    #[inline(never)]
    pub fn release(&mut self, first: u16, words: u8) {
        // Any of the shared reservations may share slots with the one that ends.
        let shares = !self.shared.is_empty();
        let alone = *self.place(first);
        let of_all = || std::iter::once(&alone).chain(&self.shared).enumerate();
        let begin = || {
            of_all().filter(|(_, reservation)| reservation.first == first && reservation.words != 0)
        };
        let found = { begin().find(|(_, reservation)| reservation.words == words) }
            .or_else(|| begin().next());
        let Some((at, &ended)) = found else {
            return;
        };
        match at.checked_sub(1) {
            Some(at) => {
                self.shared.remove(at);
            }
            None => *self.place(first) = Reservation::NONE,
        }
        ended.bits().each(|at, bits| {
            if let Some(word) = self.owned.get_mut(at) {
                *word &= !bits;
            }
        });
        if shares {
            self.cover_file(first);
        }
    }

    /// Marks again everything that is reserved or exposed in a slot's file.
    #[cold]
    #[inline(never)]
    fn cover_file(&mut self, slot: u16) {
        if self.exposes(slot) {
            return self.cover_exposed(slot);
        }
        let scoreboard: Vec<Reservation> = self.reservations_in_file(slot).copied().collect();
        for reservation in &scoreboard {
            self.cover(reservation);
        }
    }
}

/// The first slot of a transfer register's file.
const fn file_of(slot: u16) -> usize {
    slot as usize / TRANSFER_FILE * TRANSFER_FILE
}

/// For `#[serde(with)]` of reservations by their first slot: stores the existing ones.
mod saved_reservations {
    use super::{NN, PLACES, Reservation, ReservationMap};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub fn serialize<S: Serializer>(places: &ReservationMap, to: S) -> Result<S::Ok, S::Error> {
        let scoreboard: Vec<&Reservation> = places
            .iter()
            .filter(|reservation| reservation.words != 0)
            .collect();
        scoreboard.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ReservationMap, D::Error> {
        let mut places = [Reservation::NONE; PLACES];
        for reservation in Vec::<Reservation>::deserialize(from)? {
            if reservation.first >= NN {
                return Err(de::Error::custom("a claim of no transfer register"));
            }
            places[usize::from(reservation.first)] = reservation;
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reservation(first: u16, words: u8) -> Reservation {
        Reservation::new(CommandOp::SramRead, (first, words), (3, 17), 1000)
    }

    #[test]
    fn saved_scoreboard_contains_only_reservations() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.add(reservation(S_IN + 5, 2));
        scoreboard.add(reservation(D_OUT + 120, 8));
        let bytes = postcard::to_allocvec(&scoreboard).unwrap();
        assert!(bytes.len() < 100, "{} bytes", bytes.len());
        let again: Scoreboard = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again.places, scoreboard.places);
        assert_eq!(again.owned, scoreboard.owned);
        assert_eq!(
            again.of(usize::from(D_OUT) + 127),
            Some(&reservation(D_OUT + 120, 8))
        );
        assert_eq!(again.of(usize::from(S_IN) + 7), None);
    }

    fn owned(scoreboard: &Scoreboard) -> Vec<u16> {
        (0..NN)
            .filter(|slot| scoreboard.is_reserved(*slot))
            .collect()
    }

    #[test]
    fn reservation_wraps_at_the_end_of_its_file() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.add(reservation(S_IN + 126, 4));
        let slots = [S_IN, S_IN + 1, S_IN + 126, S_IN + 127];
        assert_eq!(owned(&scoreboard), slots);
        assert_eq!(
            slots.map(|slot| scoreboard.of(slot.into()).is_some()),
            [true; 4]
        );
        assert!(scoreboard.of(usize::from(D_IN)).is_none());
        scoreboard.release(S_IN + 126, 4);
        assert_eq!(owned(&scoreboard), []);
    }

    #[test]
    fn overlapping_reservations_end_in_any_order() {
        let both = || {
            let mut scoreboard = Scoreboard::default();
            scoreboard.add(reservation(S_IN + 7, 4));
            scoreboard.add(reservation(S_IN + 6, 3));
            scoreboard
        };
        let mut scoreboard = both();
        scoreboard.release(S_IN + 7, 4);
        assert_eq!(owned(&scoreboard), [S_IN + 6, S_IN + 7, S_IN + 8]);
        scoreboard.release(S_IN + 6, 3);
        assert_eq!(owned(&scoreboard), []);
        let mut scoreboard = both();
        scoreboard.release(S_IN + 6, 3);
        assert_eq!(
            owned(&scoreboard),
            [S_IN + 7, S_IN + 8, S_IN + 9, S_IN + 10]
        );
        scoreboard.release(S_IN + 7, 4);
        assert_eq!(owned(&scoreboard), []);
    }

    #[test]
    fn exposed_slots_stay_reserved_when_a_reservation_ends() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.expose(RemoteAccess {
            incoming: true,
            outgoing: false,
        });
        let incoming: Vec<_> = (S_IN..S_OUT).collect();
        scoreboard.add(reservation(S_IN + 3, 2));
        scoreboard.add(reservation(S_OUT + 3, 2));
        assert!(scoreboard.of(usize::from(S_IN) + 4).is_some());
        assert!(scoreboard.of(usize::from(S_IN) + 5).is_none());
        scoreboard.release(S_IN + 3, 2);
        assert!(scoreboard.of(usize::from(S_IN) + 4).is_none());
        scoreboard.release(S_OUT + 3, 2);
        assert_eq!(owned(&scoreboard), incoming);

        // Two that share slots, and one that wraps around to the beginning of its file.
        scoreboard.add(reservation(D_IN + 126, 4));
        scoreboard.add(reservation(D_IN, 1));
        scoreboard.add(reservation(D_IN, 3));
        scoreboard.release(D_IN, 3);
        assert_eq!(
            scoreboard.of(usize::from(D_IN)),
            Some(&reservation(D_IN + 126, 4)),
            "the oldest"
        );
        let bytes = postcard::to_allocvec(&scoreboard).unwrap();
        let mut again: Scoreboard = postcard::from_bytes(&bytes).unwrap();
        again.expose(scoreboard.exposed());
        again.release(D_IN + 126, 4);
        assert_eq!(again.of(usize::from(D_IN)), Some(&reservation(D_IN, 1)));
        assert!(again.of(usize::from(D_IN) + 1).is_none());
        assert_eq!(owned(&again), incoming);
    }

    #[test]
    fn release_ends_the_reservation_of_the_same_length() {
        for (older, younger) in [(4, 1), (1, 4)] {
            let mut scoreboard = Scoreboard::default();
            scoreboard.add(reservation(S_OUT, older));
            scoreboard.add(reservation(S_OUT, younger));
            scoreboard.release(S_OUT, younger);
            let slots = S_OUT..S_OUT + u16::from(older);
            assert!(slots.eq(owned(&scoreboard)));
            scoreboard.release(S_OUT, older);
            assert_eq!(owned(&scoreboard), []);
        }
    }

    #[test]
    fn saved_reservation_outside_transfer_registers_is_refused() {
        let saved = |first| {
            let none: [Reservation; 0] = [];
            let parts = (&[reservation(first, 1)][..], &none[..], [0_u64; SLOTS / 64]);
            postcard::from_bytes::<Scoreboard>(&postcard::to_allocvec(&parts).unwrap())
        };
        assert!(saved(NN - 1).is_ok());
        assert!(saved(NN).is_err());
    }
}
