//! Branch targets, defer slots and the instructions that leave the sequence.

use crate::{
    BranchTest, ByteOrder, CapAccess, CapCsr, Command, Completion, Instruction, MulPhase,
    TransferRegister, mnemonic,
};

impl Instruction {
    /// The mnemonic under which [`mnemonics`](crate::mnemonics) lists it.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        match self {
            Self::Alu { .. } => "alu",
            Self::AluShf { .. } => "alu_shf",
            Self::DblShf { .. } => "dbl_shf",
            Self::Asr { .. } => "asr",
            Self::ByteAlign { order, .. } => match order {
                ByteOrder::Big => "byte_align_be",
                ByteOrder::Little => "byte_align_le",
            },
            Self::LdField { clear, .. } => {
                if *clear {
                    "ld_field_w_clr"
                } else {
                    "ld_field"
                }
            }
            Self::Immed { .. } => "immed",
            Self::ImmedByte { byte, .. } => {
                ["immed_b0", "immed_b1", "immed_b2", "immed_b3"][usize::from(byte & 3)]
            }
            Self::ImmedWord { word, .. } => ["immed_w0", "immed_w1"][usize::from(word & 1)],
            Self::Nop => "nop",
            Self::MulStep {
                phase: MulPhase::Start | MulPhase::Step(..),
                ..
            }
            | Self::MulLast { .. } => "mul_step",
            Self::Ffs { .. } => "ffs",
            Self::PopCount { phase, .. } => {
                if *phase == 1 {
                    "pop_count1"
                } else {
                    "pop_count2"
                }
            }
            Self::PopCount3 { .. } => "pop_count3",
            Self::CamClear => "cam_clear",
            Self::CamLookup { .. } => "cam_lookup",
            Self::CamWrite { .. } => "cam_write",
            Self::CamWriteState { .. } => "cam_write_state",
            Self::CamReadTag { .. } => "cam_read_tag",
            Self::CamReadState { .. } => "cam_read_state",
            Self::Crc { order, .. } => match order {
                ByteOrder::Big => "crc_be",
                ByteOrder::Little => "crc_le",
            },
            Self::Branch { condition, .. } => condition.text(),
            Self::BranchCtx { equal, .. } => BranchTest::ctx(*equal).text(),
            Self::BranchSignal { set, .. } => BranchTest::signal(*set).text(),
            Self::BranchInputState { set, .. } => BranchTest::input(*set).text(),
            Self::BranchBit { set, .. } => {
                if *set {
                    "br_bset"
                } else {
                    "br_bclr"
                }
            }
            Self::BranchByte { equal, .. } => {
                if *equal {
                    "br=byte"
                } else {
                    "br!=byte"
                }
            }
            Self::Jump { base, .. } => {
                if *base == 0 {
                    "rtn"
                } else {
                    "jump"
                }
            }
            Self::CtxArb(_) => "ctx_arb",
            Self::LocalCsrRead { .. } => "local_csr_rd",
            Self::LocalCsrWrite { .. } => "local_csr_wr",
            Self::Command(command) => command.mnemonic(),
            Self::CapFastWrite { .. } | Self::CapCsr(_) => "cap",
        }
    }

    /// Whether execution may continue elsewhere than at the next word, or the
    /// context may give up the microengine. Such an instruction may not stand in
    /// a defer slot.
    #[must_use]
    pub const fn is_control_flow(&self) -> bool {
        match self {
            Self::Branch { .. }
            | Self::BranchCtx { .. }
            | Self::BranchSignal { .. }
            | Self::BranchInputState { .. }
            | Self::BranchBit { .. }
            | Self::BranchByte { .. }
            | Self::Jump { .. }
            | Self::CtxArb(_) => true,
            Self::Command(Command { completion, .. }) | Self::CapCsr(CapCsr { completion, .. }) => {
                matches!(completion, Completion::CtxSwap { .. })
            }
            _ => false,
        }
    }

    /// The word address that the instruction names: branch target, resume
    /// address or base of a jump.
    #[must_use]
    pub const fn target(&self) -> Option<u16> {
        match self {
            Self::Branch { target, .. }
            | Self::BranchCtx { target, .. }
            | Self::BranchSignal { target, .. }
            | Self::BranchInputState { target, .. }
            | Self::BranchBit { target, .. }
            | Self::BranchByte { target, .. } => Some(*target),
            Self::Jump { base, .. } => Some(*base),
            Self::CtxArb(arb) => arb.resume,
            _ => None,
        }
    }

    /// The instruction with another target; unchanged if it has none.
    #[must_use]
    pub const fn with_target(mut self, to: u16) -> Self {
        match &mut self {
            Self::Branch { target, .. }
            | Self::BranchCtx { target, .. }
            | Self::BranchSignal { target, .. }
            | Self::BranchInputState { target, .. }
            | Self::BranchBit { target, .. }
            | Self::BranchByte { target, .. } => *target = to,
            Self::Jump { base, .. } => *base = to,
            Self::CtxArb(arb) if arb.resume.is_some() => arb.resume = Some(to),
            _ => {}
        }
        self
    }

    /// Defer slots that the instruction asks for.
    #[must_use]
    pub const fn defer(&self) -> u8 {
        match self {
            Self::Branch { defer, .. }
            | Self::BranchCtx { defer, .. }
            | Self::BranchSignal { defer, .. }
            | Self::BranchInputState { defer, .. }
            | Self::BranchBit { defer, .. }
            | Self::BranchByte { defer, .. }
            | Self::Jump { defer, .. } => *defer,
            Self::CtxArb(arb) => arb.defer,
            Self::Command(Command { completion, .. }) | Self::CapCsr(CapCsr { completion, .. }) => {
                match completion {
                    Completion::CtxSwap { defer, .. } => *defer,
                    Completion::Silent | Completion::SigDone(_) => 0,
                }
            }
            _ => 0,
        }
    }

    /// The same instruction as [`decode`](crate::decode()) returns it. It differs
    /// for commands only: the address operands are added, so the word does not
    /// keep their order, and a `--` transfer register that `indirect_ref`
    /// replaces reads as register 0.
    #[must_use]
    pub fn canonical(self) -> Self {
        match self {
            Self::Command(command) => Self::Command(command.canonical()),
            other => other,
        }
    }
}

impl Command {
    /// See [`Instruction::canonical`].
    #[must_use]
    pub fn canonical(mut self) -> Self {
        if let Ok(ports) = crate::port::assign(
            (crate::OperandRole::A, self.a),
            (crate::OperandRole::B, self.b),
        ) {
            self.a = ports.a.1;
            self.b = ports.b.1;
        }
        let info = self.op.info();
        if info.takes_transfer && self.transfer == TransferRegister::None && self.indirect {
            self.transfer = match info.default_transfer {
                crate::TransferKind::S => TransferRegister::S(0),
                crate::TransferKind::D => TransferRegister::D(0),
            };
        }
        self
    }

    /// The mnemonic: the unit, or the command itself for the hash unit.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        let info = self.op.info();
        if info.takes_operands {
            info.unit.info().name
        } else {
            info.name
        }
    }
}

impl BranchTest {
    /// `br=ctx` or `br!=ctx`.
    #[must_use]
    pub const fn ctx(equal: bool) -> Self {
        if equal {
            Self::CtxEqual
        } else {
            Self::CtxNotEqual
        }
    }

    /// `br_signal` or `br_!signal`.
    #[must_use]
    pub const fn signal(set: bool) -> Self {
        if set {
            Self::SignalSet
        } else {
            Self::SignalClear
        }
    }

    /// `br_inp_state` or `br_!inp_state`.
    #[must_use]
    pub const fn input(set: bool) -> Self {
        if set {
            Self::InputSet
        } else {
            Self::InputClear
        }
    }
}

/// The largest defer count that the instruction accepts.
#[must_use]
pub fn defer_limit(instruction: &Instruction) -> u8 {
    match instruction {
        // The fast writes never swap out.
        Instruction::CapFastWrite { .. }
        | Instruction::CapCsr(CapCsr {
            access: CapAccess::FastWriteAlu,
            ..
        }) => 0,
        other => mnemonic(other.mnemonic()).map_or(0, |row| row.max_defer),
    }
}
