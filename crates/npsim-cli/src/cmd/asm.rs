//! `npsim asm`: assembles sources into words.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use npsim::assemble::{Messages, Program, assemble_project_from};
use npsim::atomic_file::{is_standard_output, write_atomically};
use npsim::files::Disk;
use npsim::firmware_file::is_firmware;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim_image::file::{PlacedImage, set_to_file_bytes};
use npsim_net::compression::without_extension;
use serde::Serialize;

use super::destinations::{self, OutputOption};
use super::file_forms::FIRMWARE;
use super::format::Format;
use super::message_options::MessageOptions;
use super::source_options::SourceOptions;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim asm firmware.uc                    check it and say how large it is
  npsim asm firmware.uc --listing           words beside the source
  npsim asm firmware.uc -o firmware.npi    an image, which `npsim run` takes
  npsim asm firmware.uc -o firmware.hex    one word a line, ten hexadecimal digits
  npsim asm firmware.uc -o firmware.bin    five bytes a word, most significant first
  npsim asm microcode/forward --words      all programs of a project
  npsim asm microcode/forward -o all.npi   the images of all its microengines
  npsim asm all.npi --listing               what is in them
  npsim asm microcode/forward --me 1 -o tx.hex";

/// Assemble a source or all sources of a project
///
/// A single `.uc` is assembled in the default project, with the names defined there. The
/// programs of a project are separated by comment lines `; me 0: forward.uc`, which
/// `npsim disasm` also reads; a program that several microengines run is listed once.
/// TARGET, or any source of a project, may also be an image or a file of words
/// assembled earlier.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A `.uc` file, an image, a project file or its folder
    target: PathBuf,
    /// Write FILE as its extension says: .npi image, .list listing, .hex words as text, .bin five bytes per word
    ///
    /// A project's image file holds the images of all its microengines; the other
    /// formats hold one program. `-` writes an image to standard output.
    /// `npsim docs image-format` describes the format.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print a listing: addresses, words, instructions, symbols
    #[arg(long, alias = "list")]
    listing: bool,
    /// Print the words, ten hexadecimal digits per line
    #[arg(long)]
    words: bool,
    /// Write hexadecimal words with two leading parity bits, eleven digits per word
    #[arg(long)]
    parity: bool,
    /// Microengine to assemble for; in a project, only its program is assembled
    #[arg(long, value_name = "ID")]
    me: Option<u8>,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, conflicts_with_all = ["listing", "words"])]
    pub format: Format,
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    pub messages: MessageOptions,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let single = npsim::project::is_source(&arguments.target);
    let ids = arguments.me.filter(|_| single).map(|me| me.to_string());
    let output = { arguments.out.as_ref() }
        .map(|path| OutputOption::new("--out", path, &FIRMWARE).written_late());
    let outputs = output.as_slice();
    destinations::claim(&["asm"], outputs)?;
    destinations::check_extensions(outputs)?;
    let format = arguments.out.as_deref().map(format_of).transpose()?;
    destinations::check_writable(outputs)?;
    if arguments.parity && !arguments.words && !matches!(format, Some(OutputForm::Hex)) {
        return Err(
            Problem::new("`--parity` applies only to words in hexadecimal digits")
                .help("add `--words` or `-o FILE.hex`")
                .into(),
        );
    }
    let mut project = Project::load(
        &arguments.target,
        &arguments.source.overrides(ids),
        &npsim::registry(),
    )?;
    if let Some(me) = arguments.me {
        project.programs.retain(|program| program.me == me);
        if project.programs.is_empty() {
            return Err(Problem::new(format!("no source runs on microengine {me}"))
                .help("`npsim run TARGET --explain` shows which run where")
                .into());
        }
    }
    let (programs, messages) = assemble_project_from(&Disk, &project, &arguments.messages.lints());
    arguments.messages.show(&messages);
    let Some(programs) = programs else {
        return without_programs(arguments, &messages);
    };
    destinations::check_overwrites(&destinations::files_of(&project, &programs), outputs)?;
    let groups = group(programs);
    if let (Some(path), Some(format)) = (&arguments.out, format) {
        // A file for a single microengine does not record which one, so that it runs on any.
        let whole = !single && arguments.me.is_none();
        let whole = whole && (!is_firmware(&arguments.target) || groups.len() > 1);
        let bytes = format.bytes(&groups, whole, arguments.parity)?;
        write_atomically(path, &bytes).map_err(|error| Problem::io("write", path, &error))?;
    }
    if arguments.format.is_json() {
        let sizes = groups.iter().map(|(ids, program)| ProgramSize {
            source: program.source.display().to_string(),
            microengines: ids,
            words: program.image.words.len(),
            store: u64::from(project.profile.control_store_words()),
            imports: program.image.unresolved_imports(),
        });
        let sizes: Vec<_> = sizes.collect();
        output::show(&(serde_json::to_string_pretty(&sizes)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for (ids, program) in &groups {
        if arguments.listing || arguments.words {
            writeln!(text, "; me {}: {}", range(ids), program.source.display())?;
        }
        if arguments.listing {
            text.push_str(&npsim_image::listing(&program.image));
        }
        if arguments.words {
            text.push_str(&words(program, arguments.parity));
        }
        if !arguments.listing && !arguments.words {
            let store = project.profile.control_store_words();
            writeln!(
                text,
                "{}: {} of {store} words, microengine {}",
                program.source.display(),
                program.image.words.len(),
                range(ids)
            )?;
            let open = program.image.unresolved_imports();
            if !open.is_empty() {
                writeln!(text, "    imports without a value: {}", open.join(", "))?;
            }
        }
    }
    output::show(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The size of a program, as JSON.
#[derive(Serialize)]
struct ProgramSize<'a> {
    source: String,
    microengines: &'a [u8],
    words: usize,
    /// The capacity of the control store, in words.
    store: u64,
    /// Imports without a value.
    imports: Vec<&'a str>,
}

/// Macros alone are no error, but there is no program to write to a file.
fn without_programs(arguments: &Arguments, messages: &Messages) -> anyhow::Result<ExitCode> {
    match &arguments.out {
        _ if messages.errors > 0 => Ok(ExitCode::from(1)),
        None => Ok(ExitCode::SUCCESS),
        Some(path) => Err(Problem::new(format!(
            "there is nothing to write to `{}`: no instruction was assembled",
            path.display()
        ))
        .help("assemble a program that includes the macros; `npsim check` looks at macros alone")
        .into()),
    }
}

fn words(program: &Program, parity: bool) -> String {
    if parity {
        npsim_image::words_text_with_parity(&program.image)
    } else {
        npsim_image::words_text(&program.image)
    }
}

/// The format of an output file.
#[derive(Clone, Copy)]
enum OutputForm {
    Image,
    List,
    Hex,
    Binary,
}

impl OutputForm {
    /// The contents of the file; an image file of a `whole` project also records which microengine runs what.
    fn bytes(
        self,
        groups: &[(Vec<u8>, Program)],
        whole: bool,
        parity: bool,
    ) -> Result<Vec<u8>, Problem> {
        if whole && matches!(self, Self::Image) {
            let placed = groups.iter().map(|(ids, program)| PlacedImage {
                microengines: ids.clone(),
                image: program.image.clone(),
            });
            return Ok(set_to_file_bytes(&placed.collect::<Vec<_>>()));
        }
        let [(_, program)] = groups else {
            let ids: Vec<_> = groups
                .iter()
                .map(|(ids, program)| format!("{} on {}", program.source.display(), range(ids)))
                .collect();
            return Err(
                Problem::new("such a file holds one program, and the project has several")
                    .note(ids.join(", "))
                    .help("choose one with --me ID, or write all of them as an image with `-o FILE.npi`"),
            );
        };
        Ok(match self {
            Self::Image => program.image.to_file_bytes(),
            Self::List => npsim_image::listing(&program.image).into_bytes(),
            Self::Hex => words(program, parity).into_bytes(),
            Self::Binary => program.image.to_be_bytes(),
        })
    }
}

fn format_of(path: &Path) -> Result<OutputForm, Problem> {
    if is_standard_output(path) {
        return Ok(OutputForm::Image);
    }
    let plain = without_extension(path);
    match plain.extension().and_then(|extension| extension.to_str()) {
        Some("npi") => Ok(OutputForm::Image),
        Some("list") => Ok(OutputForm::List),
        Some("hex" | "txt") => Ok(OutputForm::Hex),
        Some("bin") => Ok(OutputForm::Binary),
        _ => Err(Problem::new(format!("the name `{}` does not say in which form to write it", path.display()))
            .help("use `.npi` (an image), `.list` (a listing), `.hex` (ten hexadecimal digits a line) or `.bin` (five bytes a word, most significant first)")),
    }
}

/// Groups programs with identical images.
fn group(programs: Vec<Program>) -> Vec<(Vec<u8>, Program)> {
    let mut groups: Vec<(Vec<u8>, Program)> = Vec::new();
    for program in programs {
        match groups
            .iter_mut()
            .find(|(_, other)| other.source == program.source && other.image == program.image)
        {
            Some((ids, _)) => ids.push(program.me),
            None => groups.push((vec![program.me], program)),
        }
    }
    groups
}

/// Formats numbers as ranges, such as `0-2,4`.
pub fn range(ids: &[u8]) -> String {
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
    fn numbers_are_grouped_into_ranges() {
        assert_eq!(super::range(&[0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
        assert_eq!(super::range(&[3]), "3");
    }
}
