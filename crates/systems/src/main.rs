//! The `npsim` command under a name of its own, for tests that run captures through it: cargo
//! builds a command for the tests of its own package alone.

use std::process::ExitCode;

fn main() -> ExitCode {
    npsim_cli::main(std::env::args_os())
}
