//! Which transfer registers of a microengine others reach without a command of its own.

use std::ops::BitOr;

use npsim_image::Image;
use npsim_isa::{CapAccess, CommandOp, Instruction, TransferRegister, Words, decode_lenient};
use serde::{Deserialize, Serialize};

/// What programs can do to the transfer registers of any microengine, with the reflector or
/// with an override word that names one. A program that neither reflects nor overrides what
/// moves transfer registers does nothing of it.
///
/// A core that executes ahead of the chip must be at the chip's present where it uses what is
/// exposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// Others fill IN registers.
    pub incoming: bool,
    /// Others read OUT registers.
    pub outgoing: bool,
}

impl Exposure {
    /// What a program can do. Which microengine it does that to is known only when it runs.
    #[must_use]
    pub fn by(image: &Image) -> Self {
        let instructions = image
            .words
            .iter()
            .filter_map(|&word| decode_lenient(word).ok());
        instructions.fold(Self::default(), |all, it| all | Self::by_instruction(&it))
    }

    fn by_instruction(instruction: &Instruction) -> Self {
        let (op, transfer, indirect) = match *instruction {
            Instruction::Command(it) => (it.op, it.transfer, it.indirect),
            Instruction::CapCsr(it) => {
                let op = if it.access == CapAccess::Read {
                    CommandOp::CapRead
                } else {
                    CommandOp::CapWrite
                };
                (op, it.transfer, it.indirect)
            }
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

impl BitOr for Exposure {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self {
            incoming: self.incoming || other.incoming,
            outgoing: self.outgoing || other.outgoing,
        }
    }
}
