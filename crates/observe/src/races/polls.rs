//! Reads that a program repeats until it finds what it waits for.

use std::collections::BTreeSet;

use npsim_image::Image;
use npsim_isa::{CommandOp, Flow, Instruction};

/// The addresses of reads of scratch and SRAM from which control can come back to them
/// with no other command between: what they read is waited for, as a lock or a turn that
/// stands in memory is. A longword that is so read is a signal, not a sum.
pub fn polling_reads(image: &Image) -> BTreeSet<u16> {
    let reads = (0..image.words.len() as u16).filter(|at| {
        let instruction = image.instruction(*at);
        let Some(Instruction::Command(command)) = instruction else {
            return false;
        };
        matches!(command.op, CommandOp::ScratchRead | CommandOp::SramRead)
    });
    reads.filter(|at| comes_back(image, *at)).collect()
}

fn comes_back(image: &Image, read: u16) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = successors(image, read);
    while let Some(at) = open.pop() {
        if at == read {
            return true;
        }
        let command = matches!(
            image.instruction(at),
            None | Some(
                Instruction::Command(_) | Instruction::CapFastWrite { .. } | Instruction::CapCsr(_)
            )
        );
        if !command && seen.insert(at) {
            open.extend(successors(image, at));
        }
    }
    false
}

fn successors(image: &Image, at: u16) -> Vec<u16> {
    let Some(instruction) = image.instruction(at) else {
        return Vec::new();
    };
    let behind = at + 1 + u16::from(instruction.defer());
    match (instruction.form().flow, instruction) {
        (Flow::Jump, _) => Vec::new(),
        (Flow::Branch, _) => instruction.target().into_iter().collect(),
        (Flow::Arbitration, Instruction::CtxArb(arb)) => {
            let gone = arb.breakpoint || arb.any && arb.mask == 0 && !arb.keep_mask;
            let next = arb.resume.unwrap_or(behind);
            (!gone).then_some(next).into_iter().collect()
        }
        _ => {
            let target = instruction.target();
            target.into_iter().chain([at + 1]).collect()
        }
    }
}
