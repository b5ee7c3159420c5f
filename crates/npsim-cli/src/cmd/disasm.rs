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
/// FILE is an image, or has one word of ten hexadecimal digits (eleven with
/// parity) on each line, with `;` comments, or five bytes for each word, most
/// significant first; which of them is seen from the contents. A comment line
/// `; me ...` begins another program.
///
/// A word that is not a valid instruction, that leads out of the program, or that has something
/// in fields without effect, is shown as `.word`, with a comment that says why or what it does.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Image file, or words as text or binary
    file: PathBuf,
    /// Microengine whose program alone is shown, of a file that says for which each is
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
