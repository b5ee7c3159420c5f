//! `npsim lsp`: the language server.

use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use lsp_server::Connection;

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
    /// Accepted because some editors pass it; there is no other way
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn run(_: &Arguments) -> anyhow::Result<ExitCode> {
    let (connection, threads) = Connection::stdio();
    let result = crate::lsp::serve(&connection);
    // The writer ends with the last sender.
    drop(connection);
    threads.join()?;
    result.map_err(|error| anyhow!("the editor's connection broke: {error}"))?;
    Ok(ExitCode::SUCCESS)
}
