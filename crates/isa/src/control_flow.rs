//! Branch targets, defer slots and the instructions that leave the straight-line sequence.

use crate::{BranchTest, Command, Completion, Instruction, TransferRegister};

impl Instruction {
    /// Returns the word address that the instruction names: branch target, resume address or base
    /// of a jump.
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

    /// Returns the instruction with another target; unchanged if it has none.
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

    /// Returns the number of defer slots that the instruction requests.
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
            other => match other.completion() {
                Some(Completion::CtxSwap { defer, .. }) => defer,
                _ => 0,
            },
        }
    }

    /// Returns the instruction as [`decode`](crate::decode()) returns it. The two differ only for
    /// commands: the address is the sum of the operands, so the word does not keep their order, and
    /// a `--` transfer register that `indirect_ref` replaces reads as register 0.
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
}

impl BranchTest {
    /// Returns the test of `br=ctx` or `br!=ctx`.
    #[must_use]
    pub const fn ctx(equal: bool) -> Self {
        if equal {
            Self::CtxEqual
        } else {
            Self::CtxNotEqual
        }
    }

    /// Returns the test of `br_signal` or `br_!signal`.
    #[must_use]
    pub const fn signal(set: bool) -> Self {
        if set {
            Self::SignalSet
        } else {
            Self::SignalClear
        }
    }

    /// Returns the test of `br_inp_state` or `br_!inp_state`.
    #[must_use]
    pub const fn input(set: bool) -> Self {
        if set {
            Self::InputSet
        } else {
            Self::InputClear
        }
    }
}
