//! `npsim disasm`: disassembles words.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;

use super::asm::range;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim disasm firmware.npi
  npsim disasm firmware.hex
  npsim disasm firmware.bin > firmware.uc
  npsim asm microcode/forward --words > all.txt && npsim disasm all.txt";

/// Show words as canonical assembly, which assembles to the same words again
///
/// FILE is an image, text with one word of ten hexadecimal digits (eleven with
/// parity) per line and `;` comments, or binary with five bytes per word, most
/// significant first; the format is detected from the contents. A comment line
/// `; me ...` begins another program.
///
/// A word that would not assemble to itself, such as one that is no valid instruction, branches
/// out of the program or sets fields without effect, is shown as `.word`, with a comment that
/// gives the reason.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Image file, or words as text or binary
    file: PathBuf,
    /// Microengine whose program to show, if FILE records microengines
    #[arg(long, value_name = "ID")]
    me: Option<u8>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut parts = npsim::firmware_file::read(&npsim::files::Disk, &arguments.file)?;
    let file = arguments.file.display();
    if let Some(me) = arguments.me {
        parts.retain(|part| part.microengines.contains(&me));
        if parts.is_empty() {
            return Err(
                Problem::new(format!("`{file}` has no program for microengine {me}"))
                    .help("`npsim disasm FILE` shows all programs, each with its microengines")
                    .into(),
            );
        }
    }
    if parts.len() > 1 {
        output::line(&format!(
            "{} programs; each assembles by itself (`--me ID` shows one of them)",
            parts.len()
        ));
    }
    for part in parts {
        let title = part.title.or_else(|| {
            let ids = &part.microengines;
            (!ids.is_empty()).then(|| format!("; me {}: {}", range(ids), part.image.name))
        });
        if let Some(title) = title {
            output::print(&format!("{title}\n"))?;
        }
        output::print(&npsim_image::disassemble(&part.image))?;
    }
    Ok(ExitCode::SUCCESS)
}
