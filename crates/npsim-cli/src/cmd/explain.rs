//! `npsim explain`: shows what a line of microcode was assembled to.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use npsim::assemble::assemble_project_from;
use npsim::explain;
use npsim::files::Disk;
use npsim::problem::Problem;
use npsim::project::{Project, project_of};

use super::format::{self, Format};
use super::message_options::MessageOptions;
use super::source_options::SourceOptions;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim explain firmware.uc:12                      everything about the words of line 12
  npsim explain firmware.uc                         the whole file, one line a word
  npsim explain microcode/forward/forward.uc:99 --project microcode/forward
  npsim explain microcode/lib/turn.uc --project microcode/forward
                                                    the expansion of a macro, at every use
  npsim explain firmware.uc:12 --format json        the same for programs";

/// Explain a line of microcode: its words and their bits, meaning, registers, cost, hazards
///
/// A line that uses a macro covers all words of its expansion; a line in a macro covers
/// the words at every use. Timing is that of the project's chip. Without --project, the
/// project is an `npsim.toml` beside FILE or in a folder above that runs FILE, or else the
/// default project for a single source.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A source, and the line to explain
    #[arg(value_name = "FILE[:LINE]")]
    place: String,
    /// The project that FILE belongs to: its file or folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<PathBuf>,
    /// Microengine whose program to explain; all by default
    #[arg(long, value_name = "ID")]
    me: Option<u8>,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    pub messages: MessageOptions,
}

/// Splits `FILE:LINE` into file and line, unless a file of that whole name exists.
fn parse(place: &str) -> Result<(PathBuf, Option<u32>), Problem> {
    let whole = PathBuf::from(place);
    let Some((file, line)) = place.rsplit_once(':').filter(|_| !whole.exists()) else {
        return Ok((whole, None));
    };
    let numeric = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    match line.parse() {
        Ok(line) if line > 0 => Ok((PathBuf::from(file), Some(line))),
        _ if numeric => {
            Err(Problem::new(format!("no file has a line {line}")).help("lines count from 1"))
        }
        _ => Ok((whole, None)),
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let (file, line) = parse(&arguments.place)?;
    npsim_net::inputs::note_existence(&file);
    std::fs::metadata(&file).map_err(|error| Problem::io("read", &file, &error))?;
    let owner = || project_of(&Disk, &file).filter(|_| npsim::project::is_source(&file));
    let project = arguments.project.clone().or_else(owner);
    let ids = { arguments.me }.filter(|_| project.is_none());
    let ids = ids.map(|me| me.to_string());
    let target = project.as_deref().unwrap_or(&file);
    let mut project = Project::load(target, &arguments.source.overrides(ids), &npsim::registry())?;
    if let Some(me) = arguments.me {
        project.programs.retain(|program| program.me == me);
        if project.programs.is_empty() {
            return Err(Problem::new(format!("no source runs on microengine {me}")).into());
        }
    }
    let (programs, messages) = assemble_project_from(&Disk, &project, &arguments.messages.lints());
    if programs.is_none() {
        arguments.messages.show(&messages);
        return Ok(ExitCode::from(1));
    }
    let programs = programs.unwrap_or_default();
    let explanation = explain::explain(&programs, &project.profile, &file, line);
    if explanation.programs.is_empty() {
        return Err(no_instructions(arguments, &programs, &file, line).into());
    }
    match (arguments.format, line) {
        (Format::Json, _) => format::json(&explanation)?,
        (Format::Text, Some(_)) => output::print_text(&explain::full(&explanation))?,
        // Source lines are not folded.
        (Format::Text, None) => output::show(&explain::listing(&explanation))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The error for a place without instructions.
fn no_instructions(
    arguments: &Arguments,
    programs: &[npsim::assemble::Program],
    file: &Path,
    line: Option<u32>,
) -> Problem {
    let shown = file.display();
    let lines = explain::lines_with_code(programs, file);
    let Some(line) = line.filter(|_| !lines.is_empty()) else {
        let problem = Problem::new(format!("no line of `{shown}` produces a word"));
        return if arguments.project.is_none() {
            problem.help("say with --project which project includes it")
        } else {
            problem.help("does a source of the project include it, and use its macros?")
        };
    };
    let before = lines.iter().rev().find(|&&known| known < line);
    let after = lines.iter().find(|&&known| known > line);
    let near: Vec<_> = [before, after]
        .into_iter()
        .flatten()
        .map(u32::to_string)
        .collect();
    Problem::new(format!("line {line} of `{shown}` produces no word"))
        .note("directives, declarations, labels and comments produce none")
        .help(format!(
            "the nearest that does: line {}",
            near.join(" and line ")
        ))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn file_and_line_are_parsed() {
        let plain = |text: &str| {
            let (file, line) = parse(text).unwrap();
            (file.display().to_string(), line)
        };
        assert_eq!(plain("a.uc"), ("a.uc".into(), None));
        assert_eq!(plain("a.uc:12"), ("a.uc".into(), Some(12)));
        assert_eq!(plain("C:a.uc"), ("C:a.uc".into(), None));
        assert!(parse("a.uc:0").is_err());
        assert!(parse("a.uc:99999999999").is_err());
    }
}
