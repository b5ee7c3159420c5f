//! Exercises: runs of a project, judged by the goals in its file. Every figure that a goal bounds
//! comes from the statistics of the run or from an existing check.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::kernel::check::Fault;
use npsim_chip::kernel::port_io::Departure;
use npsim_engine::ENGINE;
use npsim_net::order::identify::{FlowId, stamped_flow};
use npsim_net::order::{Sequences, THRESHOLD};
use npsim_observe::races::Race;
use npsim_observe::set::{Observations, ObserverConfig};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::goals::{Goal, LatencyOf, Measure, MeasureKind, UnitKind};
use npsim_project::load::{generator, resolved};
use npsim_project::problem::Problem;
use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};
use npsim_session::links::Tap;
use npsim_session::memory_dump;
use npsim_session::report::{FaultReport, Report};
use npsim_session::session::{Endpoints, Plan, Session};
use npsim_session::simulation::{Ending, RunSettings};
use serde::Serialize;

/// Simulated milliseconds after which a run without traffic is stopped.
const PATIENCE_MS: u64 = 100;
/// The factor by which a run without traffic may exceed the time that a goal allows, to show by
/// how much the goal is missed.
const PATIENCE_OVER_GOAL: u64 = 100;
/// The most cycles that a context executes if it only reads its number and stops.
const MAX_IDLE_CONTEXT_CYCLES: u64 = 16;
/// Microseconds for which the media interface must be idle after the last frame.
const DRAIN_US: u64 = 100;

/// The result of a run of an exercise.
#[derive(Debug)]
pub struct ExerciseVerdict {
    /// The project's name.
    pub project: String,
    /// How the run ended, in the wording of the stats file.
    pub ending: &'static str,
    /// The cycle at which it ended.
    pub cycles: Cycle,
    /// The goals, in file order.
    pub goals: Vec<GoalOutcome>,
    /// The fault that stopped the run, the state of each context at that time, and the fault
    /// report.
    pub fault: Option<(Box<Fault>, Vec<String>, Option<FaultReport>)>,
    /// The first race found, as a fault, if a goal forbids races.
    pub race: Option<Fault>,
}

/// A goal and the run's figure for it.
#[derive(Clone, Debug)]
pub struct GoalOutcome {
    /// The goal.
    pub goal: Goal,
    /// The figure, in the unit of the goal's bounds.
    ///
    /// # Errors
    /// The reason, in a few words, if there is no figure.
    pub figure: Result<u64, &'static str>,
}

impl GoalOutcome {
    /// Whether the goal is met.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.figure.is_ok_and(|figure| self.goal.is_met(figure))
    }

    /// The figure, formatted for people.
    #[must_use]
    pub fn figure_text(&self) -> String {
        match self.figure {
            Ok(figure) => quantity(&self.goal.measure, figure),
            Err(why) => why.to_owned(),
        }
    }

    /// The bounds, formatted for people.
    #[must_use]
    pub fn bounds_text(&self) -> String {
        let text = |bound| quantity(&self.goal.measure, bound);
        match (self.goal.least, self.goal.most) {
            (Some(least), Some(most)) if least == most => format!("exactly {}", text(least)),
            (Some(least), Some(most)) => format!("{} to {}", text(least), text(most)),
            (Some(least), None) => format!("at least {}", text(least)),
            (None, Some(most)) => format!("at most {}", text(most)),
            (None, None) => String::new(),
        }
    }
}

impl ExerciseVerdict {
    /// Whether no fault stopped the run and all goals are met.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.fault.is_none() && self.goals.iter().all(GoalOutcome::passed)
    }
}

/// Formats a number with its unit.
fn quantity(measure: &Measure, figure: u64) -> String {
    match measure {
        Measure::FrameRate => format!("{}.{:03} Mpps", figure / 1_000_000, figure / 1000 % 1000),
        Measure::BitRate => show_rate(figure as f64),
        Measure::Latency(_) => show_nanoseconds(figure as f64),
        Measure::Time | Measure::Cycles(_) | Measure::Held(_) => {
            format!("{} cycles", grouped(figure))
        }
        _ => grouped(figure),
    }
}

/// Records the order in which stamped frames leave.
#[derive(Clone, Default)]
struct Departures(Arc<Mutex<Vec<(Cycle, FlowId, u64)>>>);

impl Tap for Departures {
    fn departed(&mut self, departure: &Departure<'_>) {
        if let Some((flow, sequence)) = stamped_flow(departure.bytes) {
            let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            left.push((departure.end, flow, sequence));
        }
    }
}

impl Departures {
    /// The number of packets that left after a later one of their flow; `None` if no generated
    /// traffic left.
    fn reordered(&self) -> Option<u64> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Ports transmit concurrently, and a frame is reported when it begins to leave.
        left.sort_by_key(|(end, ..)| *end);
        let mut sequences = Sequences::counted();
        for (_, flow, sequence) in left.iter() {
            sequences.note(flow.clone(), *sequence);
        }
        (!left.is_empty()).then(|| sequences.total(THRESHOLD).reordered)
    }
}

/// A run judged by its goals, with everything observed during it.
#[derive(Debug)]
pub struct JudgedRun {
    /// The verdict.
    pub verdict: ExerciseVerdict,
    /// The run, which has ended.
    pub session: Session,
    /// The observations.
    pub seen: Observations,
}

/// Runs a project and judges the run by its goals.
///
/// # Errors
/// As for [`judge_observed`].
pub fn judge(project: &Project, programs: &[Program]) -> Result<ExerciseVerdict, Problem> {
    let judged = judge_observed(project, programs, ObserverConfig::default(), None)?;
    Ok(judged.verdict)
}

/// Like [`judge`], with observers, and with a tap on the frames that arrive.
///
/// The traffic is the project's `[load]`. Without one, the run continues until no events are
/// pending, within a limit that depends on its goal for time.
///
/// # Errors
/// Returns an error if the project has no goals, its load does not fit its ports, or its programs
/// do not fit the chip.
pub fn judge_observed(
    project: &Project,
    programs: &[Program],
    observers: ObserverConfig,
    entry: Option<Box<dyn Tap + Send>>,
) -> Result<JudgedRun, Problem> {
    let goals = &project.goals;
    if goals.is_empty() {
        return Err(
            Problem::new(format!("`{}` has no goals", project.text.path))
                .help("give it [[goal]] sections, or run it with `npsim run`"),
        );
    }
    let load = project
        .load
        .clone()
        .filter(|load| load.rate.is_some())
        .map(|load| resolved(load, project));
    let comes = load.is_some();
    let departures = Departures::default();
    let wants = |kind| goals.iter().any(|goal| goal.kind == kind);
    let ends = Endpoints {
        frames: match &load {
            Some(load) => Some(Box::new(generator(load, project)?.map(Ok))),
            None => None,
        },
        exit: wants(MeasureKind::Reordered).then(|| Box::new(departures.clone()) as Box<_>),
        entry,
        load,
        ..Endpoints::default()
    };
    let plan = Plan::one(project.clone(), programs, settings(project, comes));
    let mut session = Session::new(&plan, ends)?;
    let wanted = ObserverConfig {
        races: observers.races || wants(MeasureKind::Races),
        ..observers
    };
    let mut observers = vec![wanted.open(project, session.node(0).chip())?];
    let mut each = |_| ControlFlow::Continue(());
    let ending = session.run_to(Cycle::MAX, &mut observers, &mut each);
    session
        .finish()
        .map_err(|error| Problem::new(error.to_string()))?;
    let report = session.stats();
    let node = session.node(0);
    let seen = observers.pop().map(|set| set.finish(node.chip()));
    let seen = seen.unwrap_or_default();
    let races = seen.races.as_deref().unwrap_or_default();
    let run = ExerciseRun {
        project,
        programs,
        session: &session,
        report: &report,
        comes,
        races: races.len() as u64,
        reordered: departures.reordered(),
        stopped: matches!(ending, Some(Ending::Reached)),
    };
    let faulted = matches!(ending, Some(Ending::Fault(_)));
    let goals = goals.iter().map(|goal| GoalOutcome {
        // The figures of an incomplete run are meaningless.
        figure: if faulted {
            Err("a check stopped the run")
        } else {
            run.figure(&goal.measure)
        },
        goal: goal.clone(),
    });
    let fault = match &ending {
        Some(Ending::Fault(fault)) => Some((
            fault.clone(),
            node.state_report(),
            report.nodes.first().and_then(|node| node.fault.clone()),
        )),
        _ => None,
    };
    let verdict = ExerciseVerdict {
        project: project.name.clone(),
        ending: report.ending,
        cycles: node.now(),
        goals: goals.collect(),
        fault,
        race: races.first().map(|race| as_fault(race, project)),
    };
    Ok(JudgedRun {
        verdict,
        session,
        seen,
    })
}

fn as_fault(race: &Race, project: &Project) -> Fault {
    let longword = race.longword;
    let name = project.name_of(&longword.memory.to_string(), longword.address);
    race.fault(name.as_deref())
}

/// The settings that determine how long the run lasts.
fn settings(project: &Project, comes: bool) -> RunSettings {
    let hertz = project.capacity.hertz;
    let of_goals = project.goals.iter().filter_map(|goal| match goal.measure {
        Measure::Time => goal.most,
        _ => None,
    });
    let most = of_goals.max().map_or(u64::MAX, |most| {
        most.max(1).saturating_mul(PATIENCE_OVER_GOAL)
    });
    RunSettings {
        until: (!comes).then(|| most.min(hertz / 1000 * PATIENCE_MS)),
        drain: comes.then(|| hertz / 1_000_000 * DRAIN_US),
        ..RunSettings::new(ENGINE)
    }
}

/// A run that has ended, and the sources of its figures.
struct ExerciseRun<'a> {
    project: &'a Project,
    programs: &'a [Program],
    session: &'a Session,
    report: &'a Report,
    /// Whether there was traffic.
    comes: bool,
    races: u64,
    reordered: Option<u64>,
    /// Whether the run was stopped before its end.
    stopped: bool,
}

const NO_DEPARTURES: &str = "no frame left";

impl ExerciseRun<'_> {
    fn figure(&self, measure: &Measure) -> Result<u64, &'static str> {
        let (packets, rates) = (&self.report.packets, &self.report.rates);
        let sent = |figure| {
            if packets.sent == 0 {
                Err(NO_DEPARTURES)
            } else {
                Ok(figure)
            }
        };
        match measure {
            Measure::FrameRate => sent(rates.sent_packets_per_second),
            Measure::BitRate => sent(rates.sent_bits_per_second),
            Measure::Latency(of) => {
                let latency = self.report.latency.as_ref().ok_or(NO_DEPARTURES)?;
                Ok(match of {
                    LatencyOf::Min => latency.min_ns,
                    LatencyOf::Mean => latency.mean_ns,
                    LatencyOf::P50 => latency.p50_ns,
                    LatencyOf::P90 => latency.p90_ns,
                    LatencyOf::P99 => latency.p99_ns,
                    LatencyOf::Max => latency.max_ns,
                })
            }
            Measure::Drops => Ok(packets.dropped_media + packets.dropped_microcode + packets.lost),
            Measure::Reordered => self.reordered.ok_or(NO_DEPARTURES),
            Measure::Races => Ok(self.races),
            Measure::Memory { name, offset } => self.word(name, *offset),
            Measure::Time if self.stopped => Err("it was still running when it was stopped"),
            Measure::Time => Ok(self.session.node(0).now()),
            Measure::Cycles(stage) => {
                self.per_frame(stage.as_ref(), |me| me.executing + me.aborted + me.stalled)
            }
            Measure::Instructions(stage) => self.per_frame(stage.as_ref(), |me| me.instructions),
            Measure::Words(stage) => {
                let programs = self.programs.iter();
                let chosen = programs.filter(|program| is_of(stage.as_ref(), program.me));
                let words = chosen.map(|program| program.image.words.len() as u64).max();
                words.ok_or("nothing runs there")
            }
            Measure::Commands(kind) => Ok(self.commands(*kind)),
            Measure::Microengines => {
                let used: BTreeSet<u8> = self.programs.iter().map(|it| it.me).collect();
                Ok(used.len() as u64)
            }
            Measure::Contexts => {
                let chip = self.report.nodes.first().map(|node| &node.chip);
                let contexts = chip
                    .into_iter()
                    .flat_map(|chip| &chip.microengines)
                    .flat_map(|me| &me.contexts);
                Ok(contexts
                    .filter(|context| context.executing > MAX_IDLE_CONTEXT_CYCLES)
                    .count() as u64)
            }
            Measure::Held(name) => {
                let mut nodes = self.report.nodes.iter();
                let lock = nodes.find_map(|node| {
                    let mut locks = node.chip.locks.iter();
                    locks.find(|lock| lock.name == *name)
                });
                lock.and_then(|lock| lock.held_cycles.checked_div(lock.acquired))
                    .ok_or("no context took it")
            }
        }
    }

    fn word(&self, name: &str, offset: u32) -> Result<u64, &'static str> {
        let range = memory_dump::find(self.project, name).ok();
        let words = range.map(|range| memory_dump::words(self.session.node(0).chip(), &range));
        let word = words.and_then(|words| words.get(offset as usize / 4).copied());
        word.map(|(_, word)| u64::from(word))
            .ok_or("there is no such longword")
    }

    /// A count over microengines: per frame that left, rounded up, if there was traffic, else the
    /// total.
    fn per_frame(
        &self,
        stage: Option<&Vec<u8>>,
        count: impl Fn(&npsim_inspect::stats::MicroengineStats) -> u64,
    ) -> Result<u64, &'static str> {
        let nodes = self.report.nodes.iter();
        let microengines = nodes.flat_map(|node| &node.chip.microengines);
        let chosen =
            microengines.filter(|me| u8::try_from(me.index).is_ok_and(|me| is_of(stage, me)));
        let total: u64 = chosen.map(count).sum();
        match (self.comes, self.report.packets.sent) {
            (true, 0) => Err(NO_DEPARTURES),
            (true, sent) => Ok(total.div_ceil(sent)),
            (false, _) => Ok(total),
        }
    }

    fn commands(&self, kind: UnitKind) -> u64 {
        let nodes = self.report.nodes.iter();
        let units = nodes.flat_map(|node| &node.chip.units);
        let channel = |name: &str| {
            let rest = name.strip_prefix(kind.name());
            rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let commands = units
            .filter(|unit| channel(&unit.name))
            .flat_map(|unit| &unit.commands);
        commands.map(|command| command.count).sum()
    }
}

fn is_of(stage: Option<&Vec<u8>>, me: u8) -> bool {
    stage.is_none_or(|stage| stage.contains(&me))
}

/// The verdict in the form that `--format json` prints.
#[derive(Debug, Serialize)]
pub struct VerdictFile<'a> {
    project: &'a str,
    ending: &'a str,
    cycles: Cycle,
    passed: bool,
    goals: Vec<OutcomeFile<'a>>,
}

#[derive(Debug, Serialize)]
struct OutcomeFile<'a> {
    name: &'a str,
    measure: &'a str,
    passed: bool,
    figure: Option<u64>,
    why: Option<&'a str>,
    at_least: Option<u64>,
    at_most: Option<u64>,
    hint: &'a str,
    file: &'a str,
    line: usize,
}

impl<'a> From<&'a ExerciseVerdict> for VerdictFile<'a> {
    fn from(verdict: &'a ExerciseVerdict) -> Self {
        let goals = verdict.goals.iter().map(|outcome| OutcomeFile {
            name: &outcome.goal.name,
            measure: outcome.goal.kind.name(),
            passed: outcome.passed(),
            figure: outcome.figure.ok(),
            why: outcome.figure.err(),
            at_least: outcome.goal.least,
            at_most: outcome.goal.most,
            hint: &outcome.goal.hint,
            file: &outcome.goal.place.path,
            line: outcome.goal.place.line(),
        });
        Self {
            project: &verdict.project,
            ending: verdict.ending,
            cycles: verdict.cycles,
            passed: verdict.passed(),
            goals: goals.collect(),
        }
    }
}
