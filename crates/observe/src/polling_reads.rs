//! Finds the loops in which a program polls memory that others write.

use std::collections::BTreeSet;

use npsim_image::{FlowGraph, Image};
use npsim_isa::{Access, CommandOp, Instruction, Operand};

/// The addresses of scratch and SRAM reads that control can reach again with no other command in
/// between and with the same address: the program waits for the value, such as a lock or a turn in
/// memory. A longword read like this is a signal, not a sum. A loop over the entries of a table
/// waits for none of them.
pub fn polling_reads(image: &Image) -> BTreeSet<u16> {
    let flow = FlowGraph::of(image);
    let is_read = |at: &u16| match flow.instruction(*at) {
        Some(Instruction::Command(command)) => {
            matches!(command.op, CommandOp::ScratchRead | CommandOp::SramRead)
        }
        _ => false,
    };
    let reads = flow.addresses().filter(is_read);
    reads.filter(|at| is_in_polling_loop(&flow, *at)).collect()
}

/// Whether control can return to a read without another command, and without a write to its address
/// operands. The target of a computed jump is unknown, so a loop through one does not count.
fn is_in_polling_loop(flow: &FlowGraph, read: u16) -> bool {
    let Some(Instruction::Command(command)) = flow.instruction(read) else {
        return false;
    };
    let address = [command.a, command.b];
    let mut seen = BTreeSet::new();
    let mut open: Vec<_> = flow.successors(read, None).addresses().collect();
    while let Some(at) = open.pop() {
        if at == read {
            return true;
        }
        let goes_on = match flow.instruction(at) {
            None
            | Some(
                Instruction::Command(_) | Instruction::CapFastWrite { .. } | Instruction::CapCsr(_),
            ) => false,
            Some(other) => !writes(other, address),
        };
        if goes_on && seen.insert(at) {
            open.extend(flow.successors(at, None).addresses());
        }
    }
    false
}

/// Whether an instruction writes one of these operands.
fn writes(instruction: &Instruction, operands: [Operand; 2]) -> bool {
    let form = instruction.form();
    instruction.register_operands().any(|(role, operand)| {
        let written = { form.operand(role) }
            .is_some_and(|info| matches!(info.access, Access::Write | Access::Both));
        written && operand != Operand::None && operands.contains(&operand)
    })
}
