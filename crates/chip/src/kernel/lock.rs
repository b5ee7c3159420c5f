//! Longwords of scratch and SRAM that are watched as locks: bit 0 is 1 while the lock is held.
//!
//! The unit that executes the operations records their effect on the bit, at the cycle in which the
//! operation starts there. A lock that a context failed to take while it was held is *handed over*:
//! the time from its release until it is taken again is lost to all. If no attempt failed, no
//! context is known to wait, and the lock is idle.

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::command::BusCommand;
use crate::kernel::fabric::Fabric;
use crate::kernel::trace_event::{Holder, LockStep, TraceEvent};

/// A watched longword.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Index in the boot plan's list.
    pub index: u16,
    /// Name of the lock.
    pub name: String,
    /// Longword address in the unit.
    word: u32,
    state: LockState,
    /// What has happened to the lock.
    pub counts: LockCounts,
}

/// Activity of a lock until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockCounts {
    /// Operations that would set the bit.
    pub tries: u64,
    /// Of these, the operations that found it 0.
    pub acquired: u64,
    /// Operations that cleared the bit.
    pub released: u64,
    /// Cycles from acquisition to release, summed.
    pub held: Cycle,
    /// The longest completed hold, in cycles.
    pub held_longest: Cycle,
    /// Acquisitions of a lock for which a context was waiting.
    pub handovers: u64,
    /// Cycles from the releases before them, summed.
    pub handover: Cycle,
    /// The shortest handover, in cycles.
    pub handover_shortest: Cycle,
    /// The longest handover, in cycles.
    pub handover_longest: Cycle,
}

/// A hold of a lock that is still in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The holder; unknown for a lock whose bit was 1 before the start.
    pub by: Holder,
    /// The cycle in which the lock was taken.
    pub since: Cycle,
    /// Attempts that have failed since.
    pub failed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum LockState {
    Held {
        by: Holder,
        since: Cycle,
        /// Attempts that failed meanwhile.
        failed: u64,
    },
    Free {
        since: Cycle,
        /// Whether an attempt had failed before the lock was released.
        wanted: bool,
    },
}

impl Lock {
    /// The counts of everything before `now`; a period still in progress counts up to `now`.
    #[must_use]
    pub fn counts_at(&self, now: Cycle) -> LockCounts {
        let mut counts = self.counts;
        match self.state {
            LockState::Held { since, .. } => counts.held += now.saturating_sub(since),
            LockState::Free {
                since,
                wanted: true,
            } => counts.handover += now.saturating_sub(since),
            LockState::Free { .. } => {}
        }
        counts
    }

    /// The present hold, if the lock is held.
    #[must_use]
    pub fn hold(&self) -> Option<Hold> {
        match self.state {
            LockState::Held { by, since, failed } => Some(Hold { by, since, failed }),
            LockState::Free { .. } => None,
        }
    }

    /// Records that an operation has changed the bit from `old` to `new`; `tries` is true if the
    /// operation is one that takes locks.
    fn book(&mut self, tries: bool, [old, new]: [bool; 2], by: Holder, fabric: &mut Fabric) {
        let now = fabric.now;
        let lock = self.index;
        if tries && new {
            self.counts.tries += 1;
            if old {
                if let LockState::Held { failed, .. } = &mut self.state {
                    *failed += 1;
                }
                return;
            }
        }
        match (old, new) {
            (false, true) => {
                if !tries {
                    self.counts.tries += 1;
                }
                self.counts.acquired += 1;
                let mut handed_over = false;
                if let LockState::Free { since, wanted } = self.state
                    && wanted
                {
                    handed_over = true;
                    let took = now - since;
                    let counts = &mut self.counts;
                    counts.handover_shortest = if counts.handovers == 0 {
                        took
                    } else {
                        counts.handover_shortest.min(took)
                    };
                    counts.handovers += 1;
                    counts.handover += took;
                    counts.handover_longest = counts.handover_longest.max(took);
                }
                self.state = LockState::Held {
                    by,
                    since: now,
                    failed: 0,
                };
                let step = LockStep::Taken { by, handed_over };
                fabric.trace.record(now, || TraceEvent::Lock { lock, step });
            }
            (true, false) => {
                self.counts.released += 1;
                let mut failures = 0;
                if let LockState::Held { since, failed, .. } = self.state {
                    self.counts.held += now - since;
                    self.counts.held_longest = self.counts.held_longest.max(now - since);
                    failures = failed;
                }
                self.state = LockState::Free {
                    since: now,
                    wanted: failures > 0,
                };
                let step = LockStep::Released { failed: failures };
                fabric.trace.record(now, || TraceEvent::Lock { lock, step });
            }
            _ => {}
        }
    }
}

/// The locks of one unit or channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locks(Vec<Lock>);

impl Locks {
    /// Watches a longword, whose value is `value`, from now on.
    pub fn watch(&mut self, index: u16, name: String, word: u32, value: u32) {
        let state = if value & 1 == 1 {
            LockState::Held {
                by: None,
                since: 0,
                failed: 0,
            }
        } else {
            LockState::Free {
                since: 0,
                wanted: false,
            }
        };
        self.0.push(Lock {
            index,
            name,
            word,
            state,
            counts: LockCounts::default(),
        });
    }

    /// Whether there are no locks, so that nothing has to be recorded.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All locks.
    pub fn iter(&self) -> impl Iterator<Item = &Lock> {
        self.0.iter()
    }

    /// Records that a command is about to change a range of longwords; `old` returns the present
    /// values, `new` the future ones.
    pub fn command(
        &mut self,
        command: &BusCommand,
        longwords: (u32, u32),
        old: impl Fn(u32) -> u32,
        new: impl Fn(u32) -> u32,
        fabric: &mut Fabric,
    ) {
        let by = Some((command.me, command.context));
        self.change(takes(command.op), by, longwords, old, new, fabric);
    }

    /// Records that a range of longwords is about to be changed; `takes` is true if an operation
    /// that sets the bit tries to take the lock.
    #[cold]
    #[inline(never)]
    pub fn change(
        &mut self,
        takes: bool,
        by: Holder,
        (first, count): (u32, u32),
        old: impl Fn(u32) -> u32,
        new: impl Fn(u32) -> u32,
        fabric: &mut Fabric,
    ) {
        for lock in &mut self.0 {
            let at = lock.word.wrapping_sub(first);
            if at < count {
                lock.book(takes, [old(at) & 1 == 1, new(at) & 1 == 1], by, fabric);
            }
        }
    }
}

/// Whether an operation that sets bit 0 is an attempt to take a lock. Arithmetic is not: it takes a
/// lock only if the bit changes.
const fn takes(op: CommandOp) -> bool {
    use CommandOp as Op;
    matches!(
        op,
        Op::ScratchTestAndSet
            | Op::ScratchSet
            | Op::ScratchSwap
            | Op::ScratchWrite
            | Op::SramTestAndSet
            | Op::SramSet
            | Op::SramSwap
            | Op::SramWrite
    )
}

#[cfg(test)]
mod tests {
    use super::{Hold, Locks};
    use crate::kernel::fabric::Fabric;
    use crate::kernel::trace_event::Holder;
    use crate::units::Units;
    use npsim_profile::Profile;

    const ME: Holder = Some((4, 1));

    fn fabric() -> Fabric {
        Fabric::new(Profile::load("ixp2400").unwrap(), Units::inlets)
    }

    /// Changes the bit from `old` to `new` at a cycle.
    fn at(locks: &mut Locks, fabric: &mut Fabric, now: u64, old: u32, new: u32) {
        fabric.now = now;
        locks.change(new == 1, ME, (8, 1), |_| old, |_| new, fabric);
    }

    #[test]
    fn lock_time_is_split_into_held_handover_and_idle() {
        let (mut locks, mut fabric) = (Locks::default(), fabric());
        locks.watch(0, "L".into(), 8, 0);
        at(&mut locks, &mut fabric, 100, 0, 1);
        at(&mut locks, &mut fabric, 130, 1, 1);
        at(&mut locks, &mut fabric, 150, 1, 0);
        at(&mut locks, &mut fabric, 170, 0, 1);
        at(&mut locks, &mut fabric, 200, 1, 0);
        // No attempt failed: the lock is idle until it is taken again.
        at(&mut locks, &mut fabric, 1000, 0, 1);
        let lock = locks.iter().next().unwrap();
        let counts = lock.counts_at(1005);
        assert_eq!((counts.tries, counts.acquired, counts.released), (4, 3, 2));
        assert_eq!((counts.held, counts.held_longest), (50 + 30 + 5, 50));
        assert_eq!((counts.handovers, counts.handover), (1, 20));
        assert_eq!(counts.handover_shortest, 20);
    }

    #[test]
    fn holder_of_a_lock_is_known_until_it_is_released() {
        let (mut locks, mut fabric) = (Locks::default(), fabric());
        locks.watch(0, "L".into(), 8, 0);
        let hold = |locks: &Locks| locks.iter().next().unwrap().hold();
        assert_eq!(hold(&locks), None);
        at(&mut locks, &mut fabric, 100, 0, 1);
        at(&mut locks, &mut fabric, 130, 1, 1);
        let expected = Hold {
            by: ME,
            since: 100,
            failed: 1,
        };
        assert_eq!(hold(&locks), Some(expected));
        at(&mut locks, &mut fabric, 150, 1, 0);
        assert_eq!(hold(&locks), None);
    }

    #[test]
    fn contended_released_lock_counts_as_handover() {
        let (mut locks, mut fabric) = (Locks::default(), fabric());
        locks.watch(0, "L".into(), 8, 1);
        at(&mut locks, &mut fabric, 10, 1, 1);
        at(&mut locks, &mut fabric, 40, 1, 0);
        let counts = locks.iter().next().unwrap().counts_at(47);
        assert_eq!((counts.held, counts.handover), (40, 7));
        assert_eq!((counts.handovers, counts.tries, counts.acquired), (0, 1, 0));
    }

    #[test]
    fn only_changes_to_its_longword_affect_a_lock() {
        let (mut locks, mut fabric) = (Locks::default(), fabric());
        locks.watch(0, "L".into(), 8, 0);
        fabric.now = 5;
        let change = |first, count| (first, count);
        locks.change(true, ME, change(4, 4), |_| 0, |_| 1, &mut fabric);
        locks.change(true, ME, change(9, 4), |_| 0, |_| 1, &mut fabric);
        assert_eq!(locks.iter().next().unwrap().counts.tries, 0);
        // A burst that covers the lock as its fourth longword.
        let new = |at: u32| u32::from(at == 3);
        locks.change(true, ME, change(5, 4), |_| 0, new, &mut fabric);
        assert_eq!(locks.iter().next().unwrap().counts.acquired, 1);
    }
}
