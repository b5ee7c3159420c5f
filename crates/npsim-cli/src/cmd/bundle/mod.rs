//! `npsim bundle`: packs a command and its files into one file, and runs such files.

mod info;
mod make;
mod replay;

use std::process::ExitCode;

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  npsim bundle make -- run my-router --trace in.pcap --out out.pcap
  npsim bundle make -o fault.npsim-bundle -- asm firmware.uc
  npsim bundle info fault.npsim-bundle
  npsim bundle replay fault.npsim-bundle";

/// Pack a command and all files that it reads into one file, or run such a file again
///
/// For bug reports: the file reproduces the fault, byte for byte, on another machine.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Make(make::Arguments),
    Info(info::Arguments),
    Replay(replay::Arguments),
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Make(arguments) => make::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
    }
}
