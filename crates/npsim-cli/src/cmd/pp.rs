//! `npsim pp`: shows a preprocessed source.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim::assemble::{Messages, add_owner_note, options};
use npsim::files::Disk;
use npsim::firmware_file::is_firmware;
use npsim::includes::FileIncludes;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim_asm::SourceMap;

use super::source_options::{SourceOptions, show};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim pp firmware.uc | less
  npsim pp firmware.uc -D FAST
  npsim pp microcode/forward --me 2        with the names that the project defines for it";

/// Show a source after includes, conditions and macros
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A `.uc` file, a project file or its folder
    target: PathBuf,
    /// Microengine whose program to show
    #[arg(long, value_name = "ID")]
    me: Option<u8>,
    #[command(flatten)]
    source: SourceOptions,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let single = npsim::project::is_source(&arguments.target);
    let ids = arguments.me.filter(|_| single).map(|me| me.to_string());
    let mut project = Project::load(
        &arguments.target,
        &arguments.source.overrides(ids),
        &npsim::registry(),
    )?;
    if let Some(me) = arguments.me {
        project.programs.retain(|program| program.me == me);
    }
    let Some(program) = project.programs.first() else {
        return Err(Problem::new("no source runs on that microengine")
            .help("`npsim run TARGET --explain` shows which run where")
            .into());
    };
    if is_firmware(&program.source) {
        return Err(Problem::new(format!(
            "`{}` is assembled already and has no text to preprocess",
            program.source.display()
        ))
        .help("`npsim asm FILE --listing` shows what is in it")
        .into());
    }
    let mut sources = SourceMap::default();
    let mut diagnostics = Vec::new();
    let preprocessed = npsim_asm::front::preprocess::preprocess(
        &program.source.display().to_string(),
        &FileIncludes::new(&Disk, &project.include),
        &options(&project, program),
        &mut sources,
        &mut diagnostics,
    );
    output::print(&npsim_asm::front::preprocess::print_preprocessed(
        &preprocessed.lines,
        &sources,
    ))?;
    add_owner_note(&Disk, &project, program, &mut diagnostics);
    let mut messages = Messages::default();
    messages.add(&diagnostics, &sources);
    messages.add_owners(&Disk, &project);
    show(&messages);
    Ok(ExitCode::from(u8::from(messages.errors > 0)))
}
