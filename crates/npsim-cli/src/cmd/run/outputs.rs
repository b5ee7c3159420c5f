//! What a run writes, and what it must not write over.

use std::path::Path;

use npsim::assemble::Program;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::whole_file::is_standard_output;
use npsim_net::egress::{PcapSink, Position};

use super::Arguments;
use crate::cmd::destinations::{self, OutputOption};
use crate::cmd::keeping::{Keeping, lacks};

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
fn of_each_router(arguments: &Arguments) -> impl Iterator<Item = OutputOption> {
    let dumps = arguments.dump.iter();
    { arguments.observers.outputs() }
        .chain(dumps.map(|dump| OutputOption::text("--dump", &dump.file).at_the_end()))
}

/// All that is written.
fn outputs(arguments: &Arguments) -> Vec<OutputOption> {
    let mut all = Vec::new();
    all.extend({ arguments.out.iter() }.map(|path| OutputOption::binary("--out", path)));
    all.extend(arguments.saving.output());
    all.extend(
        { arguments.stats.iter() }.map(|path| OutputOption::text("--stats", path).at_the_end()),
    );
    for router in arguments.chain.all() {
        let page = arguments.report.as_deref();
        all.extend(page.map(|folder| OutputOption::page(&router.folder(folder))));
        for mut own in of_each_router(arguments) {
            own.path = router.file(&own.path);
            all.push(own);
        }
    }
    all.extend(OutputOption::results(arguments.format, arguments.quiet));
    all
}

/// Gives standard output to the output that asks for it.
///
/// # Errors
/// It cannot have it.
pub fn claim(arguments: &Arguments) -> anyhow::Result<()> {
    let several = arguments.chain.hops() > 1;
    let mut own = of_each_router(arguments).filter(|_| several);
    if let Some(own) = own.find(|own| is_standard_output(&own.path)) {
        return Err(Problem::new(format!(
            "several routers cannot write {} to one standard output",
            own.option
        ))
        .help("name a file: each router writes one of its own")
        .into());
    }
    destinations::claim(&["run"], &outputs(arguments))
}

/// Refuses an output that would take the place of what the run reads, or of the
/// other output, and one that cannot be written.
///
/// # Errors
/// There is one.
pub fn check(
    arguments: &Arguments,
    project: &Project,
    programs: &[Program],
) -> Result<(), Problem> {
    arguments.out.as_deref().map_or(Ok(()), keep_format)?;
    let mut inputs = destinations::files_of(project, programs);
    let trace = arguments.system.trace.clone();
    inputs.extend(trace.map(|path| (path, "the capture")));
    let outputs = outputs(arguments);
    destinations::keep_apart(&inputs, &outputs)?;
    destinations::try_places(&outputs)
}

/// The capture of departures, at the place where it is to go on.
///
/// # Errors
/// It cannot be written, or the checkpoint has none.
pub fn capture(
    out: Option<&Path>,
    keeping: Keeping<'_, Option<Position>>,
) -> Result<Option<PcapSink>, Problem> {
    let Some(path) = out else {
        return Ok(None);
    };
    let sink = match keeping {
        Keeping::Not => PcapSink::create(path),
        Keeping::Begun => PcapSink::create_kept(path),
        Keeping::At(Some(position)) => PcapSink::resume(path, position),
        Keeping::At(None) => return Err(lacks("captures")),
    };
    sink.map(Some)
        .map_err(|error| Problem::io("write", path, &error))
}
