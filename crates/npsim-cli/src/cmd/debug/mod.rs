//! `npsim debug`: the time-travel debugger.

pub mod opened;
mod script;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use npsim::problem::Problem;
use npsim_debug::Debugger;

use super::interrupt::{INTERRUPTED, Interrupt};
use super::run::system::SystemArguments;
use super::screens;
use crate::gdb;
use opened::{Disk, with_debugger};
use script::ScriptEnd;

const EXAMPLES: &str = "\
Examples:
  npsim debug microcode/router --load 1 --time 2ms
  npsim debug microcode/tutorial/wire8.uc --load 0.5 --script steps.txt --batch
  echo 'break wire8.uc:46
  continue
  names' | npsim debug microcode/tutorial/wire8.uc --load 0.5 --batch

`help` lists the commands, `npsim docs debugger` has an example of each.";

/// Debug a run forward and backward: breakpoints, values, writers, reasons for waits
///
/// The run is set up with the options of `npsim run` and is identical each time. On a
/// terminal, a screen shows source, contexts, values and a console, and is driven by keys
/// (`?` lists them). With --script or --batch, or without a terminal, commands are read
/// from a script, then from standard input.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Project file, its folder, one `.uc`, or assembled firmware
    target: PathBuf,
    /// Execute the commands in FILE first, one per line
    ///
    /// Lines that begin with `;` are comments. A command that fails ends the
    /// debugger with exit code 1.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Exit after the script; without --script, read the script from standard input
    #[arg(long)]
    batch: bool,
    /// Wait on this port for gdb, which debugs the core's program forward and backward
    ///
    /// `:1234` is a port on this machine, `:0` any free port. In gdb-multiarch:
    /// `file slow.elf`, `target remote :1234`. Console commands are available as `monitor COMMAND`.
    #[arg(long, value_name = "[HOST]:PORT", conflicts_with_all = ["script", "batch"])]
    gdb: Option<String>,
    /// Megabytes of memory for past states; with more, stepping back is faster
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    memory: u64,
    #[command(flatten)]
    pub system: SystemArguments,
}

impl Arguments {
    /// The target to debug, and the memory budget in bytes.
    pub fn target(&self) -> (&Path, usize) {
        (&self.target, self.memory as usize * 1_000_000)
    }
}

fn screen(debugger: Debugger, disk: &Disk, stop: Arc<AtomicBool>) -> anyhow::Result<()> {
    let sources = |file: &str| disk.source(file);
    npsim_terminal::run(debugger, &sources, screens::theme(), stop)
        .map_err(|error| Problem::new(format!("the terminal cannot be used: {error}")).into())
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let (target, memory) = arguments.target();
    let disk = Disk::of(target);
    let done = with_debugger(&arguments.system, target, memory, |mut debugger| {
        if let Some(address) = &arguments.gdb {
            // Ctrl-C here ends the debugger; Ctrl-C in gdb interrupts the run.
            let sources = move |file: &str| disk.source(file);
            gdb::serve(debugger, address, Box::new(sources))?;
            return Ok(ScriptEnd::Done);
        }
        // Up to here, Ctrl-C ends the process immediately.
        let interrupt = Interrupt::catch();
        let stop = interrupt.flag();
        if arguments.script.is_none() && !arguments.batch && screens::has_screen() {
            screen(debugger, &disk, stop)?;
            return Ok(ScriptEnd::Done);
        }
        // The first Ctrl-C ends a search but not the debugger.
        debugger.set_interrupt_check(move |_| stop.swap(false, Ordering::Relaxed));
        let sources = |file: &str| disk.source(file);
        let end = match &arguments.script {
            Some(path) => script::file(&mut debugger, &sources, path)?,
            None if arguments.batch => script::standard_input(&mut debugger, &sources, &interrupt)?,
            None => ScriptEnd::Done,
        };
        if !arguments.batch && end != ScriptEnd::Quit {
            script::console(&mut debugger, &sources, &interrupt)?;
            return Ok(ScriptEnd::Done);
        }
        Ok(end)
    })?;
    Ok(match done {
        Some(ScriptEnd::Interrupted) => ExitCode::from(INTERRUPTED),
        Some(ScriptEnd::Done | ScriptEnd::Quit) => ExitCode::SUCCESS,
        None => ExitCode::from(1),
    })
}
