//! A push or pull bus, and the use of a bus.

use serde::{Deserialize, Serialize};

use super::CLUSTERS;
use crate::Cycle;

/// Index of the D bus in a table of the data buses of one direction, after the S buses of the
/// clusters.
pub(super) const D_BUS: usize = CLUSTERS;
/// Size of such a table; a power of two.
pub(super) const DATA_BUSES: usize = 4;

const _: () = assert!(D_BUS < DATA_BUSES);

/// The use of a bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusUse {
    /// ME cycles in which the bus carried something.
    pub busy: Cycle,
    /// Commands or bursts carried.
    pub transfers: u64,
    /// Sum over transfers of the ME cycles that they waited for the bus: the time integral of its
    /// queue.
    pub waiting: Cycle,
    /// Peak of the queue: commands for a command bus, ME cycles booked ahead for the others.
    pub queue_peak: u64,
}

impl BusUse {
    /// The use without bookings beyond `now`.
    pub(super) fn until(mut self, now: Cycle, free: Cycle) -> Self {
        self.busy -= free.saturating_sub(now).min(self.busy);
        self
    }
}

/// A push or pull bus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DataBus {
    pub(super) free: Cycle,
    pub(super) used: BusUse,
}

impl DataBus {
    pub(super) fn until(&self, now: Cycle) -> BusUse {
        self.used.until(now, self.free)
    }

    /// Books `cycles`, starting now or as soon as the bus is free. Returns the end.
    #[inline]
    pub(super) fn reserve(&mut self, now: Cycle, cycles: Cycle) -> Cycle {
        self.used.busy += cycles;
        let mut from = now;
        if self.free > now {
            let waited = self.free - now;
            from = self.free;
            self.used.waiting += waited;
            self.used.queue_peak = self.used.queue_peak.max(waited);
        }
        self.used.transfers += 1;
        self.free = from + cycles;
        self.free
    }
}
