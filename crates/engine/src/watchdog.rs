//! What the watchdog of a context that keeps the pipeline says of it.

use npsim_image::{FlowGraph, Image};
use npsim_isa::{Context, FlowClass, Instruction, Operand, csr};

use crate::csr_order::csr_is_sync_point;

/// The loop that a context is in which never leaves it, in words: its addresses and its
/// first and last line. It has executed nothing that [yields or polls](is_yield_or_poll).
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

/// Whether a context that executes it is not held to be in an endless loop: it yields
/// the pipeline or may, or reads what changes without it.
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
