//! Whether a program uses what a register holds: whether it comes, as it is or in what is computed
//! of it, into a command, into memory of the microengine or into a CSR. A test alone uses nothing,
//! and neither does an instruction that overwrites it, be it in parts.

use std::collections::BTreeSet;

use npsim_image::{FlowGraph, Successors};
use npsim_isa::{Access, Bank, CapAccess, Index, Instruction, Operand, TransferRegister};

/// States of the search; with more the answer is not known.
const MOST: usize = 1 << 14;
/// The bytes of a handle, as masks of `ld_field` count them: the fourth is free for other use.
const HANDLE_BYTES: u8 = 0b0111;

/// A register of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// A general-purpose register: whether in bank B, and its number.
    General(bool, u8),
    /// A transfer register that commands write: whether a D register, and its number.
    In(bool, u8),
    /// One that they read.
    Out(bool, u8),
}

impl Register {
    /// What an operand reads.
    fn read(operand: Operand) -> Option<Self> {
        match operand {
            Operand::STransfer(n) => Some(Self::In(false, n)),
            Operand::DTransfer(n) => Some(Self::In(true, n)),
            other => Self::general(other),
        }
    }

    /// What it writes.
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

/// The registers that have the value or what was made of it, at an address.
type State = (u16, BTreeSet<Register>);

/// Whether a context that goes on at an address uses what a register holds. Where that cannot be
/// known, behind a computed jump, it is taken to.
pub fn is_used(flow: &FlowGraph, context: u8, pc: u16, register: Register) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<State> = vec![(pc, BTreeSet::from([register]))];
    while let Some((at, mut holding)) = open.pop() {
        if holding.is_empty() || !seen.insert((at, holding.clone())) {
            continue;
        }
        if seen.len() > MOST {
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
                    // What stands in the slots is done on the way.
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

/// Whether an instruction uses what registers hold; else which of them hold it behind it.
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
        // Memory of the microengine, or nothing but the condition codes.
        return reads && operand != Operand::None;
    };
    if reads {
        holding.insert(register);
    } else if access == Access::Write || overwrites_handle(instruction) {
        holding.remove(&register);
    }
    false
}

/// Whether an instruction that keeps a part of its destination keeps nothing of a handle there.
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
    /// Whether it reads what registers hold; else what it brings takes the place of that.
    fn execute(&self, holding: &mut BTreeSet<Register>) -> bool {
        let (wide, first) = match self.register {
            TransferRegister::S(n) => (false, n),
            TransferRegister::D(n) => (true, n),
            TransferRegister::None => return false,
        };
        // How many it reads, the unit and its kind of count decide: no more than these.
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
