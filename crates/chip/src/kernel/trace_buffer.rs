//! The buffer that puts the trace events of a run in order.
//!
//! Microengines, units and buses record events in the order in which the simulation computes them,
//! which is not the order of simulated time. The chip flushes the buffer up to a cycle that no
//! later event can precede.

use crate::Cycle;
use crate::kernel::observer::{Batch, Observer};
use crate::kernel::trace_event::{EventKinds, TraceEvent, TraceEventKind};

/// The fewest events for which a flush is worth its cost. It does not affect the order in which
/// observers see events.
const BATCH: usize = 2048;

/// Length in cycles from which a batch is sorted by comparison. A batch of a busy chip covers fewer
/// cycles, and gets a list of events for each cycle.
const COUNTED: Cycle = 1 << 15;

/// The index that stands for no event.
const NONE: u32 = u32::MAX;

/// The trace buffer. It is closed without an observer, and recording then costs one test.
#[derive(Clone, Debug)]
pub struct TraceBuffer {
    /// The kinds of events that are recorded; none while the buffer is closed.
    wanted: EventKinds,
    events: Vec<(Cycle, TraceEvent)>,
    /// Index of the event that the next instructions of the present turn may extend; [`NONE`]
    /// if there is none.
    open_run: u32,
    /// Number of events at which the buffer is full.
    enough: usize,
    /// Every event before this cycle has been flushed.
    flushed_to: Cycle,
    /// Kept from flush to flush so that its vectors are allocated once.
    sorting: EventSorter,
}

impl Default for TraceBuffer {
    fn default() -> Self {
        Self {
            wanted: EventKinds::NONE,
            events: Vec::new(),
            open_run: NONE,
            enough: 0,
            flushed_to: 0,
            sorting: EventSorter::default(),
        }
    }
}

impl TraceBuffer {
    /// Opens the buffer for events of these kinds; without any, closes and empties it.
    pub fn set(&mut self, wanted: EventKinds) {
        self.wanted = wanted;
        if self.is_open() {
            self.enough = self.enough.max(BATCH);
        } else {
            self.events.clear();
            self.open_run = NONE;
            self.flushed_to = 0;
        }
    }

    /// Whether an observer wants any event.
    #[must_use]
    #[inline]
    pub const fn is_open(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Whether an observer wants events of a kind.
    #[must_use]
    #[inline]
    pub const fn wants(&self, kind: TraceEventKind) -> bool {
        self.wanted.has(kind)
    }

    /// Whether an observer wants events of commands in flight or of their buses.
    #[must_use]
    pub(crate) const fn wants_commands(&self) -> bool {
        self.wants(TraceEventKind::Command) || self.wants(TraceEventKind::Bus)
    }

    /// Records an event of a cycle.
    #[inline]
    pub fn record(&mut self, at: Cycle, what: impl FnOnce() -> TraceEvent) {
        if self.is_open() {
            self.write(at, what);
        }
    }

    /// Kept out of line for unobserved runs.
    #[cold]
    #[inline(never)]
    fn write(&mut self, at: Cycle, what: impl FnOnce() -> TraceEvent) {
        self.put(at, what());
    }

    /// Records an event of a cycle, for callers that know that the run is observed.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Callers pass a constant kind.
    pub fn put(&mut self, at: Cycle, event: TraceEvent) {
        match event {
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } => return self.issued(at, (me, context), pc, count),
            // Instructions before and after a change of a context's state are two events.
            TraceEvent::Context { .. } => self.open_run = NONE,
            _ => {}
        }
        if self.wanted.has(event.kind()) {
            self.events.push((at, event));
        }
    }

    /// Starts a microengine's turn, and with it a new event for its instructions, so that their
    /// division into events does not depend on the steps in which a run is made.
    #[inline]
    pub(crate) fn begin_turn(&mut self) {
        self.open_run = NONE;
    }

    /// Records instructions, extending the event of the preceding ones if they follow without a
    /// gap.
    #[inline(never)]
    fn issued(&mut self, at: Cycle, who: (u8, u8), pc: u16, count: u16) {
        if let Some((
            from,
            TraceEvent::Issued {
                me,
                context,
                pc: first,
                count: all,
            },
        )) = self.events.get_mut(self.open_run as usize)
            && at == *from + Cycle::from(*all)
            && u32::from(pc) == u32::from(*first) + u32::from(*all)
            && who == (*me, *context)
            && let Some(more) = all.checked_add(count)
        {
            *all = more;
            return;
        }
        if !self.wanted.has(TraceEventKind::Issued) {
            return;
        }
        // Last, so that nothing has to be saved across the call.
        if self.events.len() == self.events.capacity() {
            return self.issued_beyond(at, who, pc, count);
        }
        self.open_run = self.events.len() as u32;
        let (me, context) = who;
        let issued = TraceEvent::Issued {
            me,
            context,
            pc,
            count,
        };
        self.events.push((at, issued));
    }

    /// [`Self::issued`] with the vector at its capacity: kept out of line, so that the usual path
    /// contains no call.
    #[cold]
    #[inline(never)]
    fn issued_beyond(&mut self, at: Cycle, who: (u8, u8), pc: u16, count: u16) {
        self.events.reserve(BATCH);
        self.issued(at, who, pc, count);
    }

    /// Whether there are enough events for a flush.
    #[must_use]
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.events.len() >= self.enough
    }

    /// Passes all events before a cycle to the observer, in order if it needs that, and removes
    /// them. No event before that cycle may be recorded afterwards, unless it is [`Cycle::MAX`],
    /// which flushes everything.
    pub fn flush(&mut self, before: Cycle, observer: &mut dyn Observer) {
        let Self {
            events, sorting, ..
        } = self;
        debug_assert!(
            events.iter().all(|it| it.0 >= self.flushed_to),
            "an event is recorded too late"
        );
        if observer.needs_order() {
            let at = events.iter().map(|it| it.0);
            let (first, last) = at.fold((Cycle::MAX, 0), |(first, last), at| {
                (first.min(at), last.max(at))
            });
            if first < before {
                let which = Ok(sorting.in_order(events, (first, last.min(before - 1))));
                observer.see_batch(&Batch { events, which });
            }
        } else {
            let which = Err(before);
            observer.see_batch(&Batch { events, which });
        }
        events.retain(|(at, _)| *at >= before);
        self.open_run = NONE;
        // A flush of everything does not bound later events.
        if before != Cycle::MAX {
            self.flushed_to = self.flushed_to.max(before);
        }
        self.enough = (2 * self.events.len()).max(BATCH);
    }

    /// Accounts for skipped recurring time: the events in the buffer move by `by` cycles, and no
    /// later event is before `flushed_to`.
    pub(crate) fn pass(&mut self, by: Cycle, flushed_to: Cycle) {
        for (at, event) in &mut self.events {
            *at += by;
            *event = event.later(by);
        }
        self.flushed_to = flushed_to;
    }

    /// Drops the events that were not flushed: the run ended before their cycles.
    pub(crate) fn discard_rest(&mut self) {
        self.events.clear();
        self.open_run = NONE;
    }
}

/// Buffers for sorting events.
#[derive(Clone, Debug, Default)]
struct EventSorter {
    /// The index of the first event of each cycle.
    heads: Vec<u32>,
    /// For each event, the index of the next event of its cycle.
    links: Vec<u32>,
    /// Cycle, rank and index of each event, for the sort by comparison.
    compared: Vec<(Cycle, u8, u32)>,
    /// The indices of the events, in order.
    ordered: Vec<u32>,
}

impl EventSorter {
    /// The indices of the events from cycle `first` to cycle `last`, ordered by cycle and rank, and
    /// by recording where both are equal.
    fn in_order(
        &mut self,
        events: &[(Cycle, TraceEvent)],
        (first, last): (Cycle, Cycle),
    ) -> &[u32] {
        let Self {
            heads,
            links,
            compared,
            ordered,
        } = self;
        ordered.clear();
        if last - first >= COUNTED {
            compared.clear();
            let all = (0..).zip(events);
            let all = all.map(|(place, (at, event))| (*at, event.rank(), place));
            compared.extend(all.filter(|it| it.0 <= last));
            compared.sort_unstable();
            ordered.extend(compared.iter().map(|it| it.2));
            return ordered;
        }
        // A linked list for each cycle, usually of one to four events. Iterating backwards and
        // adding each event at the head leaves it in the order of recording.
        heads.clear();
        heads.resize((last - first) as usize + 1, NONE);
        links.resize(events.len().max(links.len()), NONE);
        for (place, (at, _)) in (0..events.len() as u32).zip(events).rev() {
            if *at <= last {
                let head = &mut heads[(at - first) as usize];
                links[place as usize] = std::mem::replace(head, place);
            }
        }
        let rank = |place: u32| events[place as usize].1.rank();
        for &head in &*heads {
            if head == NONE {
                continue;
            }
            let of_cycle = ordered.len();
            ordered.push(head);
            let mut next = links[head as usize];
            while next != NONE {
                let own = rank(next);
                let mut place = ordered.len();
                ordered.push(next);
                while place > of_cycle && rank(ordered[place - 1]) > own {
                    ordered[place] = ordered[place - 1];
                    place -= 1;
                }
                ordered[place] = next;
                next = links[next as usize];
            }
        }
        ordered
    }
}

#[cfg(test)]
mod tests {
    use super::TraceBuffer;
    use crate::Cycle;
    use crate::kernel::observer::Observer;
    use crate::kernel::trace_event::{Bus, ContextState, EventKinds, TraceEvent, TraceEventKind};

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
    fn trace_events_are_sorted_by_cycle_rank_and_recording_order() {
        for far in [0, 1 << 40] {
            in_order(far);
        }
    }

    /// If `far` is 0, the batch has a list for each cycle; otherwise it is sorted by comparison.
    fn in_order(far: Cycle) {
        let mut trace = TraceBuffer::default();
        trace.set(EventKinds::ALL);
        for (at, event) in [
            (9, context(1, 1)),
            (9, context(0, 2)),
            (5, context(3, 3)),
            (9, bus(4)),
            (9, context(0, 5)),
            (7, bus(6)),
        ] {
            trace.record(at, || event);
        }
        let mut seen = Seen::default();
        trace.flush(9, &mut seen);
        assert_eq!(seen.0, [(5, 4, 3), (7, 0, 6)]);
        trace.record(9, || context(0, 7));
        trace.record(20 + far, || bus(8));
        trace.record(21 + far, || bus(9));
        trace.flush(21 + far, &mut seen);
        let now = [(9, 0, 4), (9, 1, 2), (9, 1, 5), (9, 1, 7), (9, 2, 1)];
        assert_eq!(seen.0[2..7], now);
        assert_eq!(seen.0[7..], [(20 + far, 0, 8)]);
        trace.discard_rest();
        trace.flush(Cycle::MAX, &mut seen);
        assert_eq!(seen.0.len(), 8);
    }

    #[derive(Default)]
    struct Stretches(Vec<(Cycle, u16, u16)>);

    impl Observer for Stretches {
        fn see(&mut self, at: Cycle, event: &TraceEvent) {
            if let TraceEvent::Issued { pc, count, .. } = *event {
                self.0.push((at, pc, count));
            }
        }

        fn needs_order(&self) -> bool {
            false
        }
    }

    #[test]
    fn consecutive_instructions_are_merged_into_one_event() {
        let issued = |context, pc, count| TraceEvent::Issued {
            me: 0,
            context,
            pc,
            count,
        };
        let mut trace = TraceBuffer::default();
        trace.set(EventKinds::ALL);
        trace.put(10, issued(0, 4, 2));
        trace.put(12, issued(0, 6, 3));
        trace.put(15, context(0, 9));
        trace.put(15, issued(0, 9, 1));
        trace.begin_turn();
        trace.put(16, issued(0, 10, 1));
        trace.put(17, issued(1, 11, 1));
        trace.put(19, issued(1, 12, 1));
        trace.put(20, issued(1, 14, u16::MAX));
        let long = 20 + Cycle::from(u16::MAX);
        trace.put(long, issued(1, 13, 1));
        let mut seen = Stretches::default();
        trace.flush(20, &mut seen);
        let first = [
            (10, 4, 5),
            (15, 9, 1),
            (16, 10, 1),
            (17, 11, 1),
            (19, 12, 1),
        ];
        assert_eq!(seen.0, first);
        // A flush ends the open event.
        trace.put(long + 1, issued(1, 14, 1));
        trace.flush(Cycle::MAX, &mut seen);
        let rest = [(20, 14, u16::MAX), (long, 13, 1), (long + 1, 14, 1)];
        assert_eq!(seen.0[5..], rest);
        // The vector grows as often as necessary.
        for n in 0..3 * super::BATCH as Cycle {
            trace.put(long + 2 + 2 * n, issued(0, 0, 1));
        }
        let mut seen = Stretches::default();
        trace.flush(Cycle::MAX, &mut seen);
        assert_eq!(seen.0.len(), 3 * super::BATCH);
    }

    #[test]
    fn unwanted_kinds_are_not_recorded() {
        let mut trace = TraceBuffer::default();
        trace.set(EventKinds::of(&[TraceEventKind::Context]));
        trace.record(3, || bus(4));
        trace.record(4, || context(0, 7));
        trace.put(5, bus(6));
        let mut seen = Seen::default();
        trace.flush(9, &mut seen);
        assert_eq!(seen.0, [(4, 1, 7)]);
        trace.set(EventKinds::NONE);
        assert!(!trace.is_open());
    }
}
