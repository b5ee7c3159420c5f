//! Instructions as data. Thumb instructions are those of ARM state that do the same, with a few of their own.

use serde::{Deserialize, Serialize};

use crate::bus::CoprocessorRegister;
use crate::exception::Unpredictable;

/// When an instruction is executed, by the flags.
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

    /// The condition of four bits; `None` for 1111, which is none.
    #[must_use]
    pub fn from_bits(bits: u32) -> Option<Self> {
        Self::ALL.get(bits as usize).copied()
    }

    /// Whether it holds with the flags N, Z, C and V, which are bits 3 to 0.
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

/// A data operation, in the order of its codes. Tst, Teq, Cmp and Cmn only set flags.
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

    /// The operation of four bits.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self::ALL[bits as usize & 15]
    }

    /// Whether it only sets flags.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Tst | Self::Teq | Self::Cmp | Self::Cmn)
    }

    /// Whether it has the second operand alone.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Mov | Self::Mvn)
    }
}

/// How a register is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Shift {
    /// Left.
    Lsl,
    /// Right, zeros come in.
    Lsr,
    /// Right, the sign comes in.
    Asr,
    /// Rotated right.
    Ror,
    /// Rotated right by one through the carry.
    Rrx,
}

/// The second operand of a data operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// A constant; `carry` is what a logical operation leaves in the carry, if it does not keep it.
    Constant {
        /// The value.
        value: u32,
        /// The carry of its rotation.
        carry: Option<bool>,
    },
    /// A register.
    Register(u8),
    /// A register shifted by a number, 1 to 32.
    Shifted {
        /// The register.
        rm: u8,
        /// How.
        shift: Shift,
        /// By how much.
        amount: u8,
    },
    /// A register shifted by the low byte of another one.
    ShiftedBy {
        /// The register.
        rm: u8,
        /// How.
        shift: Shift,
        /// The register with the amount.
        rs: u8,
    },
}

/// What is added to or subtracted from the base of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Offset {
    /// A constant, negative where subtracted.
    Constant(i32),
    /// A register.
    Register {
        /// The register.
        rm: u8,
        /// How it is shifted.
        shift: Shift,
        /// By how much, 0 to 32.
        amount: u8,
        /// Whether it is subtracted.
        subtract: bool,
    },
}

/// When the offset is applied to the base register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Index {
    /// For the access alone.
    Offset,
    /// Before the access, and kept.
    Before,
    /// After the access, and kept.
    After,
}

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Address {
    /// The base.
    pub rn: u8,
    /// When the offset is applied.
    pub index: Index,
    /// The offset.
    pub offset: Offset,
}

/// What a load makes of memory.
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

/// A multiplication of halves of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HalfMultiply {
    /// `SMLAxy`: 16 by 16, accumulated.
    Smla,
    /// `SMLAWy`: 32 by 16, the high 32 bits accumulated.
    Smlaw,
    /// `SMULWy`: 32 by 16, the high 32 bits.
    Smulw,
    /// `SMLALxy`: 16 by 16, accumulated in 64 bits.
    Smlal,
    /// `SMULxy`: 16 by 16.
    Smul,
}

impl HalfMultiply {
    /// Whether the product is added to a register.
    #[must_use]
    pub const fn accumulates(self) -> bool {
        !matches!(self, Self::Smul | Self::Smulw)
    }
}

/// Registers moved to or from ascending addresses.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    /// The base.
    pub rn: u8,
    /// A bit for each register.
    pub list: u16,
    /// Whether the base is the lowest address and grows.
    pub increment: bool,
    /// Whether the base itself is left out.
    pub before: bool,
    /// Whether the base is changed.
    pub writeback: bool,
    /// `^`: the registers of user mode, or with PC loaded, CPSR from SPSR.
    pub caret: bool,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Operation {
    /// A data operation, with flags where `set`.
    Data {
        op: DataOp,
        set: bool,
        rd: u8,
        rn: u8,
        operand: Operand,
    },
    /// Thumb: PC, down to a multiple of four, plus a constant.
    Adr { rd: u8, offset: u32 },
    /// MUL, and MLA where `accumulate`.
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
    /// The multiplications of the E extension; `x` and `y`: the high half of `rm` and `rs`. For `Smlal`, `rn` is
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
    /// QADD, QSUB, QDADD, QDSUB: of `rm` and `rn`.
    Saturate {
        op: Saturating,
        rd: u8,
        rn: u8,
        rm: u8,
    },
    /// CLZ.
    CountLeadingZeros { rd: u8, rm: u8 },
    /// LDR and its kin; `user`: with the rights of user mode.
    Load {
        width: Width,
        user: bool,
        rd: u8,
        address: Address,
    },
    /// STR and its kin.
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
    /// PLD, which does nothing.
    Preload { address: Address },
    /// LDM.
    LoadBlock(Block),
    /// STM.
    StoreBlock(Block),
    /// SWP, SWPB.
    Swap { byte: bool, rd: u8, rm: u8, rn: u8 },
    /// B, and BL where `link`, from PC as it reads.
    Branch { link: bool, offset: i32 },
    /// BLX to Thumb at a constant distance, from PC as it reads.
    BranchToThumb { offset: i32 },
    /// BX, and BLX where `link`.
    BranchExchange { link: bool, rm: u8 },
    /// Thumb: the first half of BL and BLX, which leaves PC plus an offset in LR.
    LinkPrefix { offset: i32 },
    /// Thumb: the second half of BL, and of BLX where `exchange`, to LR plus an offset.
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
    /// MRC; with PC as `rd`, the flags.
    ReadCoprocessor {
        rd: u8,
        register: CoprocessorRegister,
    },
    /// MCR.
    WriteCoprocessor {
        rd: u8,
        register: CoprocessorRegister,
    },
    /// A form of registers that the architecture leaves open.
    Unpredictable(Unpredictable),
    /// A word, or in Thumb state 16 bits, that is no instruction of ARMv5TE or of a coprocessor that is not there.
    Undefined(u32),
}

/// An instruction with its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Instruction {
    /// When it is executed.
    pub condition: Condition,
    /// What it does.
    pub operation: Operation,
}
