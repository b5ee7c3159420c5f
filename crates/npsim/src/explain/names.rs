//! Registers and signals by the names that the source gave them.

use npsim_image::{Direction, Image, RegisterSymbol};
use npsim_isa::{Completion, Instruction, TransferRegister};
use serde::Serialize;

/// A name and what the assembler made of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Named {
    /// The register or signal: `a5`, `$3`, `s7`.
    pub allocated: String,
    /// Its names; several where scopes share it and the line does not tell.
    pub names: Vec<String>,
}

/// The registers that an instruction names.
pub(super) fn registers(
    image: &Image,
    text: &str,
    instruction: Option<&Instruction>,
    source: &[&str],
) -> Vec<Named> {
    let mut operands: Vec<String> = text
        .split(['[', ']', ',', ' '])
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    // A command moves registers that follow the one it names.
    if let Some(Instruction::Command(command)) = instruction {
        let info = command.op.info();
        let count = u32::from(command.count);
        let words = info.pull_words.of(count).max(info.push_words.of(count));
        let more = (1..words as u8).filter_map(|n| match command.transfer {
            TransferRegister::None => None,
            TransferRegister::S(first) => Some(format!("${}", first + n)),
            TransferRegister::D(first) => Some(format!("$${}", first + n)),
        });
        let at = operands
            .iter()
            .position(|part| part.starts_with('$'))
            .map_or(operands.len(), |at| at + 1);
        let more: Vec<_> = more.collect();
        operands.splice(at..at, more);
    }
    let direction = instruction.and_then(direction);
    let mut named: Vec<Named> = Vec::new();
    for operand in operands {
        if named.iter().any(|known| known.allocated == operand) {
            continue;
        }
        let found: Vec<&RegisterSymbol> = image
            .registers
            .iter()
            .filter(|symbol| symbol.operand.to_string() == operand)
            .filter(|symbol| match (direction, symbol.direction) {
                (None, _) | (_, Direction::Both) => true,
                (Some(wanted), known) => wanted == known,
            })
            .collect();
        let names = chosen(found.iter().map(|symbol| symbol.name.as_str()), source);
        if !names.is_empty() {
            named.push(Named {
                allocated: operand,
                names,
            });
        }
    }
    named
}

/// Which transfer registers a command moves, if it moves them one way.
fn direction(instruction: &Instruction) -> Option<Direction> {
    let Instruction::Command(command) = instruction else {
        return None;
    };
    let info = command.op.info();
    match (info.pulls, info.pushes) {
        (true, false) => Some(Direction::Write),
        (false, true) => Some(Direction::Read),
        _ => None,
    }
}

/// The signals that an instruction names.
pub(super) fn signals(
    image: &Image,
    instruction: Option<&Instruction>,
    source: &[&str],
) -> Vec<Named> {
    let mask = instruction.map_or(0, signal_mask);
    (1..16u8)
        .filter(|number| mask & (1 << number) != 0)
        .map(|number| {
            // The odd signal of a pair has its even one's name.
            let known = image.signals.iter();
            let names = known
                .filter(|signal| signal.number == number)
                .map(|signal| signal.name.as_str());
            let mut names = chosen(names, source);
            if names.is_empty() && number % 2 == 1 {
                let even = image.signals.iter();
                let even = even.filter(|signal| signal.number == number - 1);
                names = chosen(even.map(|signal| signal.name.as_str()), source)
                    .into_iter()
                    .map(|name| format!("{name}, second of the pair"))
                    .collect();
            }
            Named {
                allocated: format!("s{number}"),
                names,
            }
        })
        .collect()
}

fn signal_mask(instruction: &Instruction) -> u16 {
    let of = |completion: Completion| match completion {
        Completion::Silent => None,
        Completion::SigDone(signal) | Completion::CtxSwap { signal, .. } => Some(signal),
    };
    match instruction {
        Instruction::Command(command) => {
            let rule = command.op.info().signals;
            of(command.completion).map_or(0, |signal| rule.mask(signal))
        }
        Instruction::CapCsr(access) => of(access.completion).map_or(0, |signal| 1 << signal),
        Instruction::CtxArb(arb) => arb.mask & !1,
        Instruction::BranchSignal { signal, .. } => 1 << signal,
        _ => 0,
    }
}

/// Names that the source line has, or all of them if it has none; each once.
fn chosen<'a>(names: impl Iterator<Item = &'a str>, source: &[&str]) -> Vec<String> {
    let mut all: Vec<&str> = names.collect();
    all.sort_unstable();
    all.dedup();
    let written: Vec<&str> = all
        .iter()
        .copied()
        .filter(|name| source.iter().any(|line| has_word(line, name)))
        .collect();
    let chosen = if written.is_empty() { all } else { written };
    chosen.into_iter().map(str::to_owned).collect()
}

/// Whether a line has a name that is not part of a longer one.
fn has_word(line: &str, name: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::{chosen, has_word};

    #[test]
    fn names_are_whole_words() {
        assert!(has_word("alu[total, --, B, $$h4]", "total"));
        assert!(!has_word("alu[total2, --, B, $$h4]", "total"));
        assert!(!has_word("alu[--, --, B, $$h4]", "$h4"));
    }

    #[test]
    fn the_line_chooses_among_names_that_share_a_register() {
        let names = ["hop", "sum", "hop"];
        assert_eq!(chosen(names.into_iter(), &["alu[--, --, B, hop]"]), ["hop"]);
        assert_eq!(chosen(names.into_iter(), &["nop"]), ["hop", "sum"]);
    }
}
