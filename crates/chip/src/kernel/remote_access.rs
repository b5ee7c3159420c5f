//! Access by others to the transfer registers of a microengine, without a command of its own.

use std::ops::BitOr;

use npsim_isa::{CommandOp, Instruction, TransferRegister, Words};
use serde::{Deserialize, Serialize};

/// Accesses that programs may make to the transfer registers of any microengine, with the reflector
/// or with an override word that names one. A program that neither uses the reflector nor overrides
/// a command that moves transfer registers makes none.
///
/// A core that executes ahead of the chip must wait until the chip has caught up before it uses
/// exposed registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteAccess {
    /// Whether others fill IN registers.
    pub incoming: bool,
    /// Whether others read OUT registers.
    pub outgoing: bool,
}

impl RemoteAccess {
    /// The accesses that an instruction may make. Their microengine is known only at run time.
    #[must_use]
    pub fn by(instruction: &Instruction) -> Self {
        let (op, transfer, indirect) = match instruction {
            Instruction::Command(it) => (it.op, it.transfer, it.indirect),
            Instruction::CapCsr(it) => (it.op(), it.transfer, it.indirect),
            _ => return Self::default(),
        };
        let info = op.info();
        let overrides = indirect && transfer != TransferRegister::None;
        Self {
            incoming: op == CommandOp::CapReflectWrite
                || overrides && info.push_words != Words::Zero,
            outgoing: op == CommandOp::CapReflectRead
                || overrides && info.pull_words != Words::Zero,
        }
    }
}

impl BitOr for RemoteAccess {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self {
            incoming: self.incoming || other.incoming,
            outgoing: self.outgoing || other.outgoing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npsim_isa::{Command, Completion, Operand};

    fn by(op: CommandOp, transfer: TransferRegister, indirect: bool) -> (bool, bool) {
        let exposed = RemoteAccess::by(&Instruction::Command(Command {
            op,
            transfer,
            a: Operand::Constant(0),
            b: Operand::Constant(0),
            count: 1,
            completion: Completion::Silent,
            indirect,
            ignore_data_error: false,
        }));
        (exposed.incoming, exposed.outgoing)
    }

    #[test]
    fn reflector_and_overrides_count_as_remote_access() {
        let (s, none) = (TransferRegister::S(0), TransferRegister::None);
        assert_eq!(by(CommandOp::CapReflectWrite, s, false), (true, false));
        assert_eq!(by(CommandOp::CapReflectRead, s, false), (false, true));
        assert_eq!(by(CommandOp::SramRead, s, false), (false, false));
        assert_eq!(by(CommandOp::SramRead, s, true), (true, false));
        assert_eq!(by(CommandOp::SramWrite, s, true), (false, true));
        assert_eq!(by(CommandOp::SramSwap, s, true), (true, true));
        assert_eq!(by(CommandOp::DramRbufRd, none, true), (false, false));
        assert_eq!(RemoteAccess::by(&Instruction::Nop), RemoteAccess::default());
    }
}
