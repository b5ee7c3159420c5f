//! `npsim disasm`: words back to text.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

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
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    for part in npsim::firmware_file::read(&npsim::files::Disk, &arguments.file)? {
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
