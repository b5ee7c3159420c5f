//! No output of a run takes the place of what the run reads, or of another output,
//! and none pretends to be of another format.

use std::path::{Path, PathBuf};

use npsim::assemble::Program;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::whole_file::same_file;

use super::Arguments;
use super::report;

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
        let dumps = arguments.dump.iter().map(|dump| ("--dump", &dump.file));
        let files = dumps.chain(arguments.observers.outputs());
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
