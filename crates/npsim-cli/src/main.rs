//! The `npsim` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    npsim_cli::main(std::env::args_os())
}
