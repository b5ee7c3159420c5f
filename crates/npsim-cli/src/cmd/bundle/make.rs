//! `npsim bundle make`: packs a command and its files into one file.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim::atomic_file::is_standard_output;
use npsim::problem::Problem;
use npsim::quantity::grouped;

use crate::bundle;
use crate::cmd::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;

/// Run a command twice, the second time from copies of what it read, and pack those
///
/// The command may fail: that is what bundles are for. Its outputs are written as usual. The bundle contains every file
/// that was read, in full, and everything that was printed; review it before you share it.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Write the bundle to FILE
    #[arg(short, long, value_name = "FILE", default_value = "fault.npsim-bundle")]
    out: PathBuf,
    /// The command, without `npsim`
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Refuses to write a bundle to a terminal.
fn refuse_terminal() -> Result<(), Problem> {
    if io::stdout().is_terminal() {
        return Err(Problem::new("a terminal cannot show a bundle")
            .help("name a file, or send standard output to another program or a file"));
    }
    Ok(())
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if is_standard_output(&arguments.out) {
        refuse_terminal()?;
        output::reserve_stdout();
    }
    let stop = interrupt_flag();
    let Some(packed) = bundle::pack(&arguments.command, &arguments.out, &stop)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    for note in &packed.notes {
        output::line(&format!("note: {note}"));
    }
    let manifest = packed.manifest;
    let bytes = manifest.inputs.iter().map(|it| it.bytes).sum();
    let mut text = String::new();
    writeln!(
        text,
        "`npsim {}` ended with {}",
        manifest.request.command.join(" "),
        manifest.outcome.ended
    )?;
    writeln!(
        text,
        "{}: files read: {} ({} bytes), files written: {}",
        arguments.out.display(),
        manifest.inputs.len(),
        grouped(bytes),
        manifest.outcome.outputs.len()
    )?;
    output::print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}
