//! Stages that hand work over through memory instead of a ring.
//!
//! A stage writes slots that the next one reads, and the next one writes how far
//! it has come, which the first one reads before it writes a slot too many. That
//! is a ring made by microcode, and nothing counts how full it is. But a stage that
//! finds it full polls again: a poll that finds room is good for one write at
//! least, so polls beyond the number of writes found none. A stage that has work
//! and polls much more often than it writes is held up by the other.
//!
//! How often a waiting stage polls is up to the microcode: contexts may each poll
//! for themselves, or one of them for all, with a pause in between. So few empty
//! polls are enough where the rest of the evidence agrees: the contexts that wait
//! sleep although there is work, and the other stage has no time left.

use npsim_observe::flow::MemoryAccess;

use super::observed::Observed;
use super::stage_load::{OCCUPIED, StageLoad, pressed};
use super::window::AnalysisWindow;

/// Polls for ten writes beyond which a stage is taken to wait. A stage that need not wait polls
/// once for each or less, since one poll is good for several writes.
const POLLS: u64 = 20;
/// The limit where one stage sleeps and the other never rests.
const POLLS_ASLEEP: u64 = 11;

/// A stage that waits for another to take what it hands over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HandoffWait {
    /// Index of the stage that waits.
    pub waiter: usize,
    /// Index of the stage that it waits for.
    pub blocker: usize,
    /// The memory through which work is handed over.
    pub slots: String,
    /// The memory that says how far the other has come.
    pub progress: String,
    /// How often the one was written.
    pub writes: u64,
    /// How often the other was read.
    pub polls: u64,
}

/// The stages that have work, in a place that is full, and wait for another
/// stage. The other one learns how many frames come to it.
pub(super) fn waits(
    observed: &Observed<'_>,
    window: &AnalysisWindow,
    stages: &mut [StageLoad],
) -> Vec<HandoffWait> {
    let mut found: Vec<HandoffWait> = Vec::new();
    for waiter in 0..stages.len() {
        let takes = &stages[waiter].takes;
        if !takes.iter().any(|&place| pressed(observed, window, place)) {
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
            let Some(wait) = between(observed, waiter, blocker, enough) else {
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

/// Whether one stage waits for another: whether it polls so often for ten writes.
fn between(
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
    // What one alone writes and the other reads; the most written of these.
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
