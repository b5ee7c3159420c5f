//! What microengines, units and buses tell of a run, put in order.
//!
//! They need not know who watches: they write into the journal, in whatever
//! order the simulation comes to it, and the chip hands on what can no longer be
//! preceded by anything.

use crate::Cycle;
use crate::kernel::observer::Observer;
use crate::kernel::trace_event::{Cause, Kind, Kinds, TraceEvent};

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

/// Cycles that a batch may cover to be put in order by counting; a batch of a
/// quiet chip covers more, and is sorted by comparing.
const COUNTED: Cycle = 1 << 15;

/// Ranks that there are, and some.
const RANKS: usize = 32;

/// The journal. It is closed, and costs a test, unless somebody watches the run.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// What is written down; nothing in a closed one.
    wanted: Kinds,
    told: Vec<(Cycle, TraceEvent)>,
    expected: Vec<Expected>,
    /// From how many events on they are put in order.
    enough: usize,
    /// All before this cycle is handed on.
    sure: Cycle,
    /// Kept for its memory.
    sorting: Sorting,
}

impl Journal {
    /// Opens it for events of these kinds; without any, closes and empties it.
    pub fn set(&mut self, wanted: Kinds) {
        self.wanted = wanted;
        if self.is_open() {
            self.enough = self.enough.max(BATCH);
        } else {
            self.told.clear();
            self.expected.clear();
            self.sure = 0;
        }
    }

    /// Whether anyone watches.
    #[must_use]
    #[inline]
    pub const fn is_open(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Whether anyone wants events of a kind.
    #[must_use]
    #[inline]
    pub const fn wants(&self, kind: Kind) -> bool {
        self.wanted.has(kind)
    }

    /// Writes down what happens at a cycle.
    #[inline]
    pub fn tell(&mut self, at: Cycle, what: impl FnOnce() -> TraceEvent) {
        if self.is_open() {
            self.write(at, what);
        }
    }

    /// Out of the way of runs that nobody watches.
    #[cold]
    #[inline(never)]
    fn write(&mut self, at: Cycle, what: impl FnOnce() -> TraceEvent) {
        self.put(at, what());
    }

    /// Writes down what happens at a cycle, where it is known that somebody
    /// watches.
    #[inline]
    pub(crate) fn put(&mut self, at: Cycle, event: TraceEvent) {
        // Whoever calls knows the kind when it is compiled, so this is a test of one bit.
        if self.wanted.has(event.kind()) {
            self.told.push((at, event));
        }
    }

    /// A signal was sent that will arrive at `due`.
    #[inline]
    pub fn expect(
        &mut self,
        due: Cycle,
        (me, context, signal): (u8, u8, u8),
        cause: impl FnOnce() -> Cause,
    ) {
        if self.wants(Kind::Signal) {
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
        let Self { told, sorting, .. } = self;
        sorting.sort(told, self.sure, before);
        for &place in &sorting.order {
            let (at, event) = &told[place as usize];
            observer.see(*at, event);
        }
        if sorting.order.len() == told.len() {
            told.clear();
        } else if !sorting.order.is_empty() {
            told.retain(|(at, _)| *at >= before);
        }
        self.sure = self.sure.max(before);
        self.enough = (2 * self.told.len()).max(BATCH);
    }

    /// Forgets what was not handed on: the run has ended before it.
    pub fn leave_out_the_rest(&mut self) {
        self.told.clear();
    }
}

/// The places of events in their order, and what is needed to find it.
#[derive(Clone, Debug, Default)]
struct Sorting {
    order: Vec<u32>,
    by_rank: Vec<u32>,
    /// For each cycle the place at which its next event stands.
    places: Vec<u32>,
}

impl Sorting {
    /// Orders the events before a cycle, all of which lie at or after `sure`, by
    /// cycle and rank, and as they were told where both are the same.
    fn sort(&mut self, told: &[(Cycle, TraceEvent)], sure: Cycle, before: Cycle) {
        self.order.clear();
        self.by_rank.clear();
        let last = told.iter().map(|it| it.0).filter(|at| *at < before).max();
        let Some(last) = last else { return };
        let first = told.iter().map(|it| it.0).min().unwrap_or(last);
        debug_assert!(first >= sure, "{first} is told after {sure} was handed on");
        let indexed = || (0..).zip(told).filter(|(_, it)| it.0 < before);
        if last - first >= COUNTED {
            self.order.extend(indexed().map(|(place, _)| place));
            let key = |&place: &u32| {
                let (at, event) = &told[place as usize];
                (*at, event.rank())
            };
            self.order.sort_by_key(key);
            return;
        }
        // By rank, then by cycle: each pass keeps the order of the one before.
        let mut ranks = [0_u32; RANKS];
        self.places.clear();
        self.places.resize((last - first) as usize + 1, 0);
        let mut count = 0;
        for (_, (at, event)) in indexed() {
            ranks[usize::from(event.rank()) % RANKS] += 1;
            self.places[(at - first) as usize] += 1;
            count += 1;
        }
        to_begins(&mut ranks);
        to_begins(&mut self.places);
        self.by_rank.resize(count, 0);
        self.order.resize(count, 0);
        for (place, (_, event)) in indexed() {
            let to = &mut ranks[usize::from(event.rank()) % RANKS];
            self.by_rank[*to as usize] = place;
            *to += 1;
        }
        for &place in &self.by_rank {
            let to = &mut self.places[(told[place as usize].0 - first) as usize];
            self.order[*to as usize] = place;
            *to += 1;
        }
    }
}

/// From how many there are of each to where each begins.
fn to_begins(counts: &mut [u32]) {
    let mut begin = 0;
    for count in counts {
        begin += std::mem::replace(count, begin);
    }
}

#[cfg(test)]
mod tests {
    use super::Journal;
    use crate::Cycle;
    use crate::kernel::observer::Observer;
    use crate::kernel::trace_event::{Bus, ContextState, Kind, Kinds, TraceEvent};

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
        for far in [0, 1 << 40] {
            in_order(far);
        }
    }

    /// With what lies far ahead they are compared, else counted.
    fn in_order(far: Cycle) {
        let mut journal = Journal::default();
        journal.set(Kinds::ALL);
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
        journal.tell(20 + far, || bus(8));
        journal.tell(21 + far, || bus(9));
        journal.hand_on(21 + far, &mut seen);
        let now = [(9, 0, 4), (9, 1, 2), (9, 1, 5), (9, 1, 7), (9, 2, 1)];
        assert_eq!(seen.0[2..7], now);
        assert_eq!(seen.0[7..], [(20 + far, 0, 8)]);
        journal.leave_out_the_rest();
        journal.hand_on(Cycle::MAX, &mut seen);
        assert_eq!(seen.0.len(), 8);
    }

    #[test]
    fn what_nobody_wants_is_not_written_down() {
        let mut journal = Journal::default();
        journal.set(Kinds::of(&[Kind::Context]));
        journal.tell(3, || bus(4));
        journal.tell(4, || context(0, 7));
        journal.put(5, bus(6));
        let mut seen = Seen::default();
        journal.hand_on(9, &mut seen);
        assert_eq!(seen.0, [(4, 1, 7)]);
        journal.set(Kinds::NONE);
        assert!(!journal.is_open());
    }
}
