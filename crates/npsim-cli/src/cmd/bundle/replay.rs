//! `npsim bundle replay`: repeats a bundled command and compares the outcome.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;

use crate::bundle;
use crate::cmd::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;

/// Run the command of a bundle from its files in a temporary folder, and compare
///
/// The exit code is 0 if everything matches byte for byte: how the command ended, what it printed (except for the speed
/// of the host), and each file that it wrote; otherwise 1.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The bundle
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let opened = bundle::open(&arguments.file)?;
    let stop = interrupt_flag();
    let Some(differences) = opened.replay(&stop)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let outcome = &opened.manifest().outcome;
    let made = &opened.manifest().made_by.version;
    if differences.is_empty() {
        let outputs = outcome.outputs.len();
        output::print_text(&format!(
            "reproduced: {}, what was printed, and {outputs} written files are the same\n",
            outcome.ended
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut problem = Problem::new(format!(
        "`{}` is not reproduced: {}",
        arguments.file.display(),
        differences[0]
    ));
    for difference in &differences[1..] {
        problem = problem.note(difference.clone());
    }
    if opened.is_from_other_build() {
        problem = problem.help(format!(
            "another build of npsim made it ({made}); that build may still reproduce it"
        ));
    }
    Err(problem.into())
}
