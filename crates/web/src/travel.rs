//! Moving through a run: stretches, steps, jumps.

use npsim::debug::console::stop_text;
use npsim::debug::debugger::standpoint::Standpoint;
use npsim::debug::timeline::SNAPSHOT_INTERVAL;
use npsim::debug::view::{StopReason, reason};
use npsim::debug::{Direction, Step, Stop, Thread};
use npsim::quantity::Time;
use serde::Serialize;
use serde_json::Value;

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::opening::OpenRun;
use crate::place::{RunEnd, SourcePlace};
use crate::request::{RunRequest, StepKind, StepRequest, text_of};

/// The default number of cycles per stretch.
const CYCLES: u64 = 200_000;
/// The default number of cycles that a query may run through.
pub const DEFAULT_CYCLE_BUDGET: u64 = 20_000_000;

/// The state of a run after a movement.
#[derive(Debug, Serialize)]
pub struct Moved {
    pub cycle: u64,
    pub reached: u64,
    pub end: Option<RunEnd>,
    pub reason: StopReason,
    pub text: Vec<String>,
    said: Vec<LogOutput>,
    selected: Thread,
    place: Option<SourcePlace>,
}

/// The output of a log point.
#[derive(Debug, Serialize)]
struct LogOutput {
    cycle: u64,
    text: String,
}

impl Moved {
    /// The state of the run after a stop.
    pub fn of(files: &FileStore, run: &OpenRun, stop: &Stop) -> Self {
        let debugger = &run.debugger;
        let said = stop.said.iter().map(|it| LogOutput {
            cycle: it.moment.cycle,
            text: it.text.clone(),
        });
        Self {
            cycle: debugger.cycle(),
            reached: debugger.timeline().recorded_to(),
            end: RunEnd::of(run),
            reason: reason(debugger, &stop.reason),
            text: stop_text(debugger, stop, &|file| files.text(file.as_ref())),
            said: said.collect(),
            selected: debugger.thread(),
            place: SourcePlace::of(files, run, debugger.thread()),
        }
    }

    /// The current state of the run, without moving.
    pub fn here(files: &FileStore, run: &OpenRun) -> Self {
        let stop = Stop {
            reason: run.debugger.reason().clone(),
            thread: run.debugger.thread(),
            said: Vec::new(),
        };
        Self::of(files, run, &stop)
    }
}

const fn direction(back: bool) -> Direction {
    if back {
        Direction::Back
    } else {
        Direction::Forward
    }
}

impl OpenRun {
    /// Converts a time to cycles.
    pub fn cycle_of(&self, at: &Value) -> Result<u64, Failure> {
        let time: Time = text_of(at)
            .parse()
            .map_err(|error: String| Failure::new(error))?;
        Ok(time.cycles(self.scenario.project.capacity.hertz))
    }

    /// Begins a request that may run through `cycles` cycles.
    pub fn set_cycle_budget(&self, cycles: Option<u64>) {
        let cycles = cycles.unwrap_or(DEFAULT_CYCLE_BUDGET);
        self.budget.begin(self.debugger.cycle(), cycles);
    }

    /// Runs to the next stop, for little more than the requested number of cycles.
    pub fn resume(&mut self, asked: &RunRequest) -> Stop {
        let cycles = asked.cycles.unwrap_or(CYCLES).max(1);
        let here = self.debugger.cycle();
        let direction = direction(asked.back);
        self.budget.begin(here, cycles);
        let target = match direction {
            Direction::Forward => here.saturating_add(cycles),
            Direction::Back => here.saturating_sub(cycles),
        };
        if self.debugger.breakpoints().is_empty() {
            // There is nothing to search for on the way.
            self.budget.begin(here, u64::MAX);
            return self.debugger.goto(target);
        }
        // If the request is shorter than the distance between snapshots, the search is limited to
        // its target, at the cost of running the last part of the way twice.
        if cycles < SNAPSHOT_INTERVAL || asked.back {
            return self.debugger.run_within(direction, target);
        }
        self.debugger.run(direction)
    }

    /// Steps the selected context.
    pub fn step(&mut self, asked: &StepRequest) -> Result<Stop, Failure> {
        self.set_cycle_budget(asked.cycles);
        let step = match asked.by {
            StepKind::Instruction => Step::Instruction,
            StepKind::Line => Step::Line,
            StepKind::Into => Step::Into,
            StepKind::Out => Step::Out,
            StepKind::Run => Step::Run,
            StepKind::Any => Step::Any,
        };
        let selected = self.debugger.thread();
        let is_inside = self.debugger.frames(selected).len() > 1;
        if step == Step::Out && !asked.back && !is_inside {
            return Err(Failure::new("the context is not in a macro")
                .help("step by `line` to go to the next line"));
        }
        Ok(self.debugger.step(step, direction(asked.back)))
    }

    /// Goes to a time, and there to the given standpoint.
    pub fn goto(
        &mut self,
        at: &Value,
        cycles: Option<u64>,
        stand: Option<Standpoint>,
    ) -> Result<Stop, Failure> {
        let cycle = self.cycle_of(at)?;
        let reached = self.debugger.timeline().recorded_to();
        self.budget
            .begin(reached, cycles.unwrap_or(DEFAULT_CYCLE_BUDGET));
        Ok(match stand {
            Some(stand) => self.debugger.goto_standpoint(cycle, stand),
            None => self.debugger.goto(cycle),
        })
    }
}
