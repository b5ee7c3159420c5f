//! Locks that are held or handed over all the time.
//!
//! However many contexts want a lock, its section runs once per hold and handover. If these times
//! fill the lock's time, no further section fits in, although no microengine is short of time:
//! they spin.

use npsim_chip::kernel::row::permille;
use npsim_inspect::stats::LockStats;
use npsim_observe::sections::SerialSection;
use npsim_project::quantity::grouped;

use super::observed::{Observed, Stage};
use super::serial;
use super::window::AnalysisWindow;
use super::wording::{Subject, percent};

/// Thousandths of the time held or handed over at which a lock is at its limit.
const SATURATED: u64 = 900;

/// A lock at its limit, with its activity in the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LockLoad {
    /// Its index in the project.
    pub index: u16,
    pub name: String,
    /// Whether a single hold lasts nearly the whole window and has not ended.
    pub stuck: bool,
    /// Indices of the stages that take it.
    pub takers: Vec<usize>,
    /// The section observed from its holders' commands.
    section: Option<SerialSection>,
    /// Whether the general-purpose core takes it too.
    core: bool,
    /// The length of the window in cycles.
    cycles: u64,
    held: u64,
    handover: u64,
    acquired: u64,
    handovers: u64,
    failed: u64,
}

/// The locks at their limit, most loaded first.
pub(super) fn saturated(observed: &Observed<'_>, window: &AnalysisWindow) -> Vec<LockLoad> {
    let (before, after) = (&window.before.stats.locks, &window.after.stats.locks);
    let pairs = before.iter().zip(after).enumerate();
    let mut found: Vec<LockLoad> = pairs
        .map(|(index, pair)| load(observed, window, index as u16, pair))
        .filter(|lock| lock.failed > 0)
        .filter(|lock| lock.permille() >= SATURATED || lock.delayed().is_some())
        .collect();
    found.sort_by_key(|lock| std::cmp::Reverse(lock.permille()));
    found
}

fn load(
    observed: &Observed<'_>,
    window: &AnalysisWindow,
    index: u16,
    (before, after): (&LockStats, &LockStats),
) -> LockLoad {
    let stages = observed.stages.iter().enumerate();
    let takes = |stage: &Stage| {
        let mut microengines = stage.microengines.iter();
        microengines.any(|&me| observed.flow.taken(index, Some(me)) > 0)
    };
    let hold = after.held_at_end.map_or(0, |hold| {
        let since = hold.since.max(window.before.cycle);
        window.after.cycle.saturating_sub(since)
    });
    LockLoad {
        index,
        name: after.name.clone(),
        stuck: permille(hold, window.cycles()) >= SATURATED,
        takers: stages
            .filter(|(_, stage)| takes(stage))
            .map(|(stage, _)| stage)
            .collect(),
        section: serial::section_of_lock(observed, window, index),
        core: observed.flow.taken(index, None) > 0,
        cycles: window.cycles(),
        held: after.held_cycles.saturating_sub(before.held_cycles),
        handover: after.handover_cycles.saturating_sub(before.handover_cycles),
        acquired: after.acquired.saturating_sub(before.acquired),
        handovers: after.handovers.saturating_sub(before.handovers),
        failed: after.failed.saturating_sub(before.failed),
    }
}

impl LockLoad {
    /// Thousandths of the time in which it was held or handed over.
    pub fn permille(&self) -> u64 {
        permille(self.held + self.handover, self.cycles).min(1000)
    }

    /// The turn that waits for contexts holding or trying to get the lock, and the share of time,
    /// if this is how the lock limits.
    pub fn delayed(&self) -> Option<(&str, u64)> {
        serial::delayed_turn(self.section.as_ref()?, (self.permille(), self.cycles))
    }

    /// The evidence, one sentence each.
    pub fn evidence(&self, stages: &[Stage], window: &AnalysisWindow) -> Vec<String> {
        let share = |cycles| percent(permille(cycles, self.cycles).min(1000));
        let mut lines = vec![format!(
            "{} is held {} of the time and handed over {}: it was taken {} times, and {} tries failed.",
            self.name,
            share(self.held),
            share(self.handover),
            grouped(self.acquired),
            grouped(self.failed),
        )];
        let held = self.held.checked_div(self.acquired);
        if let Some(held) = held.filter(|_| !self.stuck) {
            let handover = self.handover.checked_div(self.handovers).unwrap_or(0);
            lines.push(format!(
                "A section takes {} cycles, {} held and {} handed over, so there are at most {} sections a second.",
                grouped(held + handover),
                grouped(held),
                grouped(handover),
                grouped(self.most(window)),
            ));
        }
        lines.extend(self.takers_text(stages));
        let lines_of = self.section.as_ref().and_then(|it| it.lines.as_ref());
        lines
            .extend(lines_of.map(|(taken, given)| {
                format!("It is taken at {taken} and given back at {given}.")
            }));
        lines
    }

    /// Maximum sections per second, one directly after the other. A section takes `held /
    /// acquired` plus `handover / handovers` cycles.
    fn most(&self, window: &AnalysisWindow) -> u64 {
        let hertz = u128::from(window.after.stats.mhz) * 1_000_000;
        let (held, handover) = (u128::from(self.held), u128::from(self.handover));
        let (acquired, handovers) = (u128::from(self.acquired), u128::from(self.handovers));
        let most = if handovers == 0 {
            (hertz * acquired).checked_div(held)
        } else {
            (hertz * acquired * handovers).checked_div(held * handovers + handover * acquired)
        };
        most.unwrap_or(0) as u64
    }

    /// A sentence on the stages that take it.
    fn takers_text(&self, stages: &[Stage]) -> Option<String> {
        let mut names: Vec<String> = self
            .takers
            .iter()
            .map(|&stage| stages[stage].title())
            .collect();
        if self.core {
            names.push("the general-purpose core".to_owned());
        }
        let name = names.join(" and ");
        let subject = Subject {
            plural: names.len() > 1 || Subject::named(&name).plural,
            name: &name,
        };
        (!names.is_empty()).then(|| subject.say("{Name} take{s} it.", &[]))
    }

    /// Suggested improvements, one sentence each.
    pub fn advice(&self) -> Vec<String> {
        if self.stuck {
            return vec![format!(
                "Look for a way from where {} is taken that passes by its release: an error exit, a branch too early, a context that waits for a signal that never comes.",
                self.name
            )];
        }
        let order = self
            .delayed()
            .map(|(turn, _)| serial::order_advice(&self.name, turn));
        let mut advice = vec![
            "A shorter section helps directly: compute before the lock is taken and after its release, and reach for all that it protects in one reference.".into(),
            "Best of all is no lock: where an atomic operation of the memory can do the update, such as `test_and_add`, or a coprocessor, no context has to hold anything.".into(),
            "If ports do not share the state, give each port a lock with its state: sections for different ports then go on side by side.".into(),
            "More microengines do not help: they wait for the lock as well, and their tries keep the unit from its holder.".into(),
        ];
        advice.splice(1..1, order);
        advice
    }
}
