//! `npsim asm`: sources to words.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use npsim::assemble::{Program, assemble_project_with};
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::whole_file::write_whole;

use super::message_options::MessageOptions;
use super::source_options::SourceOptions;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim asm firmware.uc                    check it and say how large it is
  npsim asm firmware.uc --list             words beside the source
  npsim asm firmware.uc -o firmware.hex    one word a line, ten hexadecimal digits
  npsim asm firmware.uc -o firmware.bin    five bytes a word, most significant first
  npsim asm microcode/forward --words      all programs of a project
  npsim asm microcode/forward --me 1 -o tx.hex";

/// Assemble a source or all sources of a project
///
/// A single `.uc` is assembled in the default project, with the names that it
/// defines. Words of a project are separated by comment lines `; me 0: forward.uc`,
/// which `npsim disasm` reads too; microengines with the same words are listed once.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// One `.uc`, a project file or its folder
    target: PathBuf,
    /// Write the words: FILE.hex as text, FILE.bin as five bytes a word
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print a listing: addresses, words, instructions, symbols
    #[arg(long)]
    list: bool,
    /// Print the words, ten hexadecimal digits a line
    #[arg(long)]
    words: bool,
    /// Only the program of this microengine of a project; for a single source: assemble it for this one
    #[arg(long, value_name = "ID")]
    me: Option<u8>,
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    pub messages: MessageOptions,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let single = npsim::project::is_source(&arguments.target);
    let ids = arguments.me.filter(|_| single).map(|me| me.to_string());
    let format = arguments.output.as_deref().map(format_of).transpose()?;
    let mut project = Project::load(&arguments.target, &arguments.source.overrides(ids))?;
    if let Some(me) = arguments.me {
        project.programs.retain(|program| program.me == me);
        if project.programs.is_empty() {
            return Err(Problem::new(format!("no source runs on microengine {me}"))
                .help("`npsim run TARGET --explain` shows which run where")
                .into());
        }
    }
    let (programs, messages) = assemble_project_with(&project, &arguments.messages.lints());
    arguments.messages.show(&messages);
    let Some(programs) = programs else {
        return Ok(ExitCode::from(1));
    };
    let groups = group(programs);
    if let (Some(path), Some(format)) = (&arguments.output, format) {
        let [(_, program)] = groups.as_slice() else {
            let ids: Vec<_> = groups
                .iter()
                .map(|(ids, program)| format!("{} on {}", program.source.display(), range(ids)))
                .collect();
            return Err(
                Problem::new("an image holds one program, and the project has several")
                    .note(ids.join(", "))
                    .help("choose one with --me ID")
                    .into(),
            );
        };
        write_whole(path, &format.bytes(program))
            .map_err(|error| Problem::io("write", path, &error))?;
    }
    let mut text = String::new();
    for (ids, program) in &groups {
        if arguments.list || arguments.words {
            writeln!(text, "; me {}: {}", range(ids), program.source.display())?;
        }
        if arguments.list {
            text.push_str(&npsim_asm::listing(&program.image));
        }
        if arguments.words {
            text.push_str(&npsim_asm::words_text(&program.image));
        }
        if !arguments.list && !arguments.words {
            let store = project.profile.control_store_words();
            writeln!(
                text,
                "{}: {} of {store} words, microengine {}",
                program.source.display(),
                program.image.words.len(),
                range(ids)
            )?;
        }
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// How an image file is written.
#[derive(Clone, Copy)]
enum Format {
    Hex,
    Binary,
}

impl Format {
    fn bytes(self, program: &Program) -> Vec<u8> {
        match self {
            Self::Hex => npsim_asm::words_text(&program.image).into_bytes(),
            Self::Binary => program.image.to_be_bytes(),
        }
    }
}

fn format_of(path: &Path) -> Result<Format, Problem> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("hex" | "txt") => Ok(Format::Hex),
        Some("bin") => Ok(Format::Binary),
        _ => Err(Problem::new(format!("the name `{}` does not say in which form to write it", path.display()))
            .help("use `.hex` (ten hexadecimal digits a line) or `.bin` (five bytes a word, most significant first)")),
    }
}

/// Programs with the same words together.
fn group(programs: Vec<Program>) -> Vec<(Vec<u8>, Program)> {
    let mut groups: Vec<(Vec<u8>, Program)> = Vec::new();
    for program in programs {
        match groups.iter_mut().find(|(_, other)| {
            other.source == program.source && other.image.words == program.image.words
        }) {
            Some((ids, _)) => ids.push(program.me),
            None => groups.push((vec![program.me], program)),
        }
    }
    groups
}

/// `0-2,4`.
fn range(ids: &[u8]) -> String {
    let mut parts: Vec<(u8, u8)> = Vec::new();
    for &id in ids {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == id => *last = id,
            _ => parts.push((id, id)),
        }
    }
    let parts: Vec<_> = parts
        .iter()
        .map(|(a, b)| {
            if a == b {
                a.to_string()
            } else {
                format!("{a}-{b}")
            }
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn ranges() {
        assert_eq!(super::range(&[0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
        assert_eq!(super::range(&[3]), "3");
    }
}
