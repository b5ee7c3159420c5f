//! The observers of a run started from Python: those of the library, and a Python
//! one.

use npsim::chip::Cycle;
use npsim::chip::chip::Chip;
use npsim::chip::kernel::observer::{Batch, Observer};
use npsim::chip::kernel::recurring_state::RecurringState;
use npsim::chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim::chip::watch::Sampler;
use npsim::observe::packets::PacketRows;
use npsim::observe::set::ObserverSet;

use crate::event_batches::EventBatches;
use crate::packet_table::PacketTable;

/// The observers of a run.
#[derive(Debug, Default)]
pub struct RunObservers {
    pub set: ObserverSet,
    pub packets: Option<PacketRows<PacketTable>>,
    pub events: Option<EventBatches>,
}

impl Observer for RunObservers {
    fn wants(&self) -> EventKinds {
        { self.set.wants() }
            .and(self.packets.wants())
            .and(self.events.wants())
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.set.see(at, event);
        self.packets.see(at, event);
        self.events.see(at, event);
    }

    fn needs_order(&self) -> bool {
        self.set.needs_order() || self.packets.needs_order() || self.events.needs_order()
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.set.visit_state(at, state)
            && self.packets.visit_state(at, state)
            && self.events.visit_state(at, state)
    }

    fn see_batch(&mut self, events: &Batch<'_>) {
        self.set.see_batch(events);
        self.packets.see_batch(events);
        self.events.see_batch(events);
    }
}

impl Sampler for RunObservers {
    fn due(&self) -> Cycle {
        self.set.due()
    }

    fn sample(&mut self, chip: &Chip) {
        self.set.sample(chip);
    }
}
