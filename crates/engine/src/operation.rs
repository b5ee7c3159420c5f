//! The dense form of an instruction, which the engine executes.
//!
//! Operands are slots of one flat register file (see [`crate::registers`]); a slot whose top bit is
//! set is relative to the running context until a [`crate::bound_program::BoundProgram`] resolves
//! it. Operands that are not plain registers (local memory, indexed transfer registers, the
//! next-neighbour ring) are fetched into temporary slots before the operation and stored from one
//! after it.

use npsim_isa::{Instruction, Leaves, Operand};

use crate::registers::{NN, RELATIVE, S_IN};
use crate::uop::{Handler, TransferSlot, UopKind};

/// One instruction, 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub kind: UopKind,
    /// The dispatch loop's handler, which depends on the surrounding operations
    /// ([`crate::block::handler_at`]).
    pub handler: Handler,
    /// Shift count, number of defer slots, or a small number.
    pub n: u8,
    /// Flags, [`Op::UNVERIFIED`] and so on.
    pub flags: u8,
    /// Destination slot; target of a branch.
    pub d: u16,
    /// Slot of A; for branches the slots aborted if the previous word ran before.
    pub a: u16,
    /// Slot of B.
    pub b: u16,
    /// A further slot; for branches the slots aborted on arrival from elsewhere: low byte for old
    /// codes, high byte for new ones. If an operation does not need it otherwise, it holds the one
    /// operand that is a transfer register or in local memory ([`Op::WORD`]).
    pub y: u16,
    pub x: u32,
}

impl Op {
    /// The context has not executed the operation yet, or it always takes the slow path.
    pub const UNVERIFIED: u8 = 1;
    /// Operands are in local memory, on next-neighbour rings or in transfer registers: the dispatch
    /// loop fetches the former and checks that no unit owns the latter.
    pub const SCOREBOARDED: u8 = 1 << 1;
    /// The operation reads what others write, or orders itself among them, so it must execute in
    /// global order.
    pub const SYNCS: u8 = 1 << 2;
    /// The operation sets the condition codes.
    pub const SETS_CODES: u8 = 1 << 3;
    /// The operation has further work to do after it has executed.
    pub const FINISHES: u8 = 1 << 4;
    /// An operand is not a plain register: it is in local memory, or as [`Self::RING`] indicates.
    pub const LOCAL: u8 = 1 << 5;
    /// Operands are on next-neighbour rings.
    pub const RING: u8 = 1 << 6;
    /// Flags that keep the operation from working on registers alone.
    pub const SLOW: u8 = Self::UNVERIFIED | Self::SCOREBOARDED;

    /// In [`Self::y`]: a word of local memory, with its pointer above the low byte and its offset
    /// in the low byte. No slot has this bit.
    pub const WORD: u16 = 1 << 14;

    /// In the mask of [`UopKind::Arb`]: one of the signals is enough.
    pub const ANY: u32 = 1 << 16;
    /// In the mask of [`UopKind::Arb`]: the wake-up mask stays unchanged.
    pub const KEEP_MASK: u32 = 1 << 17;

    /// The register that a slot names.
    #[inline]
    pub fn slot(&self, slot: TransferSlot) -> u16 {
        match slot {
            TransferSlot::B => self.b,
            TransferSlot::Y => self.y,
        }
    }

    /// Whether the operation works on registers alone and the next word follows.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.flags & Self::SLOW == 0 && self.kind.is_alu()
    }

    /// Whether the operation loads a value, with nothing to be done before or after that.
    pub fn only_loads(&self) -> bool {
        self.kind == UopKind::Immed && self.is_plain() && self.flags & Self::FINISHES == 0
    }

    /// Whether a slot is a transfer register.
    pub fn is_transfer(slot: u16) -> bool {
        (S_IN..NN).contains(&(slot & !RELATIVE))
    }

    /// The only operand that is a transfer register; `None` if none or several are.
    pub fn transfer(&self) -> Option<u16> {
        let slots = [self.a, self.b, self.d];
        let mut transfers = slots.into_iter().filter(|slot| Self::is_transfer(*slot));
        transfers.next().filter(|_| transfers.next().is_none())
    }

    /// Whether the operation needs [`Self::y`] for itself.
    pub fn needs_second_slot(&self) -> bool {
        let kind = self.kind;
        matches!(
            kind,
            UopKind::ShfIndirect | UopKind::LdField | UopKind::LdFieldCc | UopKind::ImmedMerge
        ) || !kind.is_alu()
    }

    /// The word of local memory in [`Self::y`], by pointer and offset, if there is one.
    #[inline]
    pub fn word(&self) -> Option<(u8, u8)> {
        (self.y & (Self::WORD | RELATIVE) == Self::WORD).then(|| self.known_word())
    }

    /// [`Self::word`], for an operation known to have one.
    #[inline]
    pub fn known_word(&self) -> (u8, u8) {
        ((self.y >> 8) as u8 & 1, self.y as u8)
    }
}

/// How an operation uses the old value of its destination register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DestRead {
    /// Not used, or not a register that a unit could own.
    Nothing,
    /// Some of its bytes are kept, and must have been written before.
    Written,
    /// Some of its bytes are kept, written or not: constants are loaded by halves.
    Merged,
    /// Not used, but a following indirect shift may use the value at the port of operand A.
    Left,
}

/// An operand that is not a plain register.
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
    /// A transfer register indexed by `T_INDEX`; `file` is the flat base of its file.
    Indexed {
        file: u16,
        step: i8,
    },
    /// Head of the next-neighbour ring, which is removed if `take` is set.
    Ring {
        take: bool,
    },
    /// A next-neighbour register of the next microengine (destination only).
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

/// The effects of an operation other than its result, and whether it reads those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagEffect {
    /// Sets codes, A operand and result, and reads none of them.
    All,
    /// Sets A operand and result, and leaves the codes unchanged.
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

/// Information about an instruction for the slow path.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of an instruction"
)]
pub(crate) struct DecodeInfo {
    /// Operands that are read.
    pub reads: [Operand; 2],
    /// How the old value of the destination register is used.
    pub old: DestRead,
    /// Operand that is written.
    pub dest: Operand,
    pub special_a: SpecialOperand,
    pub special_b: SpecialOperand,
    pub special_d: SpecialOperand,
    /// Whether the old value of a special destination is needed.
    pub merges: bool,
    /// Whether the operation reads what others write, so that it must execute in global order.
    pub syncs: bool,
    /// Whether the operation is never verified, unless it is `scoreboarded` or of a `ring`.
    pub always: bool,
    /// Whether the operation has operands in local memory or in transfer registers, and nothing
    /// else keeps it from the dispatch loop.
    pub scoreboarded: bool,
    /// Whether an operand is not a plain register; for a scoreboarded operation it is in local
    /// memory.
    pub local: bool,
    /// Whether an operand moves a pointer of local memory.
    pub steps: bool,
    /// Whether the operation has operands on next-neighbour rings, and nothing else keeps it from
    /// the dispatch loop.
    pub ring: bool,
    /// Whether the operation sets the condition codes.
    pub sets_codes: bool,
    /// The effects that it leaves for later operations, and whether it reads those of others.
    pub flag_effect: FlagEffect,
    /// Address of the control instruction in whose defer slots this word lies.
    pub slot_of: Option<u16>,
}

impl DecodeInfo {
    /// The single word of local memory that all special operands refer to, by pointer and offset;
    /// `None` if they differ, or if one moves its pointer.
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
