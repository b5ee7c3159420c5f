//! Disassembly of words to text that assembles to the same words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use npsim_isa::{ContextMode, Instruction, decode_lenient_in, encode_in};

use crate::image::{Image, NnMode};

/// Returns the program as text: one instruction per line, with labels `L<address>#` in front of
/// branch targets. A word that is not a valid instruction, that leads out of the program, or that
/// has bits set in fields without effect is written as `.word`, with a comment that gives the
/// reason or the instruction; every text therefore assembles to the same words.
#[must_use]
pub fn disassemble(image: &Image) -> String {
    let mut text = String::new();
    if image.contexts == ContextMode::Four {
        text.push_str(".num_contexts 4\n");
    }
    if image.nn_mode == NnMode::Own {
        text.push_str(".init_nn_mode self\n");
    }
    let decoded: Vec<Result<Instruction, String>> = image
        .words
        .iter()
        .map(|&word| decode_lenient_in(word, image.target()).map_err(|error| error.to_string()))
        .collect();
    let targets: BTreeSet<u16> = decoded
        .iter()
        .flatten()
        .filter_map(target)
        .filter(|address| (*address as usize) <= image.words.len())
        .collect();
    let names = names(image);
    for (&word, (address, instruction)) in image.words.iter().zip(decoded.iter().enumerate()) {
        // Words beyond the range of an address have no labels.
        if let Ok(address) = u16::try_from(address) {
            label(&mut text, address, &targets, &names);
        }
        match instruction {
            Ok(instruction) => {
                let is_whole = encode_in(instruction, image.target()).ok() == Some(word);
                let remark = if is_whole {
                    assembly_obstacle(instruction, &decoded[address + 1..], image.words.len())
                } else {
                    Some("with more in fields that have no effect")
                };
                let _ = match remark {
                    None => writeln!(text, "    {instruction}"),
                    Some(remark) => {
                        writeln!(text, "    .word 0x{word:010x} ; {instruction}, {remark}")
                    }
                };
            }
            Err(reason) => {
                let _ = writeln!(
                    text,
                    "    .word 0x{word:010x} ; not an instruction: {reason}"
                );
            }
        }
    }
    if let Ok(end) = u16::try_from(image.words.len()) {
        label(&mut text, end, &targets, &names);
    }
    text
}

/// Returns why the text of an instruction would not assemble in its context, in a program of
/// `words` words; `None` for most instructions.
fn assembly_obstacle(
    instruction: &Instruction,
    following: &[Result<Instruction, String>],
    words: usize,
) -> Option<&'static str> {
    if target(instruction).is_some_and(|address| usize::from(address) > words) {
        return Some("which leads out of the program");
    }
    let Some(deferred) = following.get(..usize::from(instruction.defer())) else {
        return Some("with defer slots beyond the program");
    };
    if { deferred.iter().flatten() }.any(Instruction::is_control_flow) {
        return Some("with a branch in its defer slots");
    }
    let reads = matches!(instruction, Instruction::LocalCsrRead { .. });
    let receives = matches!(following.first(), Some(Ok(Instruction::Immed { .. })));
    (reads && !receives).then_some("without the immed that receives the value")
}

fn label(
    text: &mut String,
    address: u16,
    targets: &BTreeSet<u16>,
    names: &BTreeMap<u16, Vec<&str>>,
) {
    if !targets.contains(&address) {
        return;
    }
    let _ = write!(text, "L{address}#:");
    if let Some(names) = names.get(&address) {
        let _ = write!(text, " ; {}", names.join(", "));
    }
    text.push('\n');
}

/// Returns the label names by address.
fn names(image: &Image) -> BTreeMap<u16, Vec<&str>> {
    let mut names: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for label in &image.labels {
        names.entry(label.address).or_default().push(&label.name);
    }
    names
}

/// Returns the address that an instruction names.
#[must_use]
pub(crate) fn target(instruction: &Instruction) -> Option<u16> {
    match instruction {
        Instruction::Branch { target, .. }
        | Instruction::BranchCtx { target, .. }
        | Instruction::BranchSignal { target, .. }
        | Instruction::BranchInputState { target, .. }
        | Instruction::BranchBit { target, .. }
        | Instruction::BranchByte { target, .. } => Some(*target),
        Instruction::Jump { base, .. } if *base != 0 => Some(*base),
        Instruction::CtxArb(arb) => arb.resume,
        _ => None,
    }
}
