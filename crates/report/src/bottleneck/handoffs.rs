//! Stages that hand work over through memory instead of a ring.
//!
//! One stage writes slots that the next one reads; the next one publishes its progress, which
//! the first one polls so as not to overrun it. This is a ring implemented in microcode, and
//! nothing counts its fill. But a stage that finds it full polls again. Every poll that finds
//! room permits at least one write, so polls in excess of the writes found none. A stage that
//! has work and polls much more often than it writes is held up by the other.
//!
//! How often a waiting stage polls is up to the microcode: each context may poll for itself, or
//! one for all of them, with pauses in between. A few empty polls are therefore enough if the
//! other evidence agrees: the waiting contexts sleep although there is work, and the other
//! stage has no time left.

use npsim_observe::flow::MemoryAccess;

use super::observed::Observed;
use super::stage_load::{OCCUPIED, StageLoad, is_congested};
use super::window::AnalysisWindow;

/// Polls per ten writes above which a stage counts as waiting. A stage that need not wait polls
/// at most once per write, since one poll can permit several writes.
const POLLS: u64 = 20;
/// The same threshold if the waiting stage sleeps and the other is always busy.
const POLLS_ASLEEP: u64 = 11;

/// A stage that waits for another to accept work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HandoffWait {
    /// Index of the waiting stage.
    pub waiter: usize,
    /// Index of the stage that it waits for.
    pub blocker: usize,
    /// The memory through which work is handed over.
    pub slots: String,
    /// The memory in which the other stage publishes its progress.
    pub progress: String,
    /// Writes to `slots`.
    pub writes: u64,
    /// Reads of `progress`.
    pub polls: u64,
}

/// Finds the stages that have work in a full place and wait for another stage, and records for
/// the other stage how many frames reach it.
pub(super) fn waits(
    observed: &Observed<'_>,
    window: &AnalysisWindow,
    stages: &mut [StageLoad],
) -> Vec<HandoffWait> {
    let mut found: Vec<HandoffWait> = Vec::new();
    for waiter in 0..stages.len() {
        let takes = &stages[waiter].takes;
        if !takes
            .iter()
            .any(|&place| is_congested(observed, window, place))
        {
            continue;
        }
        for blocker in (0..stages.len()).filter(|&blocker| blocker != waiter) {
            let (waits, works) = (&stages[waiter], &stages[blocker]);
            let busy = |load: &StageLoad| load.share(load.occupied()) >= OCCUPIED;
            let enough = if !busy(waits) && busy(works) {
                POLLS_ASLEEP
            } else {
                POLLS
            };
            let Some(wait) = wait_between(observed, waiter, blocker, enough) else {
                continue;
            };
            found.push(wait);
            if let (None, Some(frames)) = (stages[blocker].frames, stages[waiter].frames) {
                stages[blocker].frames = Some(frames);
            }
        }
    }
    found
}

/// Returns the wait of one stage for another, if it polls often enough per ten writes.
fn wait_between(
    observed: &Observed<'_>,
    waiter: usize,
    blocker: usize,
    enough: u64,
) -> Option<HandoffWait> {
    let flow = observed.flow;
    let count = |stage: usize, memory: usize, access| -> u64 {
        let microengines = observed.stages[stage].microengines.iter();
        microengines
            .map(|&me| flow.accesses(me, memory, access))
            .sum()
    };
    // The most written memory that one stage alone writes and the other reads.
    let way = |from: usize, to: usize| {
        flow.memories()
            .enumerate()
            .map(|(memory, name)| {
                let writes = count(from, memory, MemoryAccess::Writes);
                let reads = count(to, memory, MemoryAccess::Reads);
                let back = count(to, memory, MemoryAccess::Writes);
                (name, writes, if back == 0 { reads } else { 0 })
            })
            .filter(|&(_, writes, reads)| writes > 0 && reads > 0)
            .max_by_key(|&(_, writes, _)| writes)
    };
    let (slots, writes, _) = way(waiter, blocker)?;
    let (progress, _, polls) = way(blocker, waiter)?;
    (polls * 10 >= writes * enough).then(|| HandoffWait {
        waiter,
        blocker,
        slots: slots.to_owned(),
        progress: progress.to_owned(),
        writes,
        polls,
    })
}
