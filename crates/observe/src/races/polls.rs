//! The loops in which a program polls memory that others write.

use std::collections::BTreeSet;

use npsim_image::{FlowGraph, Image};
use npsim_isa::{CommandOp, Instruction};

/// The addresses of reads of scratch and SRAM from which control can come back to them
/// with no other command between: what they read is waited for, as a lock or a turn that
/// stands in memory is. A longword that is so read is a signal, not a sum.
pub fn polling_reads(image: &Image) -> BTreeSet<u16> {
    let flow = FlowGraph::of(image);
    let is_read = |at: &u16| match flow.instruction(*at) {
        Some(Instruction::Command(command)) => {
            matches!(command.op, CommandOp::ScratchRead | CommandOp::SramRead)
        }
        _ => false,
    };
    let reads = flow.addresses().filter(is_read);
    reads.filter(|at| comes_back(&flow, *at)).collect()
}

/// Whether a read is reached again from behind it without another command. Where a computed jump
/// leads is not known, so a loop through one counts for none.
fn comes_back(flow: &FlowGraph, read: u16) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<_> = flow.successors(read, None).addresses().collect();
    while let Some(at) = open.pop() {
        if at == read {
            return true;
        }
        let command = matches!(
            flow.instruction(at),
            None | Some(
                Instruction::Command(_) | Instruction::CapFastWrite { .. } | Instruction::CapCsr(_)
            )
        );
        if !command && seen.insert(at) {
            open.extend(flow.successors(at, None).addresses());
        }
    }
    false
}
