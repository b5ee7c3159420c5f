//! The dense form of an instruction that the engine runs.
//!
//! Operands are slots of one flat register file (see [`crate::registers`]); a
//! slot whose top bit is set is relative to the running context until a
//! [`crate::bound_program::BoundProgram`] resolves it. Operands that are not plain registers
//! (local memory, indexed transfer registers, the next-neighbour ring) are
//! fetched into temporary slots before the operation and stored from one after
//! it.

use npsim_isa::{Instruction, Leaves, Operand};

use crate::registers::{NN, RELATIVE, S_IN};
use crate::uop::{Handler, TransferSlot, UopKind};

/// One instruction, 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub kind: UopKind,
    /// What the dispatch loop does with it, which depends on what is around it
    /// ([`crate::block::handler_at`]).
    pub handler: Handler,
    /// Shift count, defer slots or a small number.
    pub n: u8,
    /// Facts as bits, [`Op::UNVERIFIED`] and so on.
    pub flags: u8,
    /// Destination slot; target of a branch.
    pub d: u16,
    /// Slot of A; for branches the slots aborted when the previous word ran
    /// before.
    pub a: u16,
    /// Slot of B.
    pub b: u16,
    /// A further slot; for branches the slots aborted on arrival from
    /// elsewhere: low byte when the codes are old, high byte when they are new. Of an
    /// operation that needs it for nothing else, the one operand that is a transfer register,
    /// or in local memory ([`Op::WORD`]).
    pub y: u16,
    pub x: u32,
}

impl Op {
    /// The context has not executed it yet, or it always takes the slow path.
    pub const UNVERIFIED: u8 = 1;
    /// Operands are in local memory, on next-neighbour rings or in transfer registers: the
    /// dispatch loop fetches the former and checks that no unit owns the latter.
    pub const SCOREBOARDED: u8 = 1 << 1;
    /// The operation reads what others write, or orders itself among them, so it must run in
    /// global order.
    pub const SYNCS: u8 = 1 << 2;
    /// The operation sets the condition codes.
    pub const SETS_CODES: u8 = 1 << 3;
    /// There is more to do when it has executed.
    pub const FINISHES: u8 = 1 << 4;
    /// An operand is no plain register: in local memory, or where [`Self::RING`] says.
    pub const LOCAL: u8 = 1 << 5;
    /// Operands are on next-neighbour rings.
    pub const RING: u8 = 1 << 6;
    /// Either of those that keep it from being an operation of registers alone.
    pub const SLOW: u8 = Self::UNVERIFIED | Self::SCOREBOARDED;

    /// In [`Self::y`]: a word of local memory, its pointer above the low byte and its offset
    /// there. No slot has this bit.
    pub const WORD: u16 = 1 << 14;

    /// In the mask of [`UopKind::Arb`]: one of the signals is enough.
    pub const ANY: u32 = 1 << 16;
    /// There: the mask stays as it is.
    pub const KEEP_MASK: u32 = 1 << 17;

    /// The register that a slot names.
    #[inline]
    pub fn slot(&self, slot: TransferSlot) -> u16 {
        match slot {
            TransferSlot::B => self.b,
            TransferSlot::Y => self.y,
        }
    }

    /// Whether it works on registers alone and the next word follows.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.flags & Self::SLOW == 0 && self.kind.is_alu()
    }

    /// Whether it loads a value and nothing is to be done before or behind that.
    pub fn only_loads(&self) -> bool {
        self.kind == UopKind::Immed && self.is_plain() && self.flags & Self::FINISHES == 0
    }

    /// Whether a slot is a transfer register.
    pub fn is_transfer(slot: u16) -> bool {
        (S_IN..NN).contains(&(slot & !RELATIVE))
    }

    /// The one of its operands that is a transfer register; `None` if none is, or several are.
    pub fn transfer(&self) -> Option<u16> {
        let slots = [self.a, self.b, self.d];
        let mut transfers = slots.into_iter().filter(|slot| Self::is_transfer(*slot));
        transfers.next().filter(|_| transfers.next().is_none())
    }

    /// Whether it needs [`Self::y`] for itself.
    pub fn has_a_further_slot(&self) -> bool {
        let kind = self.kind;
        matches!(
            kind,
            UopKind::ShfIndirect | UopKind::LdField | UopKind::LdFieldCc | UopKind::ImmedMerge
        ) || !kind.is_alu()
    }

    /// The word of local memory in [`Self::y`], by pointer and offset, if there is one.
    #[inline]
    pub fn word(&self) -> Option<(u8, u8)> {
        (self.y & (Self::WORD | RELATIVE) == Self::WORD).then(|| self.word_there())
    }

    /// [`Self::word`] where it is known that there is one.
    #[inline]
    pub fn word_there(&self) -> (u8, u8) {
        ((self.y >> 8) as u8 & 1, self.y as u8)
    }
}

/// What an operation takes of what the register held that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DestRead {
    /// No register, or none that a unit could own.
    Nothing,
    /// Some of its bytes, which must have been written before.
    Written,
    /// Some of its bytes, written or not: constants are loaded by halves.
    Merged,
    /// No register, but an indirect shift behind it may, by what the port of operand A had.
    Left,
}

/// An operand that is no plain register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecialOperand {
    None,
    /// Local memory at pointer | offset.
    Local {
        pointer: u8,
        offset: u8,
    },
    /// Local memory at a pointer that moves by `step` words.
    LocalStep {
        pointer: u8,
        step: i8,
    },
    /// A transfer register by `T_INDEX`; `file` is the flat base of its file.
    Indexed {
        file: u16,
        step: i8,
    },
    /// Head of the next-neighbour ring, taken or not.
    Ring {
        take: bool,
    },
    /// A next-neighbour register of the next microengine (destination).
    Neighbour {
        register: u8,
    },
}

impl SpecialOperand {
    /// Whether its use may move a pointer of local memory or the index of transfer registers.
    #[inline]
    pub fn moves_an_index(self) -> bool {
        matches!(self, Self::LocalStep { .. } | Self::Indexed { .. })
    }
}

/// What an operation leaves beside its destination, and what it reads of what others left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagEffect {
    /// Sets codes, A operand and result, reads none of them.
    All,
    /// Sets A operand and result, leaves the codes.
    Operands,
    /// Anything else.
    Other,
}

impl FlagEffect {
    pub fn of(instruction: &Instruction) -> Self {
        let leaves = instruction.form().leaves;
        let reads = instruction.takes().is_some() || instruction.reads_codes();
        if reads || !matches!(leaves, Leaves::Result | Leaves::Zero) {
            Self::Other
        } else if instruction.sets_codes() {
            Self::All
        } else {
            Self::Operands
        }
    }
}

/// What the slow path needs of an instruction.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of an instruction"
)]
pub(crate) struct DecodeInfo {
    /// Operands read.
    pub reads: [Operand; 2],
    /// What is taken of what the destination's register held.
    pub old: DestRead,
    /// Operand written.
    pub dest: Operand,
    pub special_a: SpecialOperand,
    pub special_b: SpecialOperand,
    pub special_d: SpecialOperand,
    /// The old value of a special destination is needed.
    pub merges: bool,
    /// The operation reads what others write, so it must run in global order.
    pub syncs: bool,
    /// The operation is never verified, unless it is `scoreboarded` or of a `ring`.
    pub always: bool,
    /// The operation has operands in local memory or in transfer registers, and nothing else keeps it
    /// from the dispatch loop.
    pub scoreboarded: bool,
    /// An operand is no plain register; of a scoreboarded operation it is in local memory.
    pub local: bool,
    /// An operand moves a pointer of local memory.
    pub steps: bool,
    /// The operation has operands on next-neighbour rings, and nothing else keeps it from the
    /// dispatch loop.
    pub ring: bool,
    /// The operation sets the condition codes.
    pub sets_codes: bool,
    /// What it leaves for later operations and reads of what others left.
    pub flag_effect: FlagEffect,
    /// The control instruction in whose defer slots this word lies.
    pub slot_of: Option<u16>,
}

impl DecodeInfo {
    /// The word of local memory that all operands there are, by pointer and offset; `None` if
    /// they are not one, or where one moves its pointer.
    pub fn word(&self) -> Option<(u8, u8)> {
        let specials = [self.special_a, self.special_b, self.special_d];
        let mut there = specials
            .into_iter()
            .filter(|it| *it != SpecialOperand::None);
        let first = there.next()?;
        let SpecialOperand::Local { pointer, offset } = first else {
            return None;
        };
        there.all(|it| it == first).then_some((pointer, offset))
    }
}
