//! The `npsim` command under its own name in this package, for tests that run captures
//! through it: cargo builds binaries only for the tests of their own package.

use std::process::ExitCode;

fn main() -> ExitCode {
    npsim_cli::main(std::env::args_os())
}
