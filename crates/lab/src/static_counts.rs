//! Numbers taken from programs instead of runs: how many instructions a piece of
//! code has, and how many commands to each unit.

use npsim_image::Image;
use npsim_isa::{Instruction, Unit, decode_in};
use npsim_project::assemble::Program;

use crate::metric::{MemoryUnit, Metric, Quantity};
use crate::microengines::{Stages, named};

/// What a metric counts in programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Words of the control store.
    Instructions,
    /// Commands to memories, or to one unit.
    References(Option<MemoryUnit>),
}

/// What can be counted in code, for `of`.
pub const COUNTED: [&str; 2] = ["instructions", "references"];

/// Whether a metric needs no run.
#[must_use]
pub(crate) fn is_static(metric: &Metric) -> bool {
    metric.measure == Quantity::Code
}

/// The value of a metric of code.
///
/// # Errors
/// There is no such microengine or label, or the microengines that it names run
/// different programs in which the numbers differ.
pub fn value(metric: &Metric, programs: &[Program], stages: &Stages) -> Result<f64, String> {
    let counted = match metric.of.first().map(String::as_str) {
        Some("references") => Counted::References(metric.unit),
        _ => Counted::Instructions,
    };
    let me = metric.me.as_deref().unwrap_or_default();
    let mut found = None;
    for index in named(me, stages)? {
        let program = programs
            .iter()
            .find(|program| program.me == index)
            .ok_or_else(|| format!("microengine {index} runs nothing"))?;
        let number = count(&program.image, metric, counted)?;
        if *found.get_or_insert(number) != number {
            return Err(format!(
                "the microengines {me} run different programs: microengine {index} has {number} of them"
            ));
        }
    }
    found
        .map(|number| number as f64)
        .ok_or_else(|| format!("no microengine is `{me}`"))
}

/// Where a label is. One of a macro that is used once has a number behind its name
/// and a dot, which need not be given.
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

fn count(image: &Image, metric: &Metric, counted: Counted) -> Result<usize, String> {
    let place = |label: &Option<String>, else_at: usize| match label {
        None => Ok(else_at),
        Some(label) => {
            let name = label.trim_end_matches('#');
            label_address(image, name)
        }
    };
    let from = place(&metric.from, 0)?;
    let until = place(&metric.until, image.words.len())?;
    let Some(words) = image.words.get(from..until) else {
        return Err(format!(
            "it begins at word {from} and ends before it, at {until}"
        ));
    };
    Ok(match counted {
        Counted::Instructions => words.len(),
        Counted::References(unit) => words
            .iter()
            .filter_map(|&word| decode_in(word, image.contexts.encoding()).ok())
            .filter_map(|instruction| unit_of(&instruction))
            .filter(|&found| means(unit, found))
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

fn means(wanted: Option<MemoryUnit>, unit: Unit) -> bool {
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
