//! Static counts of programs, taken without running them: the number of
//! instructions in a piece of code, and of commands to each unit.

use npsim_image::Image;
use npsim_isa::{Instruction, Unit, decode_in};
use npsim_project::assemble::Program;

use crate::metric::{CountedCode, MemoryUnit, StaticCount};
use crate::microengines::{Stages, named};

/// Returns the value of a static metric.
///
/// # Errors
/// Returns an error if there is no such microengine or label, or if the named
/// microengines run different programs with different counts.
pub fn value(wanted: &StaticCount, programs: &[Program], stages: &Stages) -> Result<f64, String> {
    let me = wanted.me.as_str();
    let mut found = None;
    for index in named(me, stages)? {
        let program = programs
            .iter()
            .find(|program| program.me == index)
            .ok_or_else(|| format!("microengine {index} runs nothing"))?;
        let number = count(&program.image, wanted)?;
        if *found.get_or_insert(number) != number {
            return Err(format!(
                "the microengines {me} run different programs: microengine {index} has a count of {number}"
            ));
        }
    }
    found
        .map(|number| number as f64)
        .ok_or_else(|| format!("there is no microengine `{me}`"))
}

/// Returns the address of a label. A label of a macro has a dot and a number after
/// its name, which may be omitted if the macro is used once.
fn label_address(image: &Image, name: &str) -> Result<usize, String> {
    let is_of_macro = |known: &str| known.rsplit_once('.').is_some_and(|(stem, _)| stem == name);
    let exact = image.labels.iter().find(|known| known.name == name);
    let mut of_macros = image.labels.iter().filter(|known| is_of_macro(&known.name));
    match (exact, of_macros.next(), of_macros.next()) {
        (Some(found), ..) | (None, Some(found), None) => Ok(usize::from(found.address)),
        (None, Some(_), Some(_)) => {
            Err(format!("`{}` has more than one label `{name}`", image.name))
        }
        (None, None, _) => Err(format!("`{}` has no label `{name}`", image.name)),
    }
}

fn count(image: &Image, wanted: &StaticCount) -> Result<usize, String> {
    let place = |label: &Option<String>, else_at: usize| match label {
        None => Ok(else_at),
        Some(label) => {
            let name = label.trim_end_matches('#');
            label_address(image, name)
        }
    };
    let from = place(&wanted.from, 0)?;
    let until = place(&wanted.until, image.words.len())?;
    let Some(words) = image.words.get(from..until) else {
        return Err(format!(
            "it begins at word {from} and ends before it, at {until}"
        ));
    };
    Ok(match wanted.of {
        CountedCode::Instructions => words.len(),
        CountedCode::References(unit) => words
            .iter()
            .filter_map(|&word| decode_in(word, image.target()).ok())
            .filter_map(|instruction| unit_of(&instruction))
            .filter(|&found| is_wanted(unit, found))
            .count(),
    })
}

fn unit_of(instruction: &Instruction) -> Option<Unit> {
    match instruction {
        Instruction::Command(command) => Some(command.op.info().unit),
        Instruction::CapFastWrite { .. } | Instruction::CapCsr(_) => Some(Unit::Cap),
        _ => None,
    }
}

fn is_wanted(wanted: Option<MemoryUnit>, unit: Unit) -> bool {
    match wanted {
        None => matches!(unit, Unit::Scratch | Unit::Sram | Unit::Dram),
        Some(MemoryUnit::Scratch) => unit == Unit::Scratch,
        Some(MemoryUnit::Sram) => unit == Unit::Sram,
        Some(MemoryUnit::Dram) => unit == Unit::Dram,
        Some(MemoryUnit::Hash) => unit == Unit::Hash,
        Some(MemoryUnit::Msf) => unit == Unit::Msf,
        Some(MemoryUnit::Cap) => unit == Unit::Cap,
    }
}
