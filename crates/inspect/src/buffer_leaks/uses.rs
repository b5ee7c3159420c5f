//! Whether a program uses the value of a register: whether the value, or anything computed from it,
//! reaches a command, memory of the microengine or a CSR. A mere test is not a use, and neither is
//! an instruction that overwrites the register, be it in part.

use std::collections::BTreeSet;

use npsim_image::{FlowGraph, Successors};
use npsim_isa::{Access, Bank, CapAccess, Index, Instruction, Operand, TransferRegister};

/// Maximum number of search states; beyond it the answer is unknown.
const MAX_STATES: usize = 1 << 14;
/// The bytes of a handle, as an `ld_field` mask: the fourth is free for other uses.
const HANDLE_BYTES: u8 = 0b0111;

/// A register of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// A general-purpose register: whether it is in bank B, and its number.
    General(bool, u8),
    /// An IN transfer register, written by commands: whether it is a D register, and its number.
    In(bool, u8),
    /// An OUT transfer register, read by commands: whether it is a D register, and its number.
    Out(bool, u8),
}

impl Register {
    /// The register that an operand reads.
    fn read(operand: Operand) -> Option<Self> {
        match operand {
            Operand::STransfer(n) => Some(Self::In(false, n)),
            Operand::DTransfer(n) => Some(Self::In(true, n)),
            other => Self::general(other),
        }
    }

    /// The register that an operand writes.
    fn written(operand: Operand) -> Option<Self> {
        match operand {
            Operand::STransfer(n) => Some(Self::Out(false, n)),
            Operand::DTransfer(n) => Some(Self::Out(true, n)),
            other => Self::general(other),
        }
    }

    fn general(operand: Operand) -> Option<Self> {
        match operand {
            Operand::Gpr(bank, n) => Some(Self::General(bank == Bank::B, n)),
            _ => None,
        }
    }
}

/// An address, and the registers that hold the value or something derived from it there.
type State = (u16, BTreeSet<Register>);

/// Whether a context that continues at an address uses the value of a register. Where that cannot
/// be determined, after a computed jump, it is assumed to.
pub fn is_used(flow: &FlowGraph, context: u8, pc: u16, register: Register) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<State> = vec![(pc, BTreeSet::from([register]))];
    while let Some((at, mut holding)) = open.pop() {
        if holding.is_empty() || !seen.insert((at, holding.clone())) {
            continue;
        }
        if seen.len() > MAX_STATES {
            return true;
        }
        let Some(instruction) = flow.instruction(at) else {
            continue;
        };
        if execute(instruction, &mut holding) {
            return true;
        }
        match flow.successors(at, Some(context)) {
            Successors::Computed => return true,
            known @ Successors::Known(_) => {
                for next in known.addresses() {
                    let mut holding = holding.clone();
                    // Instructions in defer slots are executed on the way.
                    let slots = (1..=u16::from(instruction.defer())).filter(|_| next != at + 1);
                    let mut slots = slots.filter_map(|slot| flow.instruction(at + slot));
                    if slots.any(|slot| execute(slot, &mut holding)) {
                        return true;
                    }
                    open.push((next, holding));
                }
            }
        }
    }
    false
}

/// Returns whether an instruction uses the value; otherwise updates the registers that hold it.
fn execute(instruction: &Instruction, holding: &mut BTreeSet<Register>) -> bool {
    let held = |operand| Register::read(operand).is_some_and(|it| holding.contains(&it));
    let transfer = match instruction {
        Instruction::Command(command) => {
            if held(command.a) || held(command.b) {
                return true;
            }
            let info = command.op.info();
            Some(Transfer {
                register: command.transfer,
                count: command.count,
                indirect: command.indirect,
                pulls: info.pulls,
                pushes: info.pushes,
            })
        }
        Instruction::CapCsr(access) => Some(Transfer {
            register: access.transfer,
            count: access.count,
            indirect: access.indirect,
            pulls: access.access != CapAccess::Read,
            pushes: access.access == CapAccess::Read,
        }),
        _ => None,
    };
    if let Some(transfer) = transfer {
        return transfer.execute(holding);
    }
    let form = instruction.form();
    let operands: Vec<_> = instruction.register_operands().collect();
    let is_indexed = |operand: Operand| operand.index() == Some(Index::Transfer);
    let indexed = { holding.iter() }.any(|it| matches!(it, Register::In(..)));
    let reads = operands.iter().any(|&(role, operand)| {
        let access = form.operand(role).map(|info| info.access);
        access == Some(Access::Read) && (held(operand) || indexed && is_indexed(operand))
    });
    let mut written = operands.iter().filter_map(|&(role, operand)| {
        let access = form.operand(role)?.access;
        matches!(access, Access::Write | Access::Both).then_some((access, operand))
    });
    let Some((access, operand)) = written.next() else {
        // A CSR, the CAM or the multiplier takes it; a test leaves nothing.
        return reads && !instruction.is_control_flow();
    };
    let Some(register) = Register::written(operand) else {
        // Memory of the microengine, or only the condition codes.
        return reads && operand != Operand::None;
    };
    if reads {
        holding.insert(register);
    } else if access == Access::Write || overwrites_handle(instruction) {
        holding.remove(&register);
    }
    false
}

/// Whether an instruction that keeps a part of its destination overwrites all of a handle there.
fn overwrites_handle(instruction: &Instruction) -> bool {
    let Instruction::LdField { mask, .. } = *instruction else {
        return false;
    };
    mask & HANDLE_BYTES == HANDLE_BYTES
}

/// The transfer registers of a command.
struct Transfer {
    register: TransferRegister,
    count: u8,
    indirect: bool,
    pulls: bool,
    pushes: bool,
}

impl Transfer {
    /// Returns whether it reads a register that holds the value; otherwise removes the registers
    /// that its data overwrites.
    fn execute(&self, holding: &mut BTreeSet<Register>) -> bool {
        let (wide, first) = match self.register {
            TransferRegister::S(n) => (false, n),
            TransferRegister::D(n) => (true, n),
            TransferRegister::None => return false,
        };
        // The number of registers read depends on the unit and its kind of count, but is at most
        // 16.
        let reads = |it: &Register| match *it {
            Register::Out(of, n) => {
                of == wide && (self.indirect || (first..first.saturating_add(16)).contains(&n))
            }
            _ => false,
        };
        if self.pulls && holding.iter().any(reads) {
            return true;
        }
        if self.pushes && !self.indirect {
            let count = self.count.max(1) * if wide { 2 } else { 1 };
            for n in first..first.saturating_add(count) {
                holding.remove(&Register::In(wide, n));
            }
        }
        false
    }
}
