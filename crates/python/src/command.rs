//! The `npsim` command, which the package provides.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Run the command with these arguments, the first of which is its name, and return its exit code.
///
/// A usage error ends the process.
#[pyfunction]
#[pyo3(name = "_command")]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| npsim_cli::main(arguments));
    (0..=u8::MAX)
        .find(|&number| ExitCode::from(number) == code)
        .unwrap_or(1)
}
