//! No output of a run takes the place of what the run reads, or of another output,
//! and none pretends to be of another format.

use std::path::{Path, PathBuf};

use npsim::assemble::Program;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::whole_file::{is_standard_output, same_file};

use super::Arguments;
use super::report;
use crate::cmd::destinations::{self, Output};

/// Refuses a capture that is to be of another format than what is written. `--out`
/// writes frames as they leave, and the form of pcap in which a run can be resumed.
fn keep_format(path: &Path) -> Result<(), Problem> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let lower = name.to_ascii_lowercase();
    let other = [".pcapng", ".ntar", ".gz"]
        .into_iter()
        .find(|ending| lower.ends_with(ending));
    let Some(ending) = other else {
        return Ok(());
    };
    let stem = &name[..name.len() - ending.len()];
    let stem = stem.strip_suffix(".pcap").unwrap_or(stem);
    Err(Problem::new(format!(
        "--out writes pcap, and `{}` is to be something else",
        path.display()
    ))
    .help(format!(
        "name it `{stem}.pcap`; other programs turn it into what ends in `{ending}`"
    )))
}

/// What is about one chip, of which each router writes its own.
fn of_each_router(arguments: &Arguments) -> impl Iterator<Item = (&'static str, &PathBuf)> {
    let dumps = arguments.dump.iter().map(|dump| ("--dump", &dump.file));
    let observers = &arguments.observers;
    dumps
        .chain(observers.streams())
        .chain(observers.at_the_end())
}

/// Gives standard output to the output that asks for it.
///
/// # Errors
/// It cannot have it.
pub fn claim(arguments: &Arguments) -> Result<(), Problem> {
    let out = arguments
        .out
        .iter()
        .map(|path| Output::binary("--out", path));
    let stats = { arguments.stats.iter() }.map(|path| Output::text("--stats", path));
    let own = of_each_router(arguments).map(|(option, path)| Output::text(option, path));
    let summary = Output::text("--format json", Path::new("-"));
    let summary = (arguments.format.is_json() && !arguments.quiet).then_some(summary);
    let outputs: Vec<_> = out.chain(stats).chain(own).chain(summary).collect();
    let several = arguments.chain.hops() > 1;
    let mut own = of_each_router(arguments).filter(|_| several);
    if let Some((option, _)) = own.find(|(_, path)| is_standard_output(path)) {
        return Err(Problem::new(format!(
            "several routers cannot write {option} to one standard output"
        ))
        .help("name a file: each router writes one of its own"));
    }
    destinations::claim(&["run"], &outputs)
}

/// Finds out before the run whether what is written after it can be written.
///
/// # Errors
/// It cannot.
pub fn try_places(arguments: &Arguments) -> Result<(), Problem> {
    destinations::try_places(arguments.stats.iter().map(PathBuf::as_path))?;
    for router in arguments.chain.all() {
        if let Some(folder) = &arguments.report {
            report::try_place(&router.folder(folder))?;
        }
        let dumps = arguments.dump.iter().map(|dump| &dump.file);
        let files = dumps.chain(arguments.observers.at_the_end().map(|(_, path)| path));
        let files: Vec<_> = files.map(|path| router.file(path)).collect();
        destinations::try_places(files.iter().map(PathBuf::as_path))?;
    }
    Ok(())
}

/// Refuses an output that would take the place of what the run reads, or of the
/// other output.
pub fn keep_inputs(
    arguments: &Arguments,
    project: &Project,
    programs: &[Program],
) -> Result<(), Problem> {
    arguments.out.as_deref().map_or(Ok(()), keep_format)?;
    let sources = programs.iter().flat_map(|program| {
        let files = program.sources.files().iter();
        files
            .map(|file| PathBuf::from(&file.path))
            .chain([program.source.clone()])
            .map(|path| (path, "a source"))
    });
    let files = project.text.files.iter().cloned();
    let file = files.map(|path| (path, "the project file"));
    let trace = arguments
        .system
        .trace
        .clone()
        .map(|path| (path, "the capture"));
    let inputs: Vec<_> = sources.chain(file).chain(trace).collect();
    let mut outputs: Vec<(&str, &PathBuf)> = Vec::new();
    outputs.extend(arguments.out.iter().map(|path| ("--out", path)));
    let checkpoint = arguments.saving.checkpoint();
    outputs.extend(checkpoint.map(|path| ("--checkpoint", path)));
    outputs.extend(arguments.stats.iter().map(|path| ("--stats", path)));
    let mut own = Vec::new();
    for router in arguments.chain.all() {
        let page = arguments.report.as_deref();
        own.extend(page.map(|folder| ("--report", report::page_path(&router.folder(folder)))));
        let files = of_each_router(arguments);
        own.extend(files.map(|(option, path)| (option, router.file(path))));
    }
    outputs.extend(own.iter().map(|(option, path)| (*option, path)));
    keep_apart(&inputs, &outputs)
}

/// Refuses an output, by its option, that would take the place of an input or of another output.
pub fn keep_apart(inputs: &[(PathBuf, &str)], outputs: &[(&str, &PathBuf)]) -> Result<(), Problem> {
    for &(option, path) in outputs {
        if let Some((_, what)) = inputs.iter().find(|(input, _)| same_file(input, path)) {
            return Err(Problem::new(format!(
                "{option} `{}` would overwrite {what} of this run",
                path.display()
            ))
            .help("give the output another name"));
        }
    }
    for (at, (option, path)) in outputs.iter().enumerate() {
        let before = outputs[..at]
            .iter()
            .find(|(_, other)| same_file(other, path));
        if let Some((other, first)) = before {
            return Err(Problem::new(format!(
                "{other} and {option} both write `{}`",
                first.display()
            ))
            .help("give one of them another name"));
        }
    }
    Ok(())
}
