//! What stands at a line of microcode: the words it became, their bits, what
//! they mean, what they cost and what to beware of.

mod cost;
mod hazards;
mod names;
mod text;

use std::path::Path;

use npsim_image::{FlowGraph, Image, Origin};
use npsim_isa::{Format, Instruction};
use npsim_profile::Profile;
use npsim_project::assemble::Program;
use npsim_project::files::canonical;
use serde::Serialize;

pub use cost::{CommandCost, Cost, costs};
pub use names::ExplainedName;
pub use text::{full, listing};

/// The format of [`Explanation`] as JSON.
pub const SCHEMA: &str = "npsim-explain-1";

/// What a line of source, or a whole file, became.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Name and version of the format.
    pub schema: &'static str,
    /// The chip whose timing counts.
    pub chip: String,
    /// The file.
    pub file: String,
    /// The line, if one was asked for.
    pub line: Option<u32>,
    /// Programs that have something of it.
    pub programs: Vec<ProgramPart>,
}

/// What a program has of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramPart {
    /// Microengines that run it.
    pub microengines: Vec<u8>,
    /// The main source.
    pub source: String,
    /// The words, in order of address.
    pub words: Vec<ExplainedWord>,
}

/// A bit field of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BitField {
    /// `39..36` or `12`.
    pub bits: String,
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: u64,
    /// What it holds.
    pub meaning: &'static str,
}

/// A step of the way from the source to a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainStep {
    /// The macro that was used here; `None` where the instruction itself stands.
    pub used: Option<String>,
    /// File.
    pub file: String,
    /// Line.
    pub line: u32,
    /// The line's text.
    pub text: String,
}

/// A word of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedWord {
    /// Word address.
    pub address: u16,
    /// Ten hexadecimal digits.
    pub word: String,
    /// Labels that stand here.
    pub labels: Vec<String>,
    /// Canonical assembly.
    pub instruction: String,
    /// What it does; absent for a word that is not a valid instruction.
    pub meaning: Option<&'static str>,
    /// The syntax.
    pub syntax: Option<&'static str>,
    /// The word format.
    pub format: Option<&'static str>,
    /// The bits, from the top down.
    pub fields: Vec<BitField>,
    /// From the outermost macro use to the line where it stands.
    pub way: Vec<ExplainStep>,
    /// Registers by the names that the source gave them.
    pub registers: Vec<ExplainedName>,
    /// Signals by their names.
    pub signals: Vec<ExplainedName>,
    /// What it costs.
    pub cost: Cost,
    /// The command that it sends.
    pub command: Option<CommandCost>,
    /// What to beware of, a sentence each.
    pub beware: Vec<String>,
}

/// Explains a file, or one line of it, in all programs that have it. Programs
/// with equal words and source are explained once.
#[must_use]
pub fn explain(
    programs: &[Program],
    profile: &Profile,
    file: &Path,
    line: Option<u32>,
) -> Explanation {
    let mut parts: Vec<(&Program, ProgramPart)> = Vec::new();
    for program in programs {
        let known = parts
            .iter_mut()
            .find(|(other, _)| other.source == program.source && other.image == program.image);
        if let Some((_, part)) = known {
            part.microengines.push(program.me);
            continue;
        }
        let words = words(program, profile, file, line);
        if !words.is_empty() {
            let part = ProgramPart {
                microengines: vec![program.me],
                source: program.source.display().to_string(),
                words,
            };
            parts.push((program, part));
        }
    }
    Explanation {
        schema: SCHEMA,
        chip: profile.name().to_owned(),
        file: file.display().to_string(),
        line,
        programs: parts.into_iter().map(|(_, part)| part).collect(),
    }
}

/// The lines of a file that became words in some program, in order.
#[must_use]
pub fn lines_with_words(programs: &[Program], file: &Path) -> Vec<u32> {
    let mut lines: Vec<u32> = programs
        .iter()
        .flat_map(|program| {
            let found = files(&program.image, file);
            let origins = program.image.origins.iter();
            origins
                .flat_map(|origin| way(&program.image, origin))
                .filter(move |place| found.contains(&place.file))
                .map(|place| place.line)
        })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// A program's instructions, decoded.
struct DecodedProgram<'a> {
    program: &'a Program,
    profile: &'a Profile,
    flow: FlowGraph,
}

impl DecodedProgram<'_> {
    fn at(&self, address: usize) -> Option<&Instruction> {
        self.flow.instruction(u16::try_from(address).ok()?)
    }

    fn image(&self) -> &Image {
        &self.program.image
    }

    /// Whether a label stands at an address, so that control may come from
    /// elsewhere.
    fn is_entered(&self, address: usize) -> bool {
        let mut labels = self.image().labels.iter();
        labels.any(|label| usize::from(label.address) == address)
    }
}

fn words(
    program: &Program,
    profile: &Profile,
    file: &Path,
    line: Option<u32>,
) -> Vec<ExplainedWord> {
    let image = &program.image;
    let found = files(image, file);
    let code = DecodedProgram {
        program,
        profile,
        flow: FlowGraph::of(image),
    };
    let mut words = Vec::new();
    for (address, origin) in image.origins.iter().enumerate() {
        let here = way(image, origin)
            .into_iter()
            .any(|place| found.contains(&place.file) && line.is_none_or(|line| place.line == line));
        if here && address < image.words.len() {
            words.push(word(&code, address));
        }
    }
    words
}

/// Indices of an image's files that are this one.
fn files(image: &Image, file: &Path) -> Vec<u32> {
    let wanted = canonical(file);
    let files = (0..).zip(&image.files);
    files
        .filter(|(_, path)| canonical(Path::new(path)) == wanted)
        .map(|(index, _)| index)
        .collect()
}

/// The places that a word comes from, the instruction's own first.
fn way(image: &Image, origin: &Origin) -> Vec<Origin> {
    let mut places = vec![*origin];
    let mut expansion = origin.expansion;
    while let Some(used) = expansion.and_then(|index| image.expansions.get(index as usize)) {
        places.push(used.call);
        expansion = used.call.expansion;
    }
    places
}

fn word(code: &DecodedProgram<'_>, address: usize) -> ExplainedWord {
    let image = code.image();
    let bits = image.words[address];
    let instruction = code.at(address);
    let text = instruction.map_or_else(
        || "not a valid instruction".to_owned(),
        std::string::ToString::to_string,
    );
    let row = instruction.map(Instruction::row);
    let format = Format::of(bits).map(Format::info);
    let mut fields: Vec<_> = format.map_or(&[][..], |format| format.fields).to_vec();
    fields.sort_by_key(|info| std::cmp::Reverse(info.field.lo));
    let steps = steps(code, address);
    let source: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
    ExplainedWord {
        address: address as u16,
        word: format!("{bits:010X}"),
        labels: image
            .labels
            .iter()
            .filter(|label| usize::from(label.address) == address)
            .map(|label| label.name.clone())
            .collect(),
        meaning: row.map(|row| row.doc),
        syntax: row.map(|row| row.syntax),
        format: format.map(|format| format.title),
        fields: fields
            .into_iter()
            .map(|info| BitField {
                bits: match (info.field.lo, info.field.lo + info.field.width - 1) {
                    (lo, high) if lo == high => lo.to_string(),
                    (lo, high) => format!("{high}..{lo}"),
                },
                name: info.field.name,
                value: info.field.get(bits),
                meaning: info.doc,
            })
            .collect(),
        registers: names::registers(image, address as u16, &source),
        signals: names::signals(image, address as u16, &source),
        cost: cost::cost(&code.flow, code.profile, address as u16),
        command: instruction.and_then(|instruction| cost::command(code.profile, instruction)),
        beware: hazards::hazards(code, address),
        way: steps,
        instruction: text,
    }
}

/// From the outermost macro use to the instruction.
fn steps(code: &DecodedProgram<'_>, address: usize) -> Vec<ExplainStep> {
    let image = code.image();
    let Some(origin) = image.origins.get(address) else {
        return Vec::new();
    };
    let mut steps = Vec::new();
    let mut used: Option<String> = None;
    let mut place = *origin;
    loop {
        let file = image
            .files
            .get(place.file as usize)
            .map_or("?", String::as_str);
        steps.push(ExplainStep {
            used: used.take(),
            file: file.to_owned(),
            line: place.line,
            text: source_line(code.program, file, place.line),
        });
        let Some(expansion) = place
            .expansion
            .and_then(|index| image.expansions.get(index as usize))
        else {
            break;
        };
        used = Some(expansion.name.clone());
        place = expansion.call;
    }
    steps.reverse();
    steps
}

/// A line's text without the space around it; empty if it is not at hand.
fn source_line(program: &Program, file: &str, line: u32) -> String {
    let files = program.sources.files().iter();
    files
        .filter(|known| known.path == file)
        .find_map(|known| known.text.lines().nth(line.checked_sub(1)? as usize))
        .unwrap_or_default()
        .trim()
        .to_owned()
}
