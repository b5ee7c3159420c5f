//! The fast path of the command buses: a command with nothing in its way is granted the bus when it
//! is issued, without an event for the arbiter. `arbitration` decides all other cases.
//!
//! The conditions are summarized in a few words: the cycle from which a cluster's bus is free with
//! nothing waiting for it, and the number of places at a target that are not promised. A command
//! that fails one of them takes the slow path, which examines everything. Nearly all of those wait
//! only for the bus; these too have short steps that queue them and grant them the bus.

use std::num::NonZeroU16;

use super::{Buses, CLUSTERS, HeldCommand};
use crate::Cycle;
use crate::kernel::command::CommandId;
use crate::kernel::target::CommandTarget;

impl Buses {
    /// Sends a command to `target` if nothing at all is in its way. Returns its arrival at the
    /// inlet.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of issuing a command.
    pub(crate) fn try_grant(&mut self, now: Cycle, me: u8, target: CommandTarget) -> Option<Cycle> {
        let cluster = self.cluster_of(me);
        // No cluster is open if a clock is not a power of two.
        let slot = (now + self.rest_of_clock) & self.clocks;
        if self.clusters[cluster].open_from > slot || !self.is_open(target, slot) {
            return None;
        }
        let end = self.book((slot, now), cluster, target);
        self.clusters[cluster].open_from = end;
        Some(slot + self.issue_to_inlet)
    }

    /// Queues a command in its microengine's FIFO if it waits only for the bus and no observer
    /// wants events of commands or buses. Returns its cluster, and the cycle at which the cluster
    /// has to arbitrate unless an arbitration is posted already.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of issuing a command.
    pub(crate) fn try_queue(
        &mut self,
        me: u8,
        held: &HeldCommand,
    ) -> Option<(usize, Option<Cycle>)> {
        let cluster = self.cluster_of(me);
        let state = &mut self.clusters[cluster % CLUSTERS];
        let slot = (held.since + self.rest_of_clock) & self.clocks;
        // Commands that wait without an arbitration wait for room.
        let waits_for_bus = state.posted || state.held == 0 && state.command_free > slot;
        let fifo = self.fifos.get_mut(usize::from(me))?;
        if !waits_for_bus
            || self.is_uneven
            || self.is_watched
            || self.open[held.target.index()] == 0
            || fifo.first.is_some()
        {
            return None;
        }
        fifo.first = Some(*held);
        self.waits += 1;
        self.count_queued(cluster, usize::from(me));
        let state = &mut self.clusters[cluster % CLUSTERS];
        if state.posted {
            return Some((cluster, None));
        }
        state.posted = true;
        let soonest = (state.command_free + self.rest_of_clock) & self.clocks;
        Some((
            cluster,
            Some(self.grant_cycle(held.target, cluster, soonest)),
        ))
    }

    /// Grants the bus to the queued command of a cluster whose microengine's turn it is, if the
    /// target has room, no observer wants events of commands or buses, and no command waits behind
    /// it. Returns its arrival at the inlet. No arbitration of the cluster may be posted.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Nearly all of arbitration.
    pub(crate) fn grant_fast(&mut self, now: Cycle, cluster: usize) -> Option<(CommandId, Cycle)> {
        let state = &self.clusters[cluster % CLUSTERS];
        let slot = (now + self.rest_of_clock) & self.clocks;
        if state.command_free > slot || self.is_uneven || self.is_watched {
            return None;
        }
        // Rotates the microengine after the one granted last to bit 0.
        let turn = u32::from(state.turn);
        let after = NonZeroU16::new(state.holds.rotate_right(turn))?.trailing_zeros();
        let place = (turn + after) % 16;
        let me = cluster * usize::from(self.per_cluster) + place as usize;
        let fifo = self.fifos.get(me)?;
        let held = fifo.first?;
        if !fifo.behind.is_empty()
            || fifo.stalled.is_some()
            || held.refused
            || !self.is_open(held.target, slot)
        {
            return None;
        }
        let end = self.book((slot, held.since), cluster, held.target);
        self.fifos.get_mut(me)?.first = None;
        self.count_dequeued(cluster, place as usize, true);
        let state = &mut self.clusters[cluster % CLUSTERS];
        if state.held == 0 {
            state.open_from = end;
        }
        Some((held.slot, slot + self.issue_to_inlet))
    }

    /// Counts a command that has entered the FIFO of a microengine of a cluster.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of issuing a command.
    pub(super) fn count_queued(&mut self, cluster: usize, me: usize) {
        let place = me - cluster * usize::from(self.per_cluster);
        self.held += 1;
        let state = &mut self.clusters[cluster % CLUSTERS];
        state.holds |= 1 << (place & 15);
        state.held += 1;
        state.command.queue_peak = state.command.queue_peak.max(state.held);
        state.open_from = Cycle::MAX;
    }

    /// Counts the first command of the microengine at a place of a cluster out of its FIFO, which
    /// may now be empty; the next microengine has its turn.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of arbitration.
    pub(super) fn count_dequeued(&mut self, cluster: usize, place: usize, is_empty: bool) {
        self.held -= 1;
        let state = &mut self.clusters[cluster % CLUSTERS];
        state.holds &= !(u16::from(is_empty) << (place & 15));
        state.held -= 1;
        let after = place as u8 + 1;
        state.turn = if after == self.per_cluster { 0 } else { after };
    }

    /// Whether a target has room for a command in a bus clock, whatever cluster it comes from.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of issuing a command.
    pub(super) fn is_open(&self, target: CommandTarget, slot: Cycle) -> bool {
        self.open[target.index()] != 0
            && (!self.inlets.is_shared(target)
                || self.shared_free <= slot && self.shared_promised.is_none())
    }

    /// Books a slot of the command bus for a command that has waited since a cycle, and a place at
    /// its target, which has one for it. Returns the end of the slot.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of issuing a command.
    pub(super) fn book(
        &mut self,
        (slot, since): (Cycle, Cycle),
        cluster: usize,
        target: CommandTarget,
    ) -> Cycle {
        let clocks = self.bus_cycle;
        let end = slot + clocks;
        if self.inlets.is_shared(target) {
            self.shared_free = end;
        }
        let at = target.index();
        self.open[at] = self.open[at].wrapping_sub(1);
        self.waiting[at] += 1;
        self.granted_last[at] = cluster as u8;
        let state = &mut self.clusters[cluster % CLUSTERS];
        state.command_free = end;
        state.command.busy += clocks;
        state.command.waiting += slot - since;
        end
    }
}
