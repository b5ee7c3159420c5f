//! The output after a run.

use std::path::PathBuf;
use std::process::ExitCode;

use npsim::advisories;
use npsim::assemble::Program;
use npsim::atomic_file::write_atomically;
use npsim::bottleneck::{self, Analysis};
use npsim::diagnostics::{render_fault, render_problem};
use npsim::memory_dump::{self, DumpRange};
use npsim::observe::set::{Observations, ObserverSet};
use npsim::observed_run::ObservedRun;
use npsim::problem::Problem;
use npsim::registers;
use npsim::report::{FaultReport, NodeReport, Report};
use npsim::run_limits::endless_run_problem;
use npsim::session::{Node, Session};
use npsim::simulation::Ending;
use npsim::summary::summary;
use npsim::traffic::TrafficSource;
use npsim::xscale::Processor;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_net::pace::Pace;

use super::super::interrupt::INTERRUPTED;
use super::super::page_file;
use super::{Arguments, report};
use crate::output;

/// A completed run.
pub struct Ended<'a> {
    pub arguments: &'a Arguments,
    pub source: &'a TrafficSource<'a>,
    pub session: Session,
    pub ending: Ending,
    /// The observers of each node.
    pub observers: Vec<ObserverSet>,
    /// The memories to write, and their files.
    pub dumps: Vec<(DumpRange, &'a PathBuf)>,
    /// The host time that the run took, in seconds.
    pub host_seconds: f64,
    /// Whether no end was given, so that a run that does not end by itself is abandoned.
    pub open_end: bool,
}

impl Ended<'_> {
    /// Writes the files, prints the summary, and reports what went wrong.
    pub fn report(mut self) -> anyhow::Result<ExitCode> {
        let arguments = self.arguments;
        let report = self.session.stats();
        // A file that cannot be written must not hide a fault, so it is reported last.
        let stats_written = match &arguments.stats {
            Some(path) => npsim::stats_file::write(path, &report)
                .map_err(|error| Problem::io("write", path, &error)),
            None => Ok(()),
        };
        let dumps_written = self.write_dumps();
        let observers = std::mem::take(&mut self.observers).into_iter();
        let observed = observers.zip(self.session.nodes());
        let observed: Vec<_> = observed
            .map(|(set, node)| set.finish(node.chip()))
            .collect();
        let (analyses, pages_written) = self.pages(&report, &observed);
        let files_written = stats_written
            .and(dumps_written)
            .and(self.write_uart())
            .and(pages_written);
        print_capture_notes(self.source);
        let hertz = self.session.project().capacity.hertz;
        let timeline_start = arguments.observers.timeline_start(hertz);
        let end = self.session.nodes().iter().map(Node::now).max();
        let window = timeline_start.zip(end);
        if let Some(remark) = window.and_then(|(from, end)| advisories::of_window(from, end)) {
            output::line(&format!("note: {remark}"));
        }
        if !self.is_quiet() {
            if arguments.format.is_json() {
                output::print(&npsim::stats_file::to_json(&report)?)?;
            } else {
                output::print_text(&summary(&report, Some(self.host_seconds), output::width()))?;
            }
            let told = analyses.iter().filter(|_| !arguments.format.is_json());
            for (router, analysis) in arguments.chain.all().zip(told) {
                let text = bottleneck::as_text(analysis);
                output::print_text(&format!("\n{}{text}", router.prefix()))?;
            }
            hints(arguments, &report, &self.session);
            show_halts(arguments, &report);
        }
        let races = self.races(&observed);
        let watched = self.show(observed);
        if let Some((at, Ending::Fault(fault))) = self.session.ending() {
            show_faults(at, fault, &report, &self.session);
            return fault_exit_code(files_written, watched);
        }
        if !races.is_empty() {
            show_races(&races, &self.session);
            return fault_exit_code(files_written, watched);
        }
        files_written?;
        watched?;
        if let Some(reason) = self.session.nodes().iter().find_map(Node::unread) {
            return Err(capture_changed(reason).into());
        }
        if self.open_end && self.ending == Ending::Reached {
            return Err(endless_run_problem().into());
        }
        if self.ending == Ending::Interrupted {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Whether the summary is suppressed.
    fn is_quiet(&self) -> bool {
        self.arguments.quiet
    }

    fn write_dumps(&self) -> Result<(), Problem> {
        for (router, node) in self.arguments.chain.all().zip(self.session.nodes()) {
            for (range, file) in &self.dumps {
                let (text, file) = (memory_dump::text(node.chip(), range), router.file(file));
                write_atomically(&file, text.as_bytes())
                    .map_err(|error| Problem::io("write", &file, &error))?;
            }
        }
        Ok(())
    }

    /// Writes the UART output of the cores' programs.
    fn write_uart(&self) -> Result<(), Problem> {
        let Some(file) = &self.arguments.uart else {
            return Ok(());
        };
        for (router, node) in self.arguments.chain.all().zip(self.session.nodes()) {
            let Some(processor) = node.chip().gpp().task::<Processor>() else {
                continue;
            };
            let (uart, file) = (processor.uart(), router.file(file));
            write_atomically(&file, uart.sent())
                .map_err(|error| Problem::io("write", &file, &error))?;
            if uart.lost() > 0 {
                let (kept, lost) = (uart.sent().len(), uart.lost());
                output::line(&format!(
                    "note: {} has the first {kept} bytes that were sent, {lost} more are not kept",
                    file.display()
                ));
            }
        }
        Ok(())
    }

    /// The bottleneck of each node and the result of writing its page, if pages are requested.
    fn pages(
        &self,
        report: &Report,
        observed: &[Observations],
    ) -> (Vec<Analysis>, Result<(), Problem>) {
        let Some(folder) = &self.arguments.report else {
            return (Vec::new(), Ok(()));
        };
        let nodes = self.session.nodes().iter().zip(&report.nodes);
        let seen = nodes.zip(observed).filter_map(|((node, own), observed)| {
            let system = (self.session.project(), self.session.programs());
            let seen = ObservedRun::of(system, (own, node.traffic()), observed)?;
            Some((seen, report::settings(self.arguments, report, own)))
        });
        let seen: Vec<_> = seen.collect();
        let analyses: Vec<_> = seen.iter().map(|(seen, _)| seen.analysis()).collect();
        let mut routers = self.arguments.chain.all().zip(seen.iter().zip(&analyses));
        let written = routers.try_for_each(|(router, ((seen, settings), analysis))| {
            let page = seen.page(analysis, settings).map_err(Into::into);
            page_file::write(&router.folder(folder), page)
        });
        (analyses, written)
    }

    /// The races found, as faults, unless the user allows them.
    fn races(&self, observed: &[Observations]) -> Vec<Fault> {
        if self
            .arguments
            .system
            .machine
            .allow
            .contains(&Check::LostUpdate)
        {
            return Vec::new();
        }
        let project = self.session.project();
        let routers = self.arguments.chain.all().zip(observed);
        let faults = routers.flat_map(|(router, seen)| {
            let races = seen.races.iter().flatten();
            races.map(move |race| {
                let longword = race.longword;
                let name = project.name_of(&longword.memory.to_string(), longword.address);
                let mut fault = race.fault(name.as_deref());
                fault.message = format!("{}{}", router.prefix(), fault.message);
                fault
            })
        });
        faults.collect()
    }

    /// Writes and prints the observations.
    fn show(&self, observed: Vec<Observations>) -> anyhow::Result<()> {
        let (arguments, programs) = (self.arguments, self.session.programs());
        let mut routers = arguments.chain.all().zip(observed);
        routers.try_for_each(|(router, seen)| {
            let options = &arguments.observers;
            let quiet = self.is_quiet() || arguments.format.is_json();
            options.show(seen, router, programs, quiet)
        })
    }
}

/// Shows the fault of the first router that has one, and which other routers have one.
fn show_faults(at: usize, fault: &Fault, report: &Report, session: &Session) {
    let nodes = session.nodes();
    if nodes.len() > 1 {
        output::line(&format!("\nrouter {}:", at + 1));
    }
    let state = nodes.get(at).map(Node::state_report);
    let own = report.nodes.get(at).and_then(|node| node.fault.as_ref());
    show_fault(fault, session.programs(), &state.unwrap_or_default(), own);
    for (other, behind) in (1..).zip(nodes).skip(at + 1) {
        if let Some(Ending::Fault(fault)) = behind.ending() {
            output::line(&format!(
                "note: router {other} was stopped too, at cycle {}",
                fault.cycle
            ));
        }
    }
}

/// The number of races shown in full.
const RACES_SHOWN: usize = 5;

/// Shows the first races found, and their total number.
fn show_races(races: &[Fault], session: &Session) {
    for fault in races.iter().take(RACES_SHOWN) {
        output::line("");
        output::message(&render_fault(fault, session.programs()));
    }
    let more = races.len().saturating_sub(RACES_SHOWN);
    if more > 0 {
        output::line(&format!("note: {more} more pairs of places race"));
    }
}

/// Prints notes about the capture that was replayed.
fn print_capture_notes(source: &TrafficSource<'_>) {
    let Some(survey) = source.survey() else {
        return;
    };
    if survey.frames == 0 {
        output::line("note: the capture has no frames, so nothing arrives");
    }
    for remark in advisories::of_capture(survey) {
        output::line(&format!("note: {remark}"));
    }
}

/// The error for a capture of which only a part could be read.
fn capture_changed(reason: String) -> Problem {
    Problem::new(reason).note("the capture was intact when the run began, so it has changed since")
}

/// Shows where the microcode went wrong, and the state of each context at that time.
pub fn show_fault(
    fault: &Fault,
    programs: &[Program],
    state: &[String],
    report: Option<&FaultReport>,
) {
    output::line("");
    output::message(&render_fault(fault, programs));
    // The notes of a deadlock already contain these lines.
    for line in state.iter().filter(|line| !fault.notes.contains(line)) {
        output::line(line);
    }
    let report = report.filter(|report| !report.registers.is_empty());
    if let (Some(me), Some(context), Some(report)) = (fault.me, fault.context, report) {
        let since = { report.registers_at.as_ref() }
            .map_or_else(String::new, |place| format!(", now at {place}"));
        output::line(&format!(
            "registers of microengine {me} context {context}{since}:"
        ));
        for line in registers::as_text(&report.registers) {
            output::line(&line);
        }
    }
}

/// Shows the context at a breakpoint, and its registers.
fn show_halts(arguments: &Arguments, report: &Report) {
    for (router, node) in arguments.chain.all().zip(&report.nodes) {
        for halt in &node.halts {
            output::line(&format!(
                "\nnote: {}microengine {} was halted at cycle {} by context {} at {} (address {}), with all its contexts",
                router.prefix(),
                halt.me,
                halt.cycle,
                halt.context,
                halt.place,
                halt.pc
            ));
            for line in registers::as_text(&halt.registers) {
                output::line(&line);
            }
        }
    }
}

/// The exit code of a run with a fault, which takes precedence over files that could not be
/// written; those are reported too.
fn fault_exit_code(
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

/// Prints hints that may explain the results.
fn hints(arguments: &Arguments, report: &Report, session: &Session) {
    let mut lines = Vec::new();
    let nodes = report.nodes.iter().zip(session.nodes());
    for (router, (report, node)) in arguments.chain.all().zip(nodes) {
        let own = advisories::of_results(report, node.chip()).into_iter();
        lines.extend(own.map(|line| format!("{}{line}", router.prefix())));
    }
    let first = report.nodes.first().filter(|first| first.fault.is_none());
    lines.extend(first.and_then(|first| slow_arrivals(arguments, first)));
    for (i, line) in lines.iter().enumerate() {
        let gap = if i == 0 { "\n" } else { "" };
        output::line(&format!("{gap}note: {line}"));
    }
}

/// A hint for a capture with arrivals so slow that there was little to do.
fn slow_arrivals(arguments: &Arguments, report: &NodeReport) -> Option<String> {
    let as_captured = arguments.system.trace.is_some()
        && arguments.system.speed.is_none()
        && "trace"
            .parse()
            .is_ok_and(|pace: Pace| pace == arguments.system.pace);
    advisories::of_slow_arrivals(report).filter(|_| as_captured)
}
