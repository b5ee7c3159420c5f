//! Arbitration of commands on their way to their units.
//!
//! A command takes one clock of its cluster's command bus. It needs a free bus and room at its
//! unit's inlet; without them it waits in its microengine's FIFO, as do the commands after it. Each
//! cluster's arbiter serves its microengines round-robin and passes over those whose unit is full.
//! Clusters alternate if both want the last place at a unit, and at the scratchpad, the hash unit
//! and the CSR proxy, which together take one command per bus clock.

use std::num::NonZeroU16;

use crate::Cycle;
use crate::kernel::command::CommandId;
use crate::kernel::target::CommandTarget;
use crate::kernel::trace_buffer::TraceBuffer;
use crate::kernel::trace_event::Bus;

use super::{Buses, CLUSTERS, Fifo, HeldCommand, note};

/// The outcome of a command at its microengine's FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The command reaches the unit's inlet at this cycle.
    Arrives(Cycle),
    /// The command waits in the FIFO; pass it to [`Buses::hold`].
    Waits,
}

/// A command that has waited and now leaves its FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub slot: CommandId,
    pub arrival: Cycle,
    /// Index of the microengine.
    pub me: usize,
    /// Whether the microengine stalled on its full FIFO, which now has room.
    pub stalls: bool,
}

impl Buses {
    /// The first start of a bus clock at or after a cycle.
    #[inline]
    fn clock(&self, at: Cycle) -> Cycle {
        // A division would take as long as everything else together.
        if self.is_uneven {
            return self.uneven_clock(at);
        }
        (at + self.rest_of_clock) & self.clocks
    }

    #[cold]
    #[inline(never)]
    fn uneven_clock(&self, at: Cycle) -> Cycle {
        at.next_multiple_of(self.bus_cycle)
    }

    /// Whether a microengine's FIFO is full, in which case the microengine stalls.
    #[inline]
    pub(crate) fn is_full(&mut self, now: Cycle, me: u8) -> bool {
        self.held != 0 && self.stalls(now, me as usize)
    }

    #[inline(never)]
    fn stalls(&mut self, now: Cycle, me: usize) -> bool {
        let fifo = &mut self.fifos[me];
        if let Some(first) = &fifo.first
            && fifo.len() >= self.fifo_depth
        {
            let full = self.waiting[first.target.index()] >= self.inlets.depth(first.target);
            let blame = full.then_some(first.target);
            fifo.stalled = Some((now, blame));
            return true;
        }
        false
    }

    /// Admits a command to `target` to its microengine's FIFO, which has room, and sends it if
    /// nothing is in its way.
    pub(crate) fn admit(
        &mut self,
        now: Cycle,
        me: u8,
        target: CommandTarget,
        trace: &mut TraceBuffer,
    ) -> Admission {
        let cluster = self.cluster_of(me);
        let state = &self.clusters[cluster];
        let slot = self.clock(now);
        // A command may not overtake another one of its FIFO, nor a posted arbitration: the
        // commands that wait for the latter came first.
        if !state.posted
            && (state.held == 0 || self.fifos[usize::from(me)].first.is_none())
            && state.command_free <= slot
            && self.has_room(target, cluster)
            && self.may_share(target, cluster, slot)
        {
            return Admission::Arrives(self.depart((slot, now), cluster, target, trace));
        }
        self.waits += 1;
        Admission::Waits
    }

    /// Queues a command that [`Self::admit`] made wait. Returns its cluster, and the cycle at which
    /// the cluster must arbitrate, unless an arbitration is posted already.
    ///
    /// The caller posts that arbitration (`kernel/fabric`), so `posted` is set if a cycle is
    /// returned. None is returned for a first command whose unit is full: the unit's
    /// [`Self::release`] triggers the arbitration. If several commands wait, `plan` finds the
    /// earliest that can go.
    #[inline]
    pub(crate) fn hold(
        &mut self,
        now: Cycle,
        me: u8,
        slot: CommandId,
        target: CommandTarget,
    ) -> Option<(usize, Cycle)> {
        let cluster = self.cluster_of(me);
        // A unit that is full now causes the wait, even if both it and the bus are free by the time
        // of the arbitration.
        let refused = !self.has_room(target, cluster);
        let me = usize::from(me);
        self.fifos[me].push(HeldCommand {
            slot,
            target,
            since: now,
            refused,
        });
        self.count_queued(cluster, me);
        let state = &mut self.clusters[cluster];
        if state.posted {
            return None;
        }
        let at = if state.held != 1 {
            self.plan(now, cluster)?
        } else if refused {
            return None;
        } else {
            state.posted = true;
            let free = state.command_free.max(now);
            self.grant_cycle(target, cluster, self.clock(free))
        };
        Some((cluster, at))
    }

    /// Records that a target has taken a command. Returns whether any commands are waiting, for
    /// whatever target.
    #[inline]
    pub(crate) fn release(&mut self, target: CommandTarget) -> bool {
        let at = target.index();
        self.waiting[at] = self.waiting[at].saturating_sub(1);
        self.update_room(target);
        self.held != 0
    }

    /// Promises a place that becomes free at a target while commands are waiting. Returns the
    /// cluster whose turn it is there, which is the first to arbitrate; `None` if no cluster can
    /// arbitrate now.
    #[inline]
    pub(crate) fn promise(&mut self, target: CommandTarget) -> Option<usize> {
        let at = target.index();
        let count = self.clusters();
        let next = usize::from(self.granted_last[at]) + 1;
        let first = if next == count { 0 } else { next };
        // A place that becomes free goes to the cluster whose turn it is, even if another cluster's
        // command is there first. Without the promise, the cluster considered first in each bus
        // clock would get every place, and the other would starve.
        if self.promised[at].is_none() && count > 1 && self.wants(first, target) {
            self.promised[at] = Some(first as u8);
            self.update_room(target);
        }
        // A cluster that the chip lacks holds no commands.
        (0..CLUSTERS)
            .any(|cluster| self.may_arbitrate(cluster))
            .then_some(first)
    }

    /// Number of clusters.
    pub(crate) fn clusters(&self) -> usize {
        usize::from(self.cluster_count).min(CLUSTERS)
    }

    /// Whether a command for the target is the first in a FIFO of the cluster.
    fn wants(&self, cluster: usize, target: CommandTarget) -> bool {
        let holds = self.clusters[cluster % CLUSTERS].holds;
        let mut firsts = self.firsts(cluster, holds);
        firsts.any(|(_, held)| held.target == target)
    }

    /// The first commands in the FIFOs of a cluster's microengines selected by `holds`, with the
    /// microengines.
    #[inline]
    fn firsts(
        &self,
        cluster: usize,
        mut holds: u16,
    ) -> impl Iterator<Item = (usize, &HeldCommand)> {
        let first = cluster * usize::from(self.per_cluster);
        std::iter::from_fn(move || {
            let place = NonZeroU16::new(holds)?.trailing_zeros();
            holds &= holds - 1;
            let me = first + place as usize;
            Some((me, self.fifos.get(me)?.first.as_ref()?))
        })
    }

    pub(super) fn fifos_of(&self, cluster: usize) -> &[Fifo] {
        let count = usize::from(self.per_cluster);
        &self.fifos[cluster * count..][..count]
    }

    /// Recomputes the free places of a target that are not promised to a cluster.
    #[inline]
    pub(super) fn update_room(&mut self, target: CommandTarget) {
        let at = target.index();
        let depth = self.inlets.depth(target);
        // A promised place is reserved for one cluster.
        self.open[at] = match self.promised[at] {
            None => depth.saturating_sub(self.waiting[at]),
            Some(_) => 0,
        };
    }

    /// Recomputes the cycle from which nothing in a cluster blocks a command.
    pub(super) fn update_cluster(&mut self, cluster: usize) {
        let state = &mut self.clusters[cluster % CLUSTERS];
        state.open_from = if state.posted || state.held != 0 || self.is_uneven || self.is_watched {
            Cycle::MAX
        } else {
            state.command_free
        };
    }

    /// Whether the target has room for a command of the cluster.
    #[inline]
    fn has_room(&self, target: CommandTarget, cluster: usize) -> bool {
        self.open[target.index()] != 0 || self.has_promised(target, cluster)
    }

    /// Whether a target without a free place for every cluster has promised one to this cluster. A
    /// place promised to the other cluster counts as taken.
    #[inline(never)]
    fn has_promised(&self, target: CommandTarget, cluster: usize) -> bool {
        let at = target.index();
        let depth = self.inlets.depth(target);
        match self.promised[at] {
            None => false,
            Some(other) if usize::from(other) == cluster => self.waiting[at] < depth,
            Some(_) => self.waiting[at] < depth.saturating_sub(1),
        }
    }

    /// Whether the cluster may use the interface that some units share in a slot.
    fn may_share(&self, target: CommandTarget, cluster: usize, slot: Cycle) -> bool {
        !self.inlets.is_shared(target)
            || self.shared_free <= slot
                && self
                    .shared_promised
                    .is_none_or(|promised| promised as usize == cluster)
    }

    /// Whether a cluster has anything to arbitrate and no arbitration posted.
    #[inline]
    pub(crate) fn may_arbitrate(&self, cluster: usize) -> bool {
        let state = &self.clusters[cluster % CLUSTERS];
        state.held != 0 && !state.posted
    }

    /// Records that the posted arbitration has come.
    pub(crate) fn clear_posted_arbitration(&mut self, cluster: usize) {
        self.clusters[cluster % CLUSTERS].posted = false;
    }

    /// The cycle at which a command may go to a target that has room for it, given the first clock
    /// in which the cluster's bus is free.
    #[inline]
    pub(super) fn grant_cycle(
        &self,
        target: CommandTarget,
        cluster: usize,
        soonest: Cycle,
    ) -> Cycle {
        if self.may_share(target, cluster, soonest) {
            soonest
        } else {
            self.shared_free.max(soonest + self.bus_cycle)
        }
    }

    /// The cycle at which a cluster that [may arbitrate](Self::may_arbitrate) must do so next, if
    /// one of its commands could go. The arbitration then counts as posted.
    #[inline(always)]
    #[allow(clippy::inline_always)] // The whole body of its caller.
    pub(crate) fn plan(&mut self, now: Cycle, cluster: usize) -> Option<Cycle> {
        let state = &self.clusters[cluster % CLUSTERS];
        // No event is posted for a command whose unit is full: the unit's release calls this again,
        // so a blocked arbiter costs no events however long it waits.
        let soonest = self.clock(state.command_free.max(now));
        let mut at = Cycle::MAX;
        for (_, held) in self.firsts(cluster, state.holds) {
            if self.has_room(held.target, cluster) {
                at = at.min(self.grant_cycle(held.target, cluster, soonest));
                if at == soonest {
                    break;
                }
            }
        }
        self.clusters[cluster % CLUSTERS].posted = at != Cycle::MAX;
        (at != Cycle::MAX).then_some(at)
    }

    /// Sends the next held command of a cluster, microengines in round-robin order, if its bus is
    /// free now.
    pub(crate) fn arbitrate(
        &mut self,
        now: Cycle,
        cluster: usize,
        trace: &mut TraceBuffer,
    ) -> Option<Grant> {
        let state = &self.clusters[cluster % CLUSTERS];
        let slot = self.clock(now);
        debug_assert!(state.held != 0 && !state.posted, "it may not arbitrate");
        if state.command_free > slot {
            return None;
        }
        let turn = u32::from(state.turn);
        // Rotates the microengine after the one granted last to bit 0.
        let me = self.choose(slot, cluster, state.holds.rotate_right(turn), turn)?;
        let held = self.fifos.get(me)?.first?;
        let grant = self.leave_fifo(slot, (cluster, me), &held);
        self.depart((slot, held.since), cluster, held.target, trace);
        Some(grant)
    }

    /// The first of the selected microengines of a cluster whose first command can go; bit 0 of
    /// `among` is the one after that granted last.
    fn choose(&mut self, slot: Cycle, cluster: usize, mut among: u16, turn: u32) -> Option<usize> {
        let first = cluster * usize::from(self.per_cluster);
        loop {
            let after = NonZeroU16::new(among)?.trailing_zeros();
            let me = first + ((turn + after) % 16) as usize;
            let target = self.fifos.get(me)?.first.as_ref()?.target;
            // Only the first command of a FIFO is considered: commands of one microengine stay in
            // order, so a full unit also holds back the commands after it, whatever their unit. The
            // profile's FIFO depth models this head-of-line blocking.
            if !self.has_room(target, cluster) {
                if let Some(first) = &mut self.fifos[me].first {
                    first.refused = true;
                }
            } else if self.may_share(target, cluster, slot) {
                return Some(me);
            } else if self.shared_promised.is_none() {
                // The other cluster has the shared interface in this clock. A cluster that finds it
                // taken gets it next; otherwise the cluster considered first would always have it.
                self.shared_promised = Some(cluster as u8);
            }
            among &= among - 1;
        }
    }

    /// Takes the first command of a microengine out of its FIFO in a bus clock.
    fn leave_fifo(
        &mut self,
        slot: Cycle,
        (cluster, me): (usize, usize),
        held: &HeldCommand,
    ) -> Grant {
        let place = me - cluster * usize::from(self.per_cluster);
        let fifo = &mut self.fifos[me];
        fifo.first = fifo.behind.pop_front();
        let (is_empty, stalls) = (fifo.first.is_none(), fifo.stalled.is_some());
        self.count_dequeued(cluster, place, is_empty);
        if held.refused {
            self.pressure[held.target.index()].held += slot - held.since;
        }
        Grant {
            slot: held.slot,
            arrival: slot + self.issue_to_inlet,
            me,
            stalls,
        }
    }

    /// Ends the stall of a microengine whose FIFO was full. Returns the cycle from which the FIFO
    /// has room.
    #[cold]
    #[inline(never)]
    pub(crate) fn unstall(&mut self, me: usize, now: Cycle) -> Option<Cycle> {
        let at = self.clock(now);
        let (since, blame) = self.fifos[me].stalled.take()?;
        let stalled = at - since;
        match blame {
            Some(target) => self.pressure[target.index()].stalled += stalled,
            None => self.stalled_by_bus += stalled,
        }
        Some(at)
    }

    /// Books a slot of the command bus, which is free. Returns the arrival at the inlet. A place at
    /// the target may have been promised to the cluster.
    #[inline(never)]
    fn depart(
        &mut self,
        times: (Cycle, Cycle),
        cluster: usize,
        target: CommandTarget,
        trace: &mut TraceBuffer,
    ) -> Cycle {
        let promised = &mut self.promised[target.index()];
        if *promised == Some(cluster as u8) {
            *promised = None;
        }
        if self.inlets.is_shared(target) && self.shared_promised == Some(cluster as u8) {
            self.shared_promised = None;
        }
        let end = self.book(times, cluster, target);
        self.update_room(target);
        // No arbitration is posted now.
        self.update_cluster(cluster);
        note(Bus::Command(cluster as u8), end, self.bus_cycle, trace);
        times.0 + self.issue_to_inlet
    }

    /// Sends a command of the general-purpose core over the first cluster's bus, ahead of the
    /// commands waiting there. Returns how long it waited for the bus.
    pub(crate) fn core_command(&mut self, now: Cycle, trace: &mut TraceBuffer) -> Cycle {
        let granted = self.clock(self.clusters[0].command_free.max(now));
        let cluster = &mut self.clusters[0];
        let end = granted + self.bus_cycle;
        cluster.command_free = end;
        cluster.command.busy += self.bus_cycle;
        cluster.command.waiting += granted - now;
        self.update_cluster(0);
        note(Bus::Command(0), end, self.bus_cycle, trace);
        granted - now
    }
}
