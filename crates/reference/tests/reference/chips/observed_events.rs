//! The events that an observer of a chip receives, for comparison.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_chip::kernel::trace_event::TraceEvent;

/// An observer of a chip, or none.
pub trait Watcher {
    fn as_observer(&mut self) -> &mut dyn Observer;

    /// The number of events before a cycle, which the chip has reached. No more of these may
    /// follow.
    fn events_before(&mut self, _: Cycle) -> usize {
        0
    }
}

impl Watcher for NoObserver {
    fn as_observer(&mut self) -> &mut dyn Observer {
        self
    }
}

/// All events, with instructions one by one: how many a core reports at once is up to it.
#[derive(Default)]
pub struct RecordedEvents {
    pub events: Vec<(Cycle, TraceEvent)>,
    /// The cycle before which no more events may come.
    last: Cycle,
}

impl Observer for RecordedEvents {
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        assert!(self.last <= at, "{event:?} of {at} behind {}", self.last);
        self.last = at;
        let TraceEvent::Issued {
            me,
            context,
            pc,
            count,
        } = *event
        else {
            self.events.push((at, *event));
            return;
        };
        let each = (0..count).map(|n| {
            let issued = TraceEvent::Issued {
                me,
                context,
                pc: pc + n,
                count: 1,
            };
            (at + Cycle::from(n), issued)
        });
        self.events.extend(each);
    }
}

impl Watcher for RecordedEvents {
    fn as_observer(&mut self) -> &mut dyn Observer {
        self
    }

    fn events_before(&mut self, cycle: Cycle) -> usize {
        assert!(self.last < cycle || cycle == 0, "{} at {cycle}", self.last);
        self.last = cycle;
        self.events.iter().filter(|it| it.0 < cycle).count()
    }
}

impl RecordedEvents {
    /// By cycle and rank, which is the promised order. Within these, pipeline events come first,
    /// because a core may report them ahead of signals of the same cycle; the others keep their
    /// order. A fault ends a run within its cycle, and the events reported for that cycle and later
    /// ones depend on the order of turns.
    pub fn of(mut self, chip: &Chip) -> Vec<(Cycle, TraceEvent)> {
        let end = chip.fault().map_or(Cycle::MAX, |fault| fault.cycle);
        self.events.retain(|(at, _)| *at < end);
        let of_pipeline = |event: &TraceEvent| {
            matches!(
                event,
                TraceEvent::Issued { .. }
                    | TraceEvent::Aborted { .. }
                    | TraceEvent::Held { .. }
                    | TraceEvent::Stalled { .. }
            )
        };
        self.events
            .sort_by_key(|(at, event)| (*at, event.rank(), !of_pipeline(event)));
        self.events
    }
}
