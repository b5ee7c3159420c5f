//! Instructions as data. Thumb instructions are represented by equivalent ARM ones, plus a few of their own.

use serde::{Deserialize, Serialize};

use crate::bus::CoprocessorRegister;
use crate::exception::Unpredictable;

/// The condition for executing an instruction, by the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum Condition {
    Eq,
    Ne,
    Cs,
    Cc,
    Mi,
    Pl,
    Vs,
    Vc,
    Hi,
    Ls,
    Ge,
    Lt,
    Gt,
    Le,
    Always,
}

impl Condition {
    pub(crate) const ALL: [Self; 15] = [
        Self::Eq,
        Self::Ne,
        Self::Cs,
        Self::Cc,
        Self::Mi,
        Self::Pl,
        Self::Vs,
        Self::Vc,
        Self::Hi,
        Self::Ls,
        Self::Ge,
        Self::Lt,
        Self::Gt,
        Self::Le,
        Self::Always,
    ];

    /// Returns the condition with a four-bit code; `None` for 1111, which is not a condition.
    #[must_use]
    pub fn from_bits(bits: u32) -> Option<Self> {
        Self::ALL.get(bits as usize).copied()
    }

    /// Whether the condition holds with the flags N, Z, C and V in bits 3 to 0.
    #[must_use]
    pub const fn holds(self, flags: u32) -> bool {
        let (n, z) = (flags >> 3 & 1 != 0, flags >> 2 & 1 != 0);
        let (c, v) = (flags >> 1 & 1 != 0, flags & 1 != 0);
        match self {
            Self::Eq => z,
            Self::Ne => !z,
            Self::Cs => c,
            Self::Cc => !c,
            Self::Mi => n,
            Self::Pl => !n,
            Self::Vs => v,
            Self::Vc => !v,
            Self::Hi => c && !z,
            Self::Ls => !c || z,
            Self::Ge => n == v,
            Self::Lt => n != v,
            Self::Gt => !z && n == v,
            Self::Le => z || n != v,
            Self::Always => true,
        }
    }
}

/// A data operation, in the order of the encodings. Tst, Teq, Cmp and Cmn only set flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
#[repr(u8)]
pub enum DataOp {
    And,
    Eor,
    Sub,
    Rsb,
    Add,
    Adc,
    Sbc,
    Rsc,
    Tst,
    Teq,
    Cmp,
    Cmn,
    Orr,
    Mov,
    Bic,
    Mvn,
}

impl DataOp {
    const ALL: [Self; 16] = [
        Self::And,
        Self::Eor,
        Self::Sub,
        Self::Rsb,
        Self::Add,
        Self::Adc,
        Self::Sbc,
        Self::Rsc,
        Self::Tst,
        Self::Teq,
        Self::Cmp,
        Self::Cmn,
        Self::Orr,
        Self::Mov,
        Self::Bic,
        Self::Mvn,
    ];

    /// Returns the operation with a four-bit code.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self::ALL[bits as usize & 15]
    }

    /// Whether the operation only sets flags.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Tst | Self::Teq | Self::Cmp | Self::Cmn)
    }

    /// Whether the operation has only the second operand.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Mov | Self::Mvn)
    }
}

/// The kind of shift applied to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Shift {
    /// Shift left.
    Lsl,
    /// Shift right, filling with zeros.
    Lsr,
    /// Shift right, filling with the sign.
    Asr,
    /// Rotate right.
    Ror,
    /// Rotate right by one through the carry.
    Rrx,
}

/// The second operand of a data operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// A constant; `carry` is the carry that a logical operation sets, `None` if it is unchanged.
    Constant {
        /// The value.
        value: u32,
        /// The carry of its rotation.
        carry: Option<bool>,
    },
    /// A register.
    Register(u8),
    /// A register shifted by a constant amount, 1 to 32.
    Shifted {
        /// The register.
        rm: u8,
        /// The kind of shift.
        shift: Shift,
        /// The shift amount.
        amount: u8,
    },
    /// A register shifted by the low byte of another register.
    ShiftedBy {
        /// The register.
        rm: u8,
        /// The kind of shift.
        shift: Shift,
        /// The register that holds the amount.
        rs: u8,
    },
}

/// The offset added to or subtracted from the base of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Offset {
    /// A constant, negative if subtracted.
    Constant(i32),
    /// A register.
    Register {
        /// The register.
        rm: u8,
        /// The kind of shift.
        shift: Shift,
        /// The shift amount, 0 to 32.
        amount: u8,
        /// Whether it is subtracted.
        subtract: bool,
    },
}

/// When the offset is applied to the base register, and whether the base is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Index {
    /// Before the access, without updating the base.
    Offset,
    /// Before the access, updating the base.
    Before,
    /// After the access, updating the base.
    After,
}

/// The address of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Address {
    /// The base register.
    pub rn: u8,
    /// When the offset is applied.
    pub index: Index,
    /// The offset.
    pub offset: Offset,
}

/// How a load interprets memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Width {
    Word,
    Byte,
    Half,
    SignedByte,
    SignedHalf,
}

/// A saturating operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Saturating {
    Add,
    Sub,
    DoubleAdd,
    DoubleSub,
}

/// A multiplication of register halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HalfMultiply {
    /// `SMLAxy`: 16 by 16 bits, accumulated.
    Smla,
    /// `SMLAWy`: 32 by 16 bits, with the high 32 bits accumulated.
    Smlaw,
    /// `SMULWy`: 32 by 16 bits, with the high 32 bits as the result.
    Smulw,
    /// `SMLALxy`: 16 by 16 bits, accumulated in 64 bits.
    Smlal,
    /// `SMULxy`: 16 by 16 bits.
    Smul,
}

impl HalfMultiply {
    /// Whether the product is added to a register.
    #[must_use]
    pub const fn accumulates(self) -> bool {
        !matches!(self, Self::Smul | Self::Smulw)
    }
}

/// A block transfer between registers and ascending addresses.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    /// The base register.
    pub rn: u8,
    /// A mask of the registers to transfer.
    pub list: u16,
    /// Whether addresses ascend from the base.
    pub increment: bool,
    /// Whether the word at the base itself is skipped.
    pub before: bool,
    /// Whether the base is updated.
    pub writeback: bool,
    /// `^`: transfers the registers of user mode, or restores CPSR from SPSR if PC is loaded.
    pub caret: bool,
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Operation {
    /// A data operation; `set` tells whether it sets the flags.
    Data {
        op: DataOp,
        set: bool,
        rd: u8,
        rn: u8,
        operand: Operand,
    },
    /// Thumb: PC, rounded down to a multiple of four, plus a constant.
    Adr { rd: u8, offset: u32 },
    /// MUL, or MLA if `accumulate`.
    Multiply {
        set: bool,
        accumulate: bool,
        rd: u8,
        rn: u8,
        rs: u8,
        rm: u8,
    },
    /// UMULL, UMLAL, SMULL, SMLAL.
    MultiplyLong {
        set: bool,
        signed: bool,
        accumulate: bool,
        lo: u8,
        hi: u8,
        rs: u8,
        rm: u8,
    },
    /// The multiplications of the E extension; `x` and `y` select the high half of `rm` and `rs`. For `Smlal`, `rn` is
    /// the low half of the sum and `rd` the high one.
    MultiplyHalves {
        kind: HalfMultiply,
        x: bool,
        y: bool,
        rd: u8,
        rn: u8,
        rs: u8,
        rm: u8,
    },
    /// QADD, QSUB, QDADD, QDSUB, on `rm` and `rn`.
    Saturate {
        op: Saturating,
        rd: u8,
        rn: u8,
        rm: u8,
    },
    /// CLZ.
    CountLeadingZeros { rd: u8, rm: u8 },
    /// LDR and its variants; `user` selects user privileges.
    Load {
        width: Width,
        user: bool,
        rd: u8,
        address: Address,
    },
    /// STR and its variants.
    Store {
        width: Width,
        user: bool,
        rd: u8,
        address: Address,
    },
    /// LDRD.
    LoadDouble { rd: u8, address: Address },
    /// STRD.
    StoreDouble { rd: u8, address: Address },
    /// PLD, which has no effect.
    Preload { address: Address },
    /// LDM.
    LoadBlock(Block),
    /// STM.
    StoreBlock(Block),
    /// SWP, SWPB.
    Swap { byte: bool, rd: u8, rm: u8, rn: u8 },
    /// B, or BL if `link`, relative to PC as the instruction reads it.
    Branch { link: bool, offset: i32 },
    /// BLX to Thumb code at a constant offset from PC as the instruction reads it.
    BranchToThumb { offset: i32 },
    /// BX, or BLX if `link`.
    BranchExchange { link: bool, rm: u8 },
    /// Thumb: the first half of BL and BLX, which sets LR to PC plus an offset.
    LinkPrefix { offset: i32 },
    /// Thumb: the second half of BL, or of BLX if `exchange`, which branches to LR plus an offset.
    LinkSuffix { exchange: bool, offset: u32 },
    /// MRS.
    ReadStatus { saved: bool, rd: u8 },
    /// MSR of the fields c, x, s, f (bits 0 to 3 of `fields`).
    WriteStatus {
        saved: bool,
        fields: u8,
        operand: Operand,
    },
    /// SWI.
    SoftwareInterrupt { comment: u32 },
    /// BKPT.
    Breakpoint { comment: u16 },
    /// MRC; with PC as `rd`, it sets the flags.
    ReadCoprocessor {
        rd: u8,
        register: CoprocessorRegister,
    },
    /// MCR.
    WriteCoprocessor {
        rd: u8,
        register: CoprocessorRegister,
    },
    /// A combination of registers that the architecture leaves unpredictable.
    Unpredictable(Unpredictable),
    /// A word, 16 bits in Thumb state, that is not an ARMv5TE instruction or is for a nonexistent coprocessor.
    Undefined(u32),
}

/// An instruction with its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Instruction {
    /// The condition for executing it.
    pub condition: Condition,
    /// Its operation.
    pub operation: Operation,
}
