//! `npsim lsp`: the language server.

use std::io::{BufReader, stdin, stdout};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  npsim lsp       started by the editor (editors/README.md)";

/// Serve an editor over standard input and output (Language Server Protocol)
///
/// Diagnostics while typing, hover, go to definition, completion, rename and an
/// outline for `.uc` sources.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Accepted because some editors pass it; standard input and output are always used
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn run(_: &Arguments) -> anyhow::Result<ExitCode> {
    crate::lsp::serve_streams(BufReader::new(stdin()), stdout())
        .map_err(|error| anyhow!("the editor's connection broke: {error}"))?;
    Ok(ExitCode::SUCCESS)
}
