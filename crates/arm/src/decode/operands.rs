//! The registers that an instruction reads or writes, for the scoreboard.

use crate::instruction::{Address, Offset, Operand, Operation};

const SP: u8 = 13;
const LR: u8 = 14;

fn of(registers: &[u8]) -> u16 {
    registers.iter().fold(0, |mask, &n| mask | 1 << n)
}

fn of_operand(operand: Operand) -> u16 {
    match operand {
        Operand::Constant { .. } => 0,
        Operand::Register(rm) | Operand::Shifted { rm, .. } => of(&[rm]),
        Operand::ShiftedBy { rm, rs, .. } => of(&[rm, rs]),
    }
}

fn of_address(address: Address) -> u16 {
    let offset = match address.offset {
        Offset::Constant(_) => 0,
        Offset::Register { rm, .. } => of(&[rm]),
    };
    offset | of(&[address.rn])
}

/// Returns a mask of the registers that an operation reads or writes. PC is never waited for.
pub fn registers_used(operation: &Operation) -> u16 {
    let used = match *operation {
        Operation::Data {
            op,
            rd,
            rn,
            operand,
            ..
        } => {
            let rd = if op.compares() { 0 } else { of(&[rd]) };
            let rn = if op.moves() { 0 } else { of(&[rn]) };
            of_operand(operand) | rd | rn
        }
        Operation::Adr { rd, .. }
        | Operation::ReadStatus { rd, .. }
        | Operation::ReadCoprocessor { rd, .. }
        | Operation::WriteCoprocessor { rd, .. } => of(&[rd]),
        Operation::Multiply {
            accumulate,
            rd,
            rn,
            rs,
            rm,
            ..
        } => of(&[rd, rs, rm]) | if accumulate { of(&[rn]) } else { 0 },
        Operation::MultiplyLong { lo, hi, rs, rm, .. } => of(&[lo, hi, rs, rm]),
        Operation::MultiplyHalves {
            kind,
            rd,
            rn,
            rs,
            rm,
            ..
        } => of(&[rd, rs, rm]) | if kind.accumulates() { of(&[rn]) } else { 0 },
        Operation::Saturate { rd, rn, rm, .. } | Operation::Swap { rd, rm, rn, .. } => {
            of(&[rd, rn, rm])
        }
        Operation::CountLeadingZeros { rd, rm } => of(&[rd, rm]),
        Operation::Load { rd, address, .. } | Operation::Store { rd, address, .. } => {
            of_address(address) | of(&[rd])
        }
        Operation::LoadDouble { rd, address } | Operation::StoreDouble { rd, address } => {
            of_address(address) | of(&[rd, rd + 1])
        }
        Operation::Preload { address } => of_address(address),
        Operation::LoadBlock(block) | Operation::StoreBlock(block) => block.list | of(&[block.rn]),
        Operation::BranchExchange { rm, .. } => of(&[rm]),
        Operation::LinkSuffix { .. } => of(&[LR]),
        Operation::WriteStatus { operand, .. } => of_operand(operand),
        // Exception handlers need every register up to date, SP first.
        Operation::SoftwareInterrupt { .. } | Operation::Breakpoint { .. } => of(&[SP, LR]),
        Operation::Branch { .. }
        | Operation::BranchToThumb { .. }
        | Operation::LinkPrefix { .. }
        | Operation::Unpredictable(_)
        | Operation::Undefined(_) => 0,
    };
    used & 0x7fff
}
