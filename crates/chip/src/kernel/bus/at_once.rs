//! The way of nearly all commands, which find nothing in their way and set out when they
//! are issued, without an event for the arbiter.
//!
//! What could be in the way is kept in few words: from when on a cluster's bus is free and
//! nothing waits for it, and how many places a target has that are not promised to anyone.
//! Who finds one of them closed goes the long way, which looks at everything.

use super::{Buses, CLUSTERS};
use crate::Cycle;
use crate::kernel::target::Target;

impl Buses {
    /// Sends a command to `target` if nothing at all is in its way; gives its arrival at
    /// the inlet.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of issuing a command.
    pub(crate) fn depart_at_once(&mut self, now: Cycle, me: u8, target: Target) -> Option<Cycle> {
        let cluster = self.cluster_of(me);
        let state = &mut self.clusters[cluster % CLUSTERS];
        let clocks = self.bus_cycle;
        // No cluster is open where a clock is no power of two.
        let slot = (now + self.rest_of_clock) & self.clocks;
        let at = target.index();
        if state.open_from > slot || self.open[at] == 0 {
            return None;
        }
        let end = slot + clocks;
        if self.inlets.is_shared(target) {
            if self.shared_free > slot || self.shared_promised.is_some() {
                return None;
            }
            self.shared_free = end;
        }
        self.open[at] -= 1;
        self.waiting[at] += 1;
        self.granted_last[at] = cluster as u8;
        state.command_free = end;
        state.open_from = end;
        state.command.busy += clocks;
        state.command.waiting += slot - now;
        Some(slot + self.issue_to_inlet)
    }
}
