//! Tasks of the general-purpose core that share memories with microengines.

use npsim_chip::Cycle;
use npsim_chip::gpp::task::next_time;
use npsim_chip::gpp::{Access, LoadError, LongwordAddress, Memories, NextAction, Start, Task};
use npsim_chip::kernel::row::Row;
use npsim_chip::units::scratch::Scratch;
use serde::{Deserialize, Serialize};

/// Reads, writes and locks, at fixed times, memory that programs also use, and records what it has
/// seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clerk {
    pub place: LongwordAddress,
    pub period: Cycle,
    due: Cycle,
    accesses: u32,
    seen: u32,
}

impl Clerk {
    pub const fn new(place: LongwordAddress, period: Cycle) -> Self {
        Self {
            place,
            period,
            due: period,
            accesses: 0,
            seen: 0,
        }
    }
}

/// The values that a task has seen, as in statistics.
fn row(accesses: u32, seen: u32) -> Vec<Row> {
    vec![Row::default().with("accesses", accesses).with("seen", seen)]
}

impl Task for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        start.check(self.place, 20)?;
        Ok(Some(self.due))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let at = self.accesses % 4;
        self.accesses += 1;
        match at {
            0 => {
                let (words, cost) = access.read::<2>(self.place);
                self.seen = self.seen.rotate_left(5) ^ words[0] ^ words[1];
                ("read", NextAction::After(cost))
            }
            1 => {
                let words = [self.seen, self.accesses, 1];
                let cost = access.write(self.place.after(8), &words);
                ("write", NextAction::After(cost))
            }
            2 => {
                let (old, cost) = access.test_and_set(self.place.after(4));
                self.seen ^= old;
                ("lock", NextAction::After(cost))
            }
            _ => {
                let cost = access.clear(self.place.after(4));
                self.due = next_time(self.due, self.period, access.now());
                let due = self.due;
                ("unlock", NextAction::Done { cost, due })
            }
        }
    }

    fn rows(&self, _: Memories<'_>) -> Vec<Row> {
        row(self.accesses, self.seen)
    }
}

/// Reads a longword of a ring whenever something may have been put on it, and again as long as the
/// value changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Watch {
    pub ring: u8,
    pub place: LongwordAddress,
    pub period: Cycle,
    looks: u32,
    seen: u32,
}

impl Watch {
    pub const fn new(ring: u8, place: LongwordAddress, period: Cycle) -> Self {
        Self {
            ring,
            place,
            period,
            looks: 0,
            seen: 0,
        }
    }
}

impl Task for Watch {
    fn name(&self) -> &'static str {
        "watch"
    }

    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        start.check(self.place, 4)?;
        Ok(Some(self.period))
    }

    fn is_timer(&self) -> bool {
        false
    }

    fn has_work(&self, scratch: &Scratch) -> bool {
        !scratch.ring(self.ring).is_empty()
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        self.looks += 1;
        let ([word], cost) = access.read(self.place);
        let next = if std::mem::replace(&mut self.seen, word) == word {
            let (interval, poll) = (self.period.max(cost), cost);
            NextAction::Idle {
                cost,
                interval,
                poll,
            }
        } else {
            let due = access.now() + cost;
            NextAction::Done { cost, due }
        };
        ("look", next)
    }

    fn rows(&self, _: Memories<'_>) -> Vec<Row> {
        row(self.looks, self.seen)
    }
}
