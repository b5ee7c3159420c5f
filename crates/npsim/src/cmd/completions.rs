//! `npsim completions`: completion scripts for shells.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim completions bash > ~/.local/share/bash-completion/completions/npsim
  npsim completions zsh > ~/.zfunc/_npsim
  npsim completions fish > ~/.config/fish/completions/npsim.fish";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut crate::Arguments::command(),
        "npsim",
        &mut script,
    );
    output::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
