//! `npsim check-exercise`: runs a project and judges the run by the goals in its project file.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::docs::terminal_text;
use clap::Args;
use npsim::assemble::Program;
use npsim::bottleneck;
use npsim::diagnostics::render_fault;
use npsim::exercise::{ExerciseVerdict, JudgedRun, VerdictFile, judge_observed};
use npsim::observe::packets::Flows;
use npsim::observed_run::ObservedRun;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::project::goals::MeasureKind;

use super::destinations::{self, OutputOption};
use super::format::Format;
use super::page_file;
use super::run::observers::ObserverOptions;
use super::run::results::show_fault;
use super::run::routers::RunRouter;
use super::target_options::{Assembled, TargetOptions};
use super::value::folder;
use crate::output;

/// The width of the lines of a hint, in columns.
const COLUMNS: usize = 80;

const EXAMPLES: &str = "\
Examples:
  npsim check-exercise microcode/course/one-reader
  npsim check-exercise microcode/course/short-lock --report page --profile --packets rows.csv
  npsim check-exercise microcode/course/lost-additions --format json | jq '.goals[] | select(.passed | not)'

Exit codes: 0 all goals are met; 1 a goal is missed, or a mistake in a source or the
project; 2 wrong usage; 3 the microcode did in the run what a check forbids.";

/// Run a project and say which of its goals it meets
///
/// A goal is a [[goal]] section of the project file: a measurement, a bound, and a hint
/// that is shown if the goal is missed (`npsim docs project`). The traffic is that of the
/// project's [load]; without it, the run ends when no events are pending, or at a time limit.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A project file or its folder
    target: PathBuf,
    /// How results and messages are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    #[command(flatten)]
    pub options: TargetOptions,
    /// Write the run as one page, DIR/index.html, and print what limits it (`npsim docs report`)
    #[arg(long, value_name = "DIR", value_parser = folder())]
    report: Option<PathBuf>,
    // Kept last: it has a heading of its own, under which all following options would appear.
    #[command(flatten)]
    observers: ObserverOptions,
}

/// All outputs.
fn outputs(arguments: &Arguments) -> Vec<OutputOption> {
    let page = arguments.report.as_deref().map(OutputOption::page);
    { arguments.observers.outputs() }
        .chain(page)
        .chain(OutputOption::results(arguments.format, false))
        .collect()
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    destinations::claim(&["check-exercise"], &outputs(arguments))?;
    let Assembled {
        project,
        programs,
        errors,
    } = arguments.options.assemble(&arguments.target)?;
    let Some(programs) = programs else {
        if errors == 0 {
            return Err(
                Problem::new("there is nothing to run: no instruction was assembled").into(),
            );
        }
        return Ok(ExitCode::from(1));
    };
    let outputs = outputs(arguments);
    destinations::check_overwrites(&destinations::files_of(&project, &programs), &outputs)?;
    destinations::check_writable(&outputs)?;
    let flows = Flows::default();
    let mut wanted = arguments.observers.wanted(RunRouter::ALONE, &flows);
    if arguments.report.is_some() {
        wanted = wanted.and_report();
    }
    let entry = arguments.observers.flow_tap(&flows);
    let judged = judge_observed(&project, &programs, wanted, entry)?;
    let verdict = &judged.verdict;
    let file = VerdictFile::from(verdict);
    arguments.format.print(&file, || text(verdict))?;
    let code = print_verdict(verdict, &programs);
    show(arguments, &project, &programs, judged)?;
    Ok(code)
}

/// Writes and prints the observations of the run.
fn show(
    arguments: &Arguments,
    project: &Project,
    programs: &[Program],
    judged: JudgedRun,
) -> anyhow::Result<()> {
    let JudgedRun { session, seen, .. } = judged;
    let quiet = arguments.format.is_json();
    if let Some(folder) = &arguments.report {
        let report = session.stats();
        let settings = vec![("Project".to_owned(), arguments.target.display().to_string())];
        let seen = report.nodes.first().and_then(|own| {
            let traffic = session.node(0).traffic();
            ObservedRun::of((project, programs), (own, traffic), &seen)
        });
        if let Some(seen) = seen {
            let analysis = seen.analysis();
            if !quiet {
                output::print_text(&format!("\n{}", bottleneck::as_text(&analysis)))?;
            }
            let page = seen.page(&analysis, &settings).map_err(Into::into);
            page_file::write(folder, page)?;
        }
    }
    let observers = &arguments.observers;
    observers.show(seen, RunRouter::ALONE, programs, quiet)
}

/// Shows what went wrong in the run itself, and returns the exit code.
fn print_verdict(verdict: &ExerciseVerdict, programs: &[Program]) -> ExitCode {
    if let Some((fault, state, report)) = &verdict.fault {
        show_fault(fault, programs, state, report.as_ref());
        return ExitCode::from(3);
    }
    let raced = { verdict.goals.iter() }
        .any(|outcome| outcome.goal.kind == MeasureKind::Races && !outcome.passed());
    if let Some(race) = verdict.race.as_ref().filter(|_| raced) {
        output::line("");
        output::message(&render_fault(race, programs));
    }
    ExitCode::from(u8::from(!verdict.passed()))
}

/// Breaks a hint, which is a sentence or two, into lines.
fn hint(text: &str) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    terminal_text::wrapped(text, COLUMNS, "        hint: ", "              ")
}

/// The goals, one per line, with the hints of those that were missed.
fn text(verdict: &ExerciseVerdict) -> String {
    let mut text = String::new();
    let width = |of: fn(&npsim::exercise::GoalOutcome) -> String| {
        let widths = verdict.goals.iter().map(|it| of(it).chars().count());
        widths.max().unwrap_or(0)
    };
    let names = width(|it| it.goal.name.clone());
    let figures = width(npsim::exercise::GoalOutcome::figure_text);
    for outcome in &verdict.goals {
        let goal = &outcome.goal;
        let _ = writeln!(
            text,
            "{}  {:names$}  {:>figures$}  {}",
            if outcome.passed() { "passed" } else { "FAILED" },
            goal.name,
            outcome.figure_text(),
            outcome.bounds_text(),
        );
        if !outcome.passed() {
            let place = &goal.place;
            for line in hint(&goal.hint) {
                let _ = writeln!(text, "{line}");
            }
            let _ = writeln!(text, "        goal: {}:{}", place.path, place.line());
        }
    }
    let passed = verdict.goals.iter().filter(|it| it.passed()).count();
    let of = verdict.goals.len();
    let _ = match (&verdict.fault, passed == of) {
        (Some(_), _) => writeln!(text, "\n{}: a check stopped the run", verdict.project),
        (None, true) => writeln!(text, "\n{}: all {of} goals are met", verdict.project),
        (None, false) => writeln!(
            text,
            "\n{}: {passed} of {of} goals are met",
            verdict.project
        ),
    };
    text
}
