//! The watchdog's description of a context that does not yield the pipeline.

use npsim_image::{FlowGraph, Image};
use npsim_isa::{Context, FlowClass, Instruction, Operand, csr};

use crate::csr_order::csr_is_sync_point;

/// Describes the endless loop that a context is in: its addresses and its first and last line. The
/// loop executes nothing that [yields or polls](is_yield_or_poll).
pub(crate) fn loop_note(image: &Image, context: Context, pc: u16) -> String {
    let graph = FlowGraph::of(image);
    let addresses = graph.enclosing_loop(context.number(), pc, |it| !is_yield_or_poll(it));
    let (first, last) = addresses.into_inner();
    let (from, to) = (image.place(first), image.place(last));
    if from == to {
        format!("it loops at {from} (address {first})")
    } else {
        format!("it loops among the addresses {first} to {last}, {from} to {to}")
    }
}

/// Whether an instruction shows that its context is not in an endless loop: it yields the pipeline
/// or may do so, or reads state that changes independently.
fn is_yield_or_poll(instruction: &Instruction) -> bool {
    match *instruction {
        Instruction::LocalCsrRead { csr } => {
            let clocks = [csr::TIMESTAMP_LOW, csr::TIMESTAMP_HIGH, csr::PROFILE_COUNT];
            clocks.contains(&csr) || csr_is_sync_point(csr, false)
        }
        Instruction::LocalCsrWrite { csr, .. } => csr_is_sync_point(csr, true),
        Instruction::CapFastWrite { .. } | Instruction::CapCsr(_) => true,
        Instruction::BranchCtx { .. } => false,
        _ => {
            let nn =
                |operand| matches!(operand, Operand::Nn(_) | Operand::NnPeek | Operand::NnRing);
            matches!(
                instruction.form().flow,
                FlowClass::Command | FlowClass::Arbitration | FlowClass::State
            ) || instruction
                .register_operands()
                .any(|(_, operand)| nn(operand))
        }
    }
}
