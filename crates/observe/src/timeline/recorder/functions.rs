//! The lane of a program of the core: the function that ran, and what it waited for.

use std::io::Write;

use npsim_chip::Cycle;
use npsim_chip::gpp::{ProgramView, Task};
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::ProgramState;

use super::{Recorder, Track};
use crate::names;

/// What is known about a program.
#[derive(Debug)]
pub(super) struct ProgramLane {
    pub task: u16,
    view: ProgramView,
    /// The active functions, outermost first.
    stack: Vec<u32>,
    doing: ProgramState,
    since: Cycle,
    /// The cycle at which its job ended; the next may begin at once.
    held: Option<Cycle>,
}

impl ProgramLane {
    pub fn all(tasks: &[Box<dyn Task>], now: Cycle) -> Vec<Self> {
        let programs = (0..).zip(tasks);
        let programs = programs.filter_map(|(task, it)| Some((task, it.program()?)));
        programs
            .map(|(task, view)| Self {
                task,
                stack: view.stack.clone(),
                doing: view.doing,
                since: now,
                held: None,
                view,
            })
            .collect()
    }

    /// The track's title.
    pub fn title(&self) -> String {
        format!("functions of {}", self.view.name)
    }

    /// Whether its present activity began before a cycle.
    pub const fn began_before(&self, at: Cycle) -> bool {
        self.since < at
    }

    pub fn visit_state(&mut self, state: &mut RecurringState<'_>) {
        state.time(&mut self.since);
        state.value(u64::from(self.held.is_some()));
        self.held.iter_mut().for_each(|it| state.time(it));
        state.value(self.doing as u64);
        for function in &self.stack {
            state.value(u64::from(*function));
        }
    }
}

/// Whether a state is shown as busy: executing instructions, or waiting for their accesses.
const fn is_busy(doing: ProgramState) -> bool {
    matches!(doing, ProgramState::Runs | ProgramState::Accesses)
}

impl<W: Write> Recorder<W> {
    pub(super) fn function_changes(
        &mut self,
        at: Cycle,
        task: u16,
        doing: ProgramState,
        (depth, function): (u16, u32),
    ) {
        let Some(index) = self.programs.iter().position(|it| it.task == task) else {
            return;
        };
        if doing == ProgramState::Held {
            self.programs[index].held = Some(at);
            return;
        }
        if self.programs[index].held.is_some_and(|held| held < at) {
            self.function_ends(index, at);
            self.programs[index].since = at;
        }
        let lane = &mut self.programs[index];
        lane.held = None;
        let depth = usize::from(depth);
        let same = lane.stack.len() == depth + 1 && lane.stack[depth] == function;
        let goes_on = lane.doing == doing || is_busy(lane.doing) && is_busy(doing);
        if !(same && goes_on) {
            self.function_ends(index, at);
            self.programs[index].since = at;
        }
        let lane = &mut self.programs[index];
        lane.doing = doing;
        lane.stack.truncate(depth);
        lane.stack.push(function);
    }

    /// Writes what a program has done up to a cycle.
    pub(super) fn function_ends(&mut self, index: usize, until: Cycle) {
        let lane = &self.programs[index];
        let until = lane.held.map_or(until, |held| held.min(until));
        let rest = match lane.doing {
            ProgramState::Held | ProgramState::Ended => return,
            ProgramState::Runs | ProgramState::Accesses => None,
            ProgramState::Polls => Some("repeats a loop"),
            ProgramState::Waits => Some("waits for an interrupt"),
        };
        let time = (lane.since, until);
        if lane.since >= until || !self.writer.overlaps(time.0, time.1) {
            return;
        }
        let named = |function: &u32| names::function(&lane.view, *function);
        let stack: Vec<_> = lane.stack.iter().map(named).collect();
        let innermost = stack.last().map_or("", String::as_str);
        let track = Track::Functions(lane.task);
        self.writer
            .slice(track, rest.unwrap_or(innermost), time, |all| {
                all.text("in", &stack.join(" > "));
                all.number("cycles", time.1 - time.0);
            });
    }
}
