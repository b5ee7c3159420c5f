//! Recognizes a program that repeats a loop in which nothing changes, so that its laps need not be simulated.
//!
//! The state of the processor at the beginning of a job is compared with that at an earlier job, which is renewed
//! at increasing intervals. If the two are equal, nothing was changed in between, and nothing was read that can
//! change without a wake-up, then the following laps are the same.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

/// Registers and status.
pub(crate) type Key = [u32; 17];

/// Number of jobs after which the reference state is renewed for the first time, and the largest number.
const FIRST: u32 = 4;
const MAX_JOBS: u32 = 1024;
/// Number of equal laps that are required.
const LAPS: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Anchor {
    key: Key,
    at: Cycle,
    instructions: u64,
}

/// One lap of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lap {
    /// Duration in ME cycles; at least 1.
    pub cycles: Cycle,
    /// Number of instructions.
    pub instructions: u64,
}

/// The state for the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoopWatch {
    anchor: Option<Anchor>,
    jobs: u32,
    limit: u32,
    laps: u32,
}

/// How to treat the recorded footprint of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Keep it: it belongs to the lap in progress.
    Keep,
    /// Discard it: a lap begins.
    Forget,
    /// The program repeats this lap.
    Loop(Lap),
}

impl Default for LoopWatch {
    fn default() -> Self {
        Self {
            anchor: None,
            jobs: 0,
            limit: FIRST,
            laps: 0,
        }
    }
}

impl LoopWatch {
    /// Compares the state at the beginning of a job.
    pub fn begins(&mut self, key: &Key, at: Cycle, instructions: u64, changed: bool) -> Verdict {
        let now = || Anchor {
            key: *key,
            at,
            instructions,
        };
        let Some(anchor) = self.anchor.as_mut().filter(|_| !changed) else {
            *self = Self {
                anchor: Some(now()),
                ..Self::default()
            };
            return Verdict::Forget;
        };
        if anchor.key == *key {
            let lap = Lap {
                cycles: (at - anchor.at).max(1),
                instructions: instructions - anchor.instructions,
            };
            *anchor = now();
            self.laps += 1;
            self.jobs = 0;
            return if self.laps >= LAPS {
                Verdict::Loop(lap)
            } else {
                Verdict::Keep
            };
        }
        self.jobs += 1;
        if self.jobs < self.limit {
            return Verdict::Keep;
        }
        *self = Self {
            anchor: Some(now()),
            jobs: 0,
            limit: (self.limit * 2).min(MAX_JOBS),
            laps: 0,
        };
        Verdict::Forget
    }

    /// Starts over, as after a sleep.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(state: u32) -> Key {
        [state; 17]
    }

    #[test]
    fn loop_spanning_many_jobs_is_found() {
        let mut watch = LoopWatch::default();
        let found = (0_u32..400).find_map(|job| {
            // No state recurs before the loop.
            let state = if job < 30 { 1000 + job } else { job % 50 };
            match watch.begins(&key(state), u64::from(job) * 10, u64::from(job) * 3, false) {
                Verdict::Loop(lap) => Some((job, lap)),
                _ => None,
            }
        });
        let lap = Lap {
            cycles: 500,
            instructions: 150,
        };
        assert!(
            matches!(found, Some((job, it)) if job < 300 && it == lap),
            "{found:?}"
        );
    }

    #[test]
    fn state_changes_prevent_loop_detection() {
        let mut watch = LoopWatch::default();
        for job in 0..100 {
            let verdict = watch.begins(&key(1), job, job, job % 2 == 0);
            assert!(!matches!(verdict, Verdict::Loop(_)));
        }
    }
}
