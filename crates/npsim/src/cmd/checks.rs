//! `npsim checks`: what stops a run.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use npsim_chip::check::Check;

use crate::output;

/// List the checks that stop a run, for `npsim run --allow`
///
/// Silicon goes on where these stop; each finds a mistake that is hard to find
/// otherwise. Firmware that relies on one can be run with `--allow NAME`.
#[derive(Debug, Args)]
pub struct Arguments {}

pub fn run(_: &Arguments) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for check in Check::ALL {
        writeln!(text, "{:22} {}", check.name(), check.explanation())?;
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
