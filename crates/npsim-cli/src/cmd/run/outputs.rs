//! The outputs of a run, and the files that they must not overwrite.

use std::path::Path;

use npsim::assemble::Program;
use npsim::atomic_file::is_standard_output;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim_net::egress::{CaptureFormat, CapturePort, Position, TraceSink};
use npsim_net::pace::Survey;

use super::Arguments;
use crate::cmd::continued_outputs::{OutputContinuation, incomplete_checkpoint};
use crate::cmd::dates::{show_date, year};
use crate::cmd::destinations::{self, OutputOption};
use crate::cmd::file_forms::{CAPTURE, DUMP, JSON, UART};

/// The outputs for a single chip, which each router writes for itself.
fn of_each_router(arguments: &Arguments) -> impl Iterator<Item = OutputOption> {
    let dumps = arguments.dump.iter();
    let dumps = dumps.map(|dump| OutputOption::new("--dump", &dump.file, &DUMP).written_late());
    let uart = arguments.uart.iter();
    let uart = uart.map(|file| OutputOption::new("--uart", file, &UART).written_late());
    arguments.observers.outputs().chain(dumps).chain(uart)
}

/// All outputs.
fn outputs(arguments: &Arguments) -> Vec<OutputOption> {
    let mut all = Vec::new();
    all.extend({ arguments.out.iter() }.map(|path| OutputOption::new("--out", path, &CAPTURE)));
    all.extend(arguments.saving.output());
    all.extend(
        { arguments.stats.iter() }
            .map(|path| OutputOption::new("--stats", path, &JSON).written_late()),
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

/// Reserves standard output for the output that claims it.
///
/// # Errors
/// Returns an error if it cannot be reserved.
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

/// Rejects an output that would overwrite an input or another output, and one that cannot be
/// written.
///
/// # Errors
/// Returns an error for the first such output.
pub fn check(
    arguments: &Arguments,
    project: &Project,
    programs: &[Program],
) -> Result<(), Problem> {
    let mut inputs = destinations::files_of(project, programs);
    let trace = arguments.system.trace.clone();
    inputs.extend(trace.map(|path| (path, "the capture")));
    let outputs = outputs(arguments);
    destinations::check_overwrites(&inputs, &outputs)?;
    destinations::check_writable(&outputs)
}

/// The ports of a project, as a capture describes them.
pub fn capture_ports(project: &Project) -> Vec<CapturePort> {
    let ports = project.boot.ports.iter().enumerate();
    ports
        .map(|(number, port)| CapturePort::port(number, port.bits_per_second))
        .collect()
}

/// The capture of departures, at the position where it starts or continues.
///
/// # Errors
/// Returns an error if it cannot be written, or if the checkpoint has no position for it.
pub fn capture(
    arguments: &Arguments,
    project: &Project,
    continuation: OutputContinuation<'_, Option<Position>>,
) -> Result<Option<TraceSink>, Problem> {
    let Some(path) = arguments.out.as_deref() else {
        return Ok(None);
    };
    let form = CaptureFormat::of_name(path).unwrap_or(CaptureFormat::Pcap);
    if arguments.comments && form == CaptureFormat::Pcap {
        return Err(Problem::new(format!(
            "a classic pcap has no place for comments, and `{}` would be one",
            path.display()
        ))
        .help("let the name end in .pcapng"));
    }
    let ports = capture_ports(project);
    let sink = match continuation {
        OutputContinuation::NotKept => TraceSink::create(path, form, &ports),
        OutputContinuation::FromStart => TraceSink::create_resumable(path, form, &ports),
        OutputContinuation::From(Some(position)) => TraceSink::resume(path, form, &ports, position),
        OutputContinuation::From(None) => return Err(incomplete_checkpoint("captures")),
    };
    sink.map(|sink| Some(sink.with_comments(arguments.comments)))
        .map_err(|error| Problem::io("write", path, &error))
}

/// Rejects an output capture whose format cannot hold the times of the replayed capture, which begin
/// at that capture's first time.
///
/// # Errors
/// Returns an error if it cannot hold them.
pub fn check_times(out: Option<&Path>, survey: Option<&Survey>) -> Result<(), Problem> {
    let (Some(path), Some(survey)) = (out, survey) else {
        return Ok(());
    };
    let form = CaptureFormat::of_name(path).unwrap_or(CaptureFormat::Pcap);
    let last_ns = survey.first_timestamp_ns + (survey.plan.end_ps() / 1_000) as i128;
    let latest_ns = form.latest_ns();
    if survey.first_timestamp_ns >= 0 && last_ns <= i128::from(latest_ns) {
        return Ok(());
    }
    let problem = Problem::new(format!(
        "the capture's times, from {} to {}, do not fit into `{}`: {} has times from 1970 to {}",
        show_date(survey.first_timestamp_ns),
        show_date(last_ns),
        path.display(),
        match form {
            CaptureFormat::Pcap => "a classic pcap",
            CaptureFormat::PcapNg => "a pcapng with nanoseconds",
        },
        year(i128::from(latest_ns)),
    ));
    let fits_other =
        survey.first_timestamp_ns >= 0 && last_ns <= i128::from(CaptureFormat::PcapNg.latest_ns());
    Err(if fits_other {
        problem.help("let the name end in .pcapng, or set the capture's times right with `editcap -t SECONDS`")
    } else {
        problem
            .help("set the capture's times right with `editcap -t SECONDS`, or leave `--out` out")
    })
}
