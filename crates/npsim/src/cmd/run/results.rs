//! What is told and written of a run that is over.

use std::path::PathBuf;
use std::process::ExitCode;

use npsim::assemble::Program;
use npsim::bottleneck;
use npsim::diagnostics::{render_fault, render_problem};
use npsim::links::Traffic;
use npsim::memory_dump::{self, Range};
use npsim::observe::set::ObserverSet;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::remarks;
use npsim::report::Report;
use npsim::simulation::{Ending, Simulation};
use npsim::summary::summary;
use npsim::whole_file::write_whole;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::Fault;
use npsim_net::pace::Pace;

use super::super::interrupt::INTERRUPTED;
use super::source::Source;
use super::{Arguments, PATIENCE_MS, report};
use crate::output;

/// A run that is over.
pub struct Ended<'a> {
    pub arguments: &'a Arguments,
    pub project: &'a Project,
    pub programs: &'a [Program],
    pub source: &'a Source<'a>,
    pub simulation: Simulation,
    pub ending: Ending,
    pub traffic: Traffic,
    /// Why not all frames could be read.
    pub unread: Option<String>,
    /// What observed the run.
    pub observers: ObserverSet,
    /// Memories to write, and where.
    pub dumps: Vec<(Range, &'a PathBuf)>,
    /// How long the run took.
    pub host_seconds: f64,
    /// Whether only patience ends a run that does not come to rest.
    pub open_end: bool,
}

impl Ended<'_> {
    /// Writes the files, prints the summary, and tells what went wrong.
    pub fn tell(self) -> anyhow::Result<ExitCode> {
        let arguments = self.arguments;
        let fault = match &self.ending {
            Ending::Fault(fault) => Some(&**fault),
            _ => None,
        };
        let mut report = Report::new(
            &self.project.name,
            &self.ending,
            fault.and_then(|fault| place(fault, self.programs)),
            &self.traffic,
            self.simulation.stats(),
        );
        report.seed = arguments.seed;
        report.note_settings(self.project);
        report.load.clone_from(&self.source.load);
        // A file that cannot be written must not hide a fault: it is told last.
        let stats_written = match &arguments.stats {
            Some(path) => npsim::stats_file::write(path, &report)
                .map_err(|error| Problem::io("write", path, &error)),
            None => Ok(()),
        };
        let dumps_written = self.dumps.iter().try_for_each(|(range, file)| {
            let text = memory_dump::text(self.simulation.chip(), range);
            write_whole(file, text.as_bytes()).map_err(|error| Problem::io("write", file, &error))
        });
        let observed = self.observers.finish(self.simulation.chip());
        let seen = observed
            .flow
            .as_ref()
            .zip(observed.series.as_ref())
            .map(|(flow, series)| report::Seen {
                project: self.project,
                programs: self.programs,
                report: &report,
                traffic: &self.traffic,
                series,
                flow,
                moments: observed.moments.as_ref(),
                settings: report::settings(arguments, &report),
            });
        let analysis = seen.as_ref().map(report::Seen::analysis);
        let page_written = match (&seen, &analysis, &arguments.report) {
            (Some(seen), Some(analysis), Some(folder)) => seen.write(folder, analysis),
            _ => Ok(()),
        };
        let files_written = stats_written.and(dumps_written).and(page_written);
        tell_capture(self.source);
        let hertz = self.project.capacity.hertz;
        let shown_from = arguments.observers.shown_from(hertz);
        let end = self.simulation.now();
        if let Some(remark) = shown_from.and_then(|from| remarks::of_window(from, end)) {
            output::line(&format!("note: {remark}"));
        }
        if !arguments.quiet {
            output::print(&summary(&report, self.host_seconds))?;
            if let Some(analysis) = &analysis {
                output::print(&format!("\n{}", bottleneck::as_text(analysis)))?;
            }
            hints(arguments, &report, self.simulation.chip());
        }
        let watched = arguments
            .observers
            .show(observed, self.programs, arguments.quiet);
        if let Some(fault) = fault {
            show_fault(fault, self.programs, &self.simulation.state_report());
            return after_fault(files_written, watched);
        }
        files_written?;
        watched?;
        if let Some(reason) = self.unread {
            return Err(changed(reason).into());
        }
        if self.open_end && self.ending == Ending::Reached {
            return Err(restless().into());
        }
        if self.ending == Ending::Interrupted {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Says what a reader should know of the capture that was played.
pub fn tell_capture(source: &Source<'_>) {
    let Some(survey) = source.survey() else {
        return;
    };
    if survey.frames == 0 {
        output::line("note: the capture has no frames, so nothing arrives");
    }
    if let Some(remark) = remarks::of_capture(survey) {
        output::line(&format!("note: {remark}"));
    }
}

/// The capture could be read only in part.
pub fn changed(reason: String) -> Problem {
    Problem::new(reason).note("the capture was whole when the run began, so it has changed since")
}

/// Shows where the microcode went wrong, and what each context did then.
pub fn show_fault(fault: &Fault, programs: &[Program], state: &[String]) {
    let program = fault
        .me
        .and_then(|me| programs.iter().find(|program| program.me == me));
    output::line("");
    output::message(&render_fault(
        fault,
        program.map(|program| (&program.image, &program.sources)),
    ));
    // A deadlock's notes have these lines already.
    for line in state.iter().filter(|line| !fault.notes.contains(line)) {
        output::line(line);
    }
}

/// The end of a run with a fault, which counts for more than files that could
/// not be written; they are told too.
pub fn after_fault(
    files_written: Result<(), Problem>,
    watched: anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    if let Err(problem) = files_written {
        output::message(&render_problem(&problem));
    }
    if let Err(error) = watched {
        match error.downcast::<Problem>() {
            Ok(problem) => output::message(&render_problem(&problem)),
            Err(error) => return Err(error),
        }
    }
    Ok(ExitCode::from(3))
}

/// What may explain the results; a fault mostly explains itself.
fn hints(arguments: &Arguments, report: &Report, chip: &Chip) {
    // A lock that nobody releases may be why it came to the fault.
    let held = remarks::of_held_locks(report);
    if report.fault.is_some() {
        notes(held.into_iter());
        return;
    }
    let slow = slow_arrivals(arguments, report);
    let lines = remarks::of_frames_inside(report, chip);
    notes(lines.into_iter().chain(held).chain(slow));
}

/// Says so when a capture came so slowly that there was little to do.
pub fn slow_arrivals(arguments: &Arguments, report: &Report) -> Option<String> {
    let as_captured = arguments.speed.is_none()
        && "trace"
            .parse()
            .is_ok_and(|pace: Pace| pace == arguments.pace);
    remarks::of_slow_arrivals(report).filter(|_| as_captured)
}

/// Notes below the summary, set off from it.
pub fn notes(lines: impl Iterator<Item = String>) {
    for (i, line) in lines.enumerate() {
        let gap = if i == 0 { "\n" } else { "" };
        output::line(&format!("{gap}note: {line}"));
    }
}

fn restless() -> Problem {
    Problem::new(format!(
        "the program did not come to rest within {PATIENCE_MS} ms of simulated time"
    ))
    .help("say how long it is to run, such as `--until 1ms`, or give it traffic with `--trace IN.pcap` or `--load 0.5`")
}

fn place(fault: &Fault, programs: &[Program]) -> Option<String> {
    let program = programs
        .iter()
        .find(|program| Some(program.me) == fault.me)?;
    Some(program.image.place(fault.pc?))
}
