//! `npsim fmt`: formats sources in the layout of the project.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use npsim::atomic_file::write_atomically;
use npsim::includes::{Encoding, decode};
use npsim::problem::{Problem, Problems};
use npsim_asm::format::{format as laid_out, syntax_error};
use serde::Serialize;

use super::format::{self, Format};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim fmt firmware.uc
  npsim fmt microcode                      every `.uc` of the folder and of those in it
  npsim fmt --check microcode              changes nothing; says which files would change
  npsim fmt - < old.uc > new.uc";

/// Lay out sources: indentation, white space between operands, columns of comments
///
/// Only white space changes; no statement is moved, wrapped or changed. A line with a syntax
/// error is left alone in a macro or in a part that `#if` excludes. A source with such a line
/// elsewhere is not written, unless the line has a name whose definition may supply what is
/// missing; `npsim check` gives the details.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Sources, or folders of sources; `-` formats standard input
    #[arg(required = true, value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// Write nothing; list the files that would change, and exit with code 1 if there are any
    #[arg(long)]
    check: bool,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut different = Vec::new();
    let mut problems = Problems(Vec::new());
    for path in &arguments.paths {
        if path.as_os_str() == "-" {
            different.extend(stdin(arguments)?);
            continue;
        }
        let mut files = Vec::new();
        match std::fs::metadata(path).map_err(|error| unreadable(path, &error))? {
            it if it.is_dir() => sources(path, &mut files)?,
            _ if is_microcode_file(path) => files.push(path.clone()),
            _ => {
                let message = format!(
                    "`{}` does not have the name of a microcode source",
                    path.display()
                );
                let help = "sources end in .uc, .h, .inc or .mac; `npsim fmt -` takes any text";
                return Err(Problem::new(message).help(help).into());
            }
        }
        if files.is_empty() {
            return Err(
                Problem::new(format!("`{}` contains no microcode source", path.display())).into(),
            );
        }
        for file in files {
            match format_file(&file, arguments) {
                Ok(changed) => different.extend(changed),
                // The other files are still formatted.
                Err(error) => problems.0.push(error.downcast::<Problem>()?),
            }
        }
    }
    if arguments.check && arguments.format.is_json() {
        format::json(&different)?;
    }
    if !problems.0.is_empty() {
        return Err(problems.into());
    }
    if arguments.check && !different.is_empty() {
        let files = if different.len() == 1 {
            "file is"
        } else {
            "files are"
        };
        output::line(&format!(
            "{} {files} not formatted; run `npsim fmt`",
            different.len()
        ));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a file is a source, or a file that sources include. Any other file was probably named
/// by mistake, and could not be restored.
fn is_microcode_file(path: &Path) -> bool {
    let known = ["uc", "h", "inc", "mac"];
    let extension = path.extension().and_then(std::ffi::OsStr::to_str);
    extension.is_some_and(|it| known.iter().any(|known| it.eq_ignore_ascii_case(known)))
}

/// Formats a file; returns what changed.
fn format_file(path: &Path, arguments: &Arguments) -> anyhow::Result<Option<Different>> {
    npsim_net::inputs::note_read(path);
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    let name = path.display().to_string();
    let encoding = Encoding::of(&bytes);
    let text = decode(bytes);
    let formatted = formatted(&text, &name)?;
    if formatted == text {
        return Ok(None);
    }
    let different = Different::of(&name, &text, &formatted);
    if arguments.check {
        different.report(arguments.format)?;
        return Ok(Some(different));
    }
    write_atomically(path, &encoding.encode(formatted))
        .map_err(|error| Problem::new(format!("cannot write `{}`: {error}", path.display())))?;
    Ok(Some(different))
}

fn stdin(arguments: &Arguments) -> anyhow::Result<Option<Different>> {
    npsim_net::inputs::note_standard_input();
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let encoding = Encoding::of(&bytes);
    let text = decode(bytes);
    let formatted = formatted(&text, "standard input")?;
    let different = Different::of("-", &text, &formatted);
    if !arguments.check {
        // Printed unfiltered: escape sequences in comments are part of the source.
        let mut out = std::io::stdout().lock();
        out.write_all(&encoding.encode(formatted.clone()))
            .and_then(|()| out.flush())
            .context("cannot write to standard output")?;
    } else if formatted != text {
        different.report(arguments.format)?;
    }
    Ok((formatted != text).then_some(different))
}

/// A file whose layout differs.
#[derive(Serialize)]
struct Different {
    file: String,
    /// The first line that differs.
    line: usize,
    /// The number of lines that differ; 0 if only the newline at the end is missing.
    lines: usize,
}

impl Different {
    /// The difference between a text and its formatted form.
    fn of(name: &str, text: &str, formatted: &str) -> Self {
        let pairs = text.split('\n').zip(formatted.split('\n'));
        let changed: Vec<usize> = (1..)
            .zip(pairs)
            .filter(|(_, (old, new))| old != new)
            .map(|(number, _)| number)
            .collect();
        Self {
            file: name.to_owned(),
            line: { changed.first().copied() }.unwrap_or(text.split('\n').count()),
            lines: changed.len(),
        }
    }

    /// Reports a file to people; for programs, all files are reported together.
    fn report(&self, format: Format) -> anyhow::Result<()> {
        let told = match self.lines {
            0 => "the last line has no newline".to_owned(),
            1 => "this line".to_owned(),
            lines => format!("{lines} lines, the first is this one"),
        };
        match format {
            Format::Text => output::print(&format!("{}:{}: {told}\n", self.file, self.line)),
            Format::Json => Ok(()),
        }
    }
}

/// Collects all sources below a folder, in order of their names.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(|error| unreadable(folder, &error))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry
            .file_type()
            .map_err(|error| unreadable(&path, &error))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden {
            sources(&path, files)?;
        } else if !kind.is_dir() && npsim::project::is_source(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// The formatted source; one with a syntax error is left alone, since its meaning is unclear.
fn formatted(text: &str, name: &str) -> Result<String, Problem> {
    let Some(error) = syntax_error(text) else {
        return Ok(laid_out(text));
    };
    let before = &text[..error.primary.span.lo as usize];
    let line = 1 + before.matches('\n').count();
    let message = format!("`{name}` is left as it is: line {line}: {}", error.message);
    let help = error.help.unwrap_or_else(|| "correct the line".to_owned());
    Err(Problem::new(message).help(help))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("cannot read `{}`: {error}", path.display()))
}
