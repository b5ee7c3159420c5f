//! What microengines, units and buses tell of a run, put in order.
//!
//! They need not know who watches: they write into the journal, in whatever
//! order the simulation comes to it, and the chip hands on what can no longer be
//! preceded by anything.

use crate::Cycle;
use crate::kernel::observer::Observer;
use crate::kernel::trace_event::{Cause, TraceEvent};

/// Events that are written before it is worth the while to put them in order.
/// The order that comes of it does not depend on it.
const BATCH: usize = 2048;

/// A signal on its way and where it comes from.
#[derive(Clone, Copy, Debug)]
struct Expected {
    due: Cycle,
    me: u8,
    context: u8,
    signal: u8,
    cause: Cause,
}

/// Where an event stands in the order: its cycle and rank as one number, then
/// its place among what was told.
type Place = (u64, u32);

/// Bits of a rank below the cycle.
const RANK_BITS: u32 = 5;

/// The journal. It is closed, and costs a test of its flag, unless somebody
/// watches the run.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    open: bool,
    told: Vec<(Cycle, TraceEvent)>,
    expected: Vec<Expected>,
    /// From how many events on they are put in order.
    enough: usize,
    /// Kept for their memory.
    order: Vec<Place>,
    rest: Vec<(Cycle, TraceEvent)>,
}

impl Journal {
    /// Opens it for a run that is watched, else closes and empties it.
    pub fn set(&mut self, open: bool) {
        self.open = open;
        if open {
            self.enough = self.enough.max(BATCH);
        } else {
            self.told.clear();
            self.expected.clear();
        }
    }

    /// Whether anyone watches.
    #[must_use]
    #[inline]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// Writes down what happens at a cycle.
    #[inline]
    pub fn tell(&mut self, at: Cycle, what: impl FnOnce() -> TraceEvent) {
        if self.open {
            self.write(at, what);
        }
    }

    /// Out of the way of runs that nobody watches.
    #[cold]
    #[inline(never)]
    fn write(&mut self, at: Cycle, what: impl FnOnce() -> TraceEvent) {
        self.told.push((at, what()));
    }

    /// Writes down what happens at a cycle, where it is known that somebody
    /// watches.
    #[inline]
    pub(crate) fn put(&mut self, at: Cycle, event: TraceEvent) {
        self.told.push((at, event));
    }

    /// A signal was sent that will arrive at `due`.
    #[inline]
    pub fn expect(
        &mut self,
        due: Cycle,
        (me, context, signal): (u8, u8, u8),
        cause: impl FnOnce() -> Cause,
    ) {
        if self.open {
            let cause = cause();
            self.expected.push(Expected {
                due,
                me,
                context,
                signal,
                cause,
            });
        }
    }

    /// Where a signal comes from that arrives now.
    pub fn cause_of(&mut self, now: Cycle, me: u8, context: u8, signal: u8) -> Cause {
        let found = self
            .expected
            .iter()
            .position(|it| (it.due, it.me, it.context, it.signal) == (now, me, context, signal));
        found.map_or(Cause::Unknown, |at| self.expected.remove(at).cause)
    }

    /// Whether so much is written that it should be handed on.
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        self.told.len() >= self.enough
    }

    /// Hands on, in order, what lies before a cycle. Nothing earlier than that
    /// may be told from now on.
    pub fn hand_on(&mut self, before: Cycle, observer: &mut dyn Observer) {
        self.order.clear();
        self.order
            .extend((0..).zip(&self.told).map(|(place, (at, event))| {
                let rank = u64::from(event.rank());
                (at << RANK_BITS | rank, place)
            }));
        // Microengines and units tell in long ascending stretches, which a stable
        // sort finds and merges.
        self.order.sort();
        let bound = before.min(u64::MAX >> RANK_BITS) << RANK_BITS;
        let sure = self.order.partition_point(|(key, _)| *key < bound);
        for &(_, place) in &self.order[..sure] {
            let (at, event) = &self.told[place as usize];
            observer.see(*at, event);
        }
        self.rest.clear();
        let rest = self.order[sure..].iter();
        self.rest
            .extend(rest.map(|(_, place)| self.told[*place as usize]));
        std::mem::swap(&mut self.told, &mut self.rest);
        self.enough = (2 * self.told.len()).max(BATCH);
    }

    /// Forgets what was not handed on: the run has ended before it.
    pub fn leave_out_the_rest(&mut self) {
        self.told.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Journal;
    use crate::Cycle;
    use crate::kernel::observer::Observer;
    use crate::kernel::trace_event::{Bus, ContextState, TraceEvent};

    #[derive(Default)]
    struct Seen(Vec<(Cycle, u8, Cycle)>);

    impl Observer for Seen {
        fn see(&mut self, at: Cycle, event: &TraceEvent) {
            let mark = match *event {
                TraceEvent::Bus { until, .. } => until,
                TraceEvent::Context { pc, .. } => pc.into(),
                _ => 0,
            };
            self.0.push((at, event.rank(), mark));
        }
    }

    fn bus(until: Cycle) -> TraceEvent {
        TraceEvent::Bus {
            bus: Bus::DPush,
            from: 0,
            until,
        }
    }

    fn context(me: u8, pc: u16) -> TraceEvent {
        TraceEvent::Context {
            me,
            context: 0,
            doing: ContextState::Ready,
            pc,
        }
    }

    #[test]
    fn events_come_by_cycle_then_by_rank_then_as_they_were_told() {
        let mut journal = Journal::default();
        journal.set(true);
        for (at, event) in [
            (9, context(1, 1)),
            (9, context(0, 2)),
            (5, context(3, 3)),
            (9, bus(4)),
            (9, context(0, 5)),
            (7, bus(6)),
        ] {
            journal.tell(at, || event);
        }
        let mut seen = Seen::default();
        journal.hand_on(9, &mut seen);
        assert_eq!(seen.0, [(5, 4, 3), (7, 0, 6)]);
        journal.tell(9, || context(0, 7));
        journal.tell(20, || bus(8));
        journal.hand_on(20, &mut seen);
        assert_eq!(
            seen.0[2..],
            [(9, 0, 4), (9, 1, 2), (9, 1, 5), (9, 1, 7), (9, 2, 1)]
        );
        journal.leave_out_the_rest();
        journal.hand_on(Cycle::MAX, &mut seen);
        assert_eq!(seen.0.len(), 7);
    }
}
