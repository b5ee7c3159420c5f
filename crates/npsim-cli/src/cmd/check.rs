//! `npsim check`: reports the errors in sources, and nothing else.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::format::Format;
use super::target_options::TargetOptions;

const EXAMPLES: &str = "\
Examples:
  npsim check firmware.uc
  npsim check microcode/forward --deny-warning all
  npsim check firmware.uc --message-format json

Exit codes: 0 no errors; 1 errors; 2 wrong usage.";

/// Check a source or all sources of a project without making anything
///
/// The messages are those of `npsim asm`; a single `.uc` is checked in the default project.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A `.uc` file, a project file or its folder
    target: PathBuf,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    #[command(flatten)]
    pub options: TargetOptions,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let assembled = arguments.options.assemble(&arguments.target)?;
    Ok(ExitCode::from(u8::from(assembled.errors > 0)))
}
