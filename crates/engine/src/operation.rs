//! The dense form of an instruction that the interpreter runs.
//!
//! Operands are slots of one flat register file (see [`crate::registers`]); a
//! slot whose top bit is set is relative to the running context until a
//! [`crate::lane::Lane`] resolves it. Operands that are not plain registers
//! (local memory, indexed transfer registers, the next-neighbour ring) are
//! fetched into temporary slots before the operation and stored from one after
//! it.

use npsim_isa::Operand;

use crate::action::Action;
use crate::form::Trace;
use crate::registers::{NN, RELATIVE, S_IN};

/// What an operation does. The operands named here are those of [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    B,
    NotB,
    Add,
    Add16,
    Add8,
    And,
    NotAAnd,
    AndNot,
    Or,
    Xor,
    Sub,
    SubReverse,
    AddCarry,
    SubCarry,
    /// B rotated right by `n` and masked with `x`, then the operator.
    ShfB,
    ShfNotB,
    ShfAnd,
    ShfNotAAnd,
    ShfAndNot,
    ShfOr,
    /// `y`: the operator as its `ShfOp`; `n`: 0 left, 1 right.
    ShfIndirect,
    /// {a, b} >> n
    DblShf,
    DblShfIndirect,
    Asr,
    AsrIndirect,
    ByteAlignBe,
    ByteAlignLe,
    /// d = (a & y) | (b rotated by n & x); `LdFieldCc` sets the codes.
    LdField,
    LdFieldCc,
    /// d = x
    Immed,
    /// d = (a & y) | x
    ImmedMerge,
    Nop,
    MulStart,
    MulStep,
    /// `n`: width 0 24x8, 1 16x16, 2 32x32; `x`: 1 high longword.
    MulLast,
    /// `n`: index of the [`npsim_isa::UnaryOp`]
    Unary,
    CamClear,
    CamLookup,
    /// a: tag, b: entry, n: state
    CamWrite,
    CamWriteState,
    /// `x`: [`crate::crc::pack`]
    Crc,
    Br,
    Beq,
    Bne,
    Bmi,
    Bpl,
    Bcs,
    Bcc,
    Bvs,
    Bvc,
    Bge,
    Blt,
    Ble,
    Bgt,
    /// `x`: the context
    BrCtx,
    BrNotCtx,
    /// b: register, `x`: the bit
    BrBitSet,
    BrBitClear,
    /// b: register, `x`: value | shift << 8
    BrByte,
    BrNotByte,
    /// a: register, `x`: base
    Jump,
    /// `x`: the signal's bit
    BrSignal,
    BrNoSignal,
    /// `x`: the input state's number
    BrState,
    BrNoState,
    /// Gives up the pipeline, without more ado; `n`: defer slots, `x`: the wake-up
    /// mask with [`Op::ANY`] and [`Op::KEEP_MASK`].
    Arb,
    /// `x`: the local CSR; `n`: 1 if its reading is for something else than timers
    CsrRead,
    /// a: register, `x`: the local CSR
    CsrWrite,
    /// a, b: address, `x`: the template ([`crate::predecoded::Predecoded::templates`])
    Command,
    /// Needs more than all these: see the instruction itself.
    Outside,
}

impl Kind {
    /// Whether the datapath does it and the next word follows.
    #[inline]
    pub fn is_of_datapath(self) -> bool {
        (self as u8) < Self::Br as u8
    }

    /// Whether it leaves the microengine's own registers and memory.
    #[inline]
    pub fn is_outside(self) -> bool {
        self as u8 > Self::Jump as u8
    }

    /// Whether it is a branch to a fixed target.
    #[inline]
    pub fn branches(self) -> bool {
        (Self::Br as u8..=Self::BrNotByte as u8).contains(&(self as u8))
    }
}

/// One instruction, 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub kind: Kind,
    /// What the interpreter's loop does with it; a [`crate::lane::Lane`] finds it from
    /// `form` and what is around it.
    pub action: Action,
    /// Shift count, defer slots or a small number.
    pub n: u8,
    /// Facts as bits, [`Op::WATCHED`] and so on.
    pub marks: u8,
    /// Destination slot; target of a branch.
    pub d: u16,
    /// Slot of A; for branches the slots thrown away when the previous word ran
    /// before.
    pub a: u16,
    /// Slot of B.
    pub b: u16,
    /// A further slot; for branches the slots thrown away on arrival from
    /// elsewhere: low byte when the codes are old, high byte when they are new. Of an
    /// operation that needs it for nothing else, the one operand that is a transfer register,
    /// or in local memory ([`Op::WORD`]).
    pub y: u16,
    pub x: u32,
}

impl Op {
    /// The context must take the attentive path.
    pub const WATCHED: u8 = 1;
    /// Operands are in local memory, on next-neighbour rings or in transfer registers: the
    /// interpreter's loop fetches the former and checks that no unit owns the latter.
    pub const GUARDED: u8 = 1 << 1;
    /// It reads what others write, or orders itself among them, so it must run in
    /// global order.
    pub const POLLS: u8 = 1 << 2;
    /// It sets the condition codes.
    pub const SETS_CODES: u8 = 1 << 3;
    /// There is more to do when it has executed.
    pub const FINISHES: u8 = 1 << 4;
    /// An operand is no plain register: in local memory, or where [`Self::RING`] says.
    pub const LOCAL: u8 = 1 << 5;
    /// Operands are on next-neighbour rings.
    pub const RING: u8 = 1 << 6;
    /// Either of those that keep it from being an operation of registers alone.
    pub const ATTENTION: u8 = Self::WATCHED | Self::GUARDED;

    /// In [`Self::y`]: a word of local memory, its pointer above the low byte and its offset
    /// there. No slot has this bit.
    pub const WORD: u16 = 1 << 14;

    /// In the mask of [`Kind::Arb`]: one of the signals is enough.
    pub const ANY: u32 = 1 << 16;
    /// There: the mask stays as it is.
    pub const KEEP_MASK: u32 = 1 << 17;

    /// Whether it works on registers alone and the next word follows.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.marks & Self::ATTENTION == 0 && self.kind.is_of_datapath()
    }

    /// Whether it loads a value and nothing is to be done before or behind that.
    pub fn only_loads(&self) -> bool {
        self.kind == Kind::Immed && self.is_plain() && self.marks & Self::FINISHES == 0
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
            Kind::ShfIndirect | Kind::LdField | Kind::LdFieldCc | Kind::ImmedMerge
        ) || !kind.is_of_datapath()
    }

    /// The word of local memory in [`Self::y`], by pointer and offset, if there is one.
    #[inline]
    pub fn word(&self) -> Option<(u8, u8)> {
        (self.y & (Self::WORD | RELATIVE) == Self::WORD).then(|| self.word_there())
    }

    /// The same where it is known that there is one.
    #[inline]
    pub fn word_there(&self) -> (u8, u8) {
        ((self.y >> 8) as u8 & 1, self.y as u8)
    }
}

/// What an operation takes of what the register held that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Old {
    /// Nothing, or what no unit could own.
    Nothing,
    /// Some of its bytes, which must have been written before.
    Written,
    /// Some of its bytes, written or not: constants are loaded by halves.
    Merged,
    /// Nothing, but an indirect shift behind it may, by what the port of operand A had.
    Left,
}

/// An operand that is no plain register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
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

impl Special {
    /// Whether its use may move a pointer of local memory or the index of transfer registers.
    #[inline]
    pub fn moves_an_index(self) -> bool {
        matches!(self, Self::LocalStep { .. } | Self::Indexed { .. })
    }
}

/// What the attentive path needs of an instruction.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of an instruction"
)]
pub(crate) struct Side {
    /// Operands read.
    pub reads: [Operand; 2],
    /// What is taken of what the destination's register held.
    pub old: Old,
    /// Operand written.
    pub dest: Operand,
    pub special_a: Special,
    pub special_b: Special,
    pub special_d: Special,
    /// The old value of a special destination is needed.
    pub merges: bool,
    /// It reads what others write, so it must run in global order.
    pub polls: bool,
    /// Attention is never taken off, unless it is `guarded` or of a `ring`.
    pub always: bool,
    /// It has operands in local memory or in transfer registers, and nothing else
    /// keeps it from the interpreter's loop.
    pub guarded: bool,
    /// An operand is no plain register; of a guarded operation it is in local memory.
    pub local: bool,
    /// An operand moves a pointer of local memory.
    pub steps: bool,
    /// It has operands on next-neighbour rings, and nothing else keeps it from the
    /// interpreter's loop.
    pub ring: bool,
    /// It sets the condition codes.
    pub sets_codes: bool,
    /// What it leaves for later operations and reads of what others left.
    pub trace: Trace,
    /// The control instruction in whose defer slots this word lies.
    pub slot_of: Option<u16>,
}

impl Side {
    /// The word of local memory that all operands there are, by pointer and offset; `None` if
    /// they are not one, or where one moves its pointer.
    pub fn word(&self) -> Option<(u8, u8)> {
        let specials = [self.special_a, self.special_b, self.special_d];
        let mut there = specials.into_iter().filter(|it| *it != Special::None);
        let first = there.next()?;
        let Special::Local { pointer, offset } = first else {
            return None;
        };
        there.all(|it| it == first).then_some((pointer, offset))
    }
}
