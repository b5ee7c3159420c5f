//! Command, push and pull buses as reservations: each keeps the cycle at which
//! it is free again.
//!
//! A command takes one clock of its cluster's command bus. It needs a free bus
//! and room at its unit's inlet; without them it waits in its microengine's
//! FIFO, and what is behind it waits too. Each cluster's arbiter serves its
//! microengines in turn and passes over those whose unit is full. Clusters
//! alternate where both want the last place at a unit, and at the scratchpad,
//! the hash unit and the CSR proxy, which take one command a bus clock together.
//!
//! A transfer that is asked for now but cannot start before a later cycle is
//! booked on its push or pull bus at once and completes that much later. The
//! order on a bus is so the order of the requests, and a bus never idles while
//! one waits. A unit does not read while the bus that takes its data is booked
//! further ahead than its push FIFO is deep.

mod data_bus;

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use npsim_isa::CommandOp;

use crate::Cycle;
use crate::kernel::command::{BusCommand, Slot, TransferKind};
use crate::kernel::journal::Journal;
use crate::kernel::target::{Inlets, Target};
use crate::kernel::trace_event::{Bus, TraceEvent};
use crate::profile::Profile;
pub use data_bus::BusUse;
use data_bus::DataBus;

/// The buses of a cluster.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Cluster {
    command_free: Cycle,
    command: BusUse,
    s_push: DataBus,
    s_pull: DataBus,
    /// Commands held in the FIFOs of its microengines.
    held: u64,
    /// The place of the microengine after the one that was granted last.
    turn: usize,
    /// The arbiter has a look to come.
    looking: bool,
}

/// A command that waits in its microengine's FIFO.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Held {
    slot: Slot,
    target: Target,
    since: Cycle,
    /// Its unit was full when it could have gone.
    refused: bool,
}

/// Commands of one microengine on their way to the command bus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Fifo {
    /// Oldest first.
    held: VecDeque<Held>,
    /// Since when the microengine stalls until the first of `held` leaves, and
    /// the unit that is to blame; `None` for the command bus.
    stalled: Option<(Cycle, Option<Target>)>,
}

/// What became of a command at its microengine's FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It reaches the unit's inlet at this cycle.
    Arrives(Cycle),
    /// It waits in the FIFO; pass it to [`Buses::hold`].
    Waits,
    /// The FIFO is full.
    Full,
}

/// A command that waited and now leaves its FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub slot: Slot,
    pub arrival: Cycle,
    /// A microengine that stalled on its full FIFO, and when it has room.
    pub wake: Option<(u8, Cycle)>,
}

/// What a unit's fullness cost others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackPressure {
    /// Sum over commands of the ME cycles that they waited in FIFOs because the
    /// unit was full.
    pub held: Cycle,
    /// ME cycles that microengines stalled because of it.
    pub stalled: Cycle,
}

/// All buses of the chip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buses {
    clusters: Vec<Cluster>,
    per_cluster: usize,
    /// Cluster of each microengine.
    cluster_of: Vec<u8>,
    fifos: Vec<Fifo>,
    /// Commands held in all FIFOs.
    held: usize,
    fifo_depth: usize,
    /// Commands sent to each target that it has not taken yet.
    waiting: [u16; Target::COUNT],
    /// The cluster that the next place at a full target belongs to.
    promised: [Option<u8>; Target::COUNT],
    /// The cluster that was granted each target last.
    granted_last: [u8; Target::COUNT],
    pressure: [BackPressure; Target::COUNT],
    /// ME cycles that microengines stalled because of the command buses alone.
    pub stalled_by_bus: Cycle,
    /// When scratchpad, hash unit and CSR proxy can be sent the next command,
    /// and the cluster whose turn that is.
    shared_free: Cycle,
    shared_promised: Option<u8>,
    inlets: Inlets,
    bus_cycle: Cycle,
    issue_to_inlet: Cycle,
    transfer_latency: Cycle,
    s_ahead: Cycle,
    d_ahead: Cycle,
    d_push: DataBus,
    d_pull: DataBus,
    /// How often a command had to wait in its FIFO.
    pub waits: u64,
}

impl Buses {
    /// Idle buses.
    #[must_use]
    pub fn new(profile: &Profile, inlets: Inlets) -> Self {
        let microengines = profile.microengines() as usize;
        let clusters = profile.clusters() as usize;
        Self {
            clusters: vec![Cluster::default(); clusters],
            per_cluster: microengines / clusters,
            cluster_of: (0..profile.microengines())
                .map(|me| profile.cluster_of(me))
                .collect(),
            held: 0,
            fifos: vec![Fifo::default(); microengines],
            fifo_depth: profile.command_fifo_depth() as usize,
            waiting: [0; Target::COUNT],
            promised: [None; Target::COUNT],
            granted_last: [0; Target::COUNT],
            pressure: [BackPressure::default(); Target::COUNT],
            stalled_by_bus: 0,
            shared_free: 0,
            shared_promised: None,
            inlets,
            bus_cycle: profile.bus_cycle(),
            issue_to_inlet: profile.issue_to_inlet(),
            transfer_latency: profile.transfer_latency(),
            s_ahead: profile.s_push_fifo() * profile.bus_cycle(),
            d_ahead: profile.d_push_fifo() * profile.bus_cycle(),
            d_push: DataBus::default(),
            d_pull: DataBus::default(),
            waits: 0,
        }
    }

    /// Whether these are the buses of a chip like that of `other`, and what is
    /// held on them is for units and clusters that it has.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let clusters = other.clusters.len();
        let is_cluster = |cluster: &u8| usize::from(*cluster) < clusters;
        let fits = |fifo: &Fifo| {
            fifo.held.len() <= other.fifo_depth
                && fifo.held.iter().all(|held| other.inlets.has(held.target))
                && fifo
                    .stalled
                    .is_none_or(|(_, blame)| blame.is_none_or(|target| other.inlets.has(target)))
        };
        self.clusters.len() == clusters
            && self.per_cluster == other.per_cluster
            && self.cluster_of == other.cluster_of
            && self.fifos.len() == other.fifos.len()
            && self.fifo_depth == other.fifo_depth
            && self.fifos.iter().all(fits)
            && self.held_is_counted()
            && (self.clusters.iter()).all(|cluster| cluster.turn < self.per_cluster)
            && self.promised.iter().flatten().all(is_cluster)
            && self.granted_last.iter().all(is_cluster)
            && self.shared_promised.iter().all(is_cluster)
            && self.inlets == other.inlets
            && self.bus_cycle == other.bus_cycle
            && (self.issue_to_inlet, self.transfer_latency)
                == (other.issue_to_inlet, other.transfer_latency)
            && (self.s_ahead, self.d_ahead) == (other.s_ahead, other.d_ahead)
    }

    /// Whether the counts of held commands are those of the FIFOs.
    fn held_is_counted(&self) -> bool {
        let held = |fifos: &[Fifo]| fifos.iter().map(|fifo| fifo.held.len()).sum::<usize>();
        let of_clusters = (0..self.clusters.len()).map(|cluster| held(self.fifos_of(cluster)));
        self.held == held(&self.fifos)
            && (self.clusters.iter().zip(of_clusters))
                .all(|(cluster, held)| cluster.held == held as u64)
    }

    /// The commands that wait in FIFOs.
    pub(crate) fn held_slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let held = self.fifos.iter().flat_map(|fifo| &fifo.held);
        held.map(|held| held.slot)
    }

    /// Where a command goes. An address of a channel that the chip lacks goes to
    /// channel 0, which refuses it.
    #[must_use]
    #[inline]
    pub(crate) fn target_of(&self, command: &BusCommand) -> Target {
        self.inlets.target_of(command)
    }

    /// Whether the chip has an inlet.
    pub(crate) fn has(&self, target: Target) -> bool {
        self.inlets.has(target)
    }

    /// Commands that a target has been sent and has not taken.
    #[cfg(test)]
    pub(crate) fn waiting_at(&self, target: Target) -> u16 {
        self.waiting[target.index()]
    }

    /// What a target's fullness cost others.
    #[must_use]
    pub fn pressure(&self, target: Target) -> BackPressure {
        self.pressure[target.index()]
    }

    /// What each cluster's command, S push and S pull bus did until now.
    pub(crate) fn cluster_uses(&self, now: Cycle) -> impl Iterator<Item = [BusUse; 3]> + '_ {
        self.clusters.iter().map(move |cluster| {
            [
                cluster.command.until(now, cluster.command_free),
                cluster.s_push.until(now),
                cluster.s_pull.until(now),
            ]
        })
    }

    /// What the D push and the D pull bus did until now.
    #[must_use]
    pub(crate) fn d_uses(&self, now: Cycle) -> [BusUse; 2] {
        [self.d_push.until(now), self.d_pull.until(now)]
    }

    /// Takes a command to `target` into its microengine's FIFO, if it has room, and sends
    /// it if nothing is in its way.
    pub(crate) fn admit(
        &mut self,
        now: Cycle,
        me: u8,
        target: Target,
        journal: &mut Journal,
    ) -> Admission {
        let me = me as usize;
        let fifo = &self.fifos[me];
        if let Some(first) = fifo.held.front()
            && fifo.held.len() >= self.fifo_depth
        {
            let full = self.waiting[first.target.index()] >= self.inlets.depth(first.target);
            let blame = full.then_some(first.target);
            self.fifos[me].stalled = Some((now, blame));
            return Admission::Full;
        }
        let cluster = self.cluster_of[me] as usize;
        let state = &self.clusters[cluster];
        let slot = now.next_multiple_of(self.bus_cycle);
        // Nearly all commands find nothing in their way and set out here, without an event for
        // the arbiter. A command may not pass one of its own FIFO, nor an arbiter that has yet
        // to look: what waits for that look came first.
        if fifo.held.is_empty()
            && !state.looking
            && state.command_free <= slot
            && self.has_room(target, cluster)
            && self.may_share(target, cluster, slot)
        {
            return Admission::Arrives(self.depart((slot, now), cluster, target, journal));
        }
        self.waits += 1;
        Admission::Waits
    }

    /// Keeps a command that [`Self::admit`] said waits.
    pub(crate) fn hold(&mut self, now: Cycle, me: u8, slot: Slot, target: Target) {
        let cluster = self.cluster_of[me as usize] as usize;
        // A unit that is full now is to blame for the wait, though both it and the bus may be
        // free when the arbiter looks.
        let refused = !self.has_room(target, cluster);
        self.fifos[me as usize].held.push_back(Held {
            slot,
            target,
            since: now,
            refused,
        });
        self.held += 1;
        let cluster = &mut self.clusters[cluster];
        cluster.held += 1;
        cluster.command.queue_peak = cluster.command.queue_peak.max(cluster.held);
    }

    /// A target has taken a command. If some wait, gives the cluster that
    /// should look first.
    pub(crate) fn release(&mut self, target: Target) -> Option<usize> {
        let at = target.index();
        self.waiting[at] = self.waiting[at].saturating_sub(1);
        if self.held == 0 {
            return None;
        }
        let count = self.clusters.len();
        let first = (self.granted_last[at] as usize + 1) % count;
        // A place that becomes free goes to the cluster whose turn it is, also if the command
        // of another is there first. Without the promise the cluster that is asked first in
        // each bus clock would get every place, and the other would starve.
        if self.promised[at].is_none() && count > 1 && self.wants(first, target) {
            self.promised[at] = Some(first as u8);
        }
        Some(first)
    }

    /// Number of clusters.
    pub(crate) fn clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Whether a command for the target is the first in a FIFO of the cluster.
    fn wants(&self, cluster: usize, target: Target) -> bool {
        self.fifos_of(cluster)
            .iter()
            .any(|fifo| fifo.held.front().is_some_and(|held| held.target == target))
    }

    fn fifos_of(&self, cluster: usize) -> &[Fifo] {
        &self.fifos[cluster * self.per_cluster..][..self.per_cluster]
    }

    /// Whether the target has room for a command of the cluster.
    fn has_room(&self, target: Target, cluster: usize) -> bool {
        let at = target.index();
        let promised = self.promised[at].is_some_and(|other| other as usize != cluster);
        self.waiting[at] + u16::from(promised) < self.inlets.depth(target)
    }

    /// Whether the interface that some units share is the cluster's in a slot.
    fn may_share(&self, target: Target, cluster: usize, slot: Cycle) -> bool {
        !self.inlets.is_shared(target)
            || self.shared_free <= slot
                && self
                    .shared_promised
                    .is_none_or(|promised| promised as usize == cluster)
    }

    /// A look that was asked for has come.
    pub(crate) fn look_came(&mut self, cluster: usize) {
        self.clusters[cluster].looking = false;
    }

    /// When the cluster's arbiter must look next, if one of its commands could
    /// go and no look is due already.
    #[inline]
    pub(crate) fn next_look(&mut self, now: Cycle, cluster: usize) -> Option<Cycle> {
        let state = &self.clusters[cluster];
        if state.looking || state.held == 0 {
            return None;
        }
        self.plan_look(now, cluster)
    }

    fn plan_look(&mut self, now: Cycle, cluster: usize) -> Option<Cycle> {
        let state = &self.clusters[cluster];
        // No look is posted for a command whose unit is full: the unit's release asks again.
        // So a blocked arbiter costs no events however long it waits.
        let soonest = state.command_free.max(now).next_multiple_of(self.bus_cycle);
        let mut at = Cycle::MAX;
        for held in self.fifos_of(cluster).iter().filter_map(|f| f.held.front()) {
            if self.has_room(held.target, cluster) {
                at = at.min(if self.may_share(held.target, cluster, soonest) {
                    soonest
                } else {
                    self.shared_free.max(soonest + self.bus_cycle)
                });
            }
        }
        self.clusters[cluster].looking = at != Cycle::MAX;
        (at != Cycle::MAX).then_some(at)
    }

    /// Sends the next held command of a cluster, microengines in turn, if its
    /// bus is free now.
    pub(crate) fn arbitrate(
        &mut self,
        now: Cycle,
        cluster: usize,
        journal: &mut Journal,
    ) -> Option<Grant> {
        let state = &self.clusters[cluster];
        let slot = now.next_multiple_of(self.bus_cycle);
        if state.held == 0 || state.looking || state.command_free > slot {
            return None;
        }
        let turn = state.turn;
        for step in 0..self.per_cluster {
            let place = (turn + step) % self.per_cluster;
            let me = cluster * self.per_cluster + place;
            let Some(&first) = self.fifos[me].held.front() else {
                continue;
            };
            // Only the first of a FIFO is asked: commands of one microengine stay in order, so
            // a full unit also holds back what is behind, for whatever unit that is. This
            // head-of-line blocking is what the profile's FIFO depth stands for.
            if !self.has_room(first.target, cluster) {
                self.fifos[me].held[0].refused = true;
                continue;
            }
            // The other cluster has the shared interface in this clock. Who finds it taken has
            // it next, else the cluster that is asked first would have it always.
            if !self.may_share(first.target, cluster, slot) {
                if self.shared_promised.is_none() {
                    self.shared_promised = Some(cluster as u8);
                }
                continue;
            }
            self.fifos[me].held.pop_front();
            self.held -= 1;
            self.clusters[cluster].held -= 1;
            self.clusters[cluster].turn = (place + 1) % self.per_cluster;
            let arrival = self.depart((slot, first.since), cluster, first.target, journal);
            if first.refused {
                self.pressure[first.target.index()].held += slot - first.since;
            }
            let wake = self.fifos[me].stalled.take().map(|(since, blame)| {
                let stalled = slot - since;
                match blame {
                    Some(target) => self.pressure[target.index()].stalled += stalled,
                    None => self.stalled_by_bus += stalled,
                }
                (me as u8, slot)
            });
            return Some(Grant {
                slot: first.slot,
                arrival,
                wake,
            });
        }
        None
    }

    /// Books a slot of the command bus, which is free; gives the arrival at the
    /// inlet.
    #[inline]
    fn depart(
        &mut self,
        (granted, since): (Cycle, Cycle),
        cluster: usize,
        target: Target,
        journal: &mut Journal,
    ) -> Cycle {
        let at = target.index();
        self.waiting[at] += 1;
        self.granted_last[at] = cluster as u8;
        if self.promised[at] == Some(cluster as u8) {
            self.promised[at] = None;
        }
        if self.inlets.is_shared(target) {
            self.shared_free = granted + self.bus_cycle;
            if self.shared_promised == Some(cluster as u8) {
                self.shared_promised = None;
            }
        }
        let end = granted + self.bus_cycle;
        let state = &mut self.clusters[cluster];
        state.command_free = end;
        state.command.carried(self.bus_cycle, granted - since);
        note(Bus::Command(cluster as u8), end, self.bus_cycle, journal);
        granted + self.issue_to_inlet
    }

    /// The general-purpose core sends a command over the first cluster's bus,
    /// ahead of what waits there; gives how long it waited for the bus.
    pub(crate) fn core_command(&mut self, now: Cycle, journal: &mut Journal) -> Cycle {
        let cluster = &mut self.clusters[0];
        let granted = cluster
            .command_free
            .max(now)
            .next_multiple_of(self.bus_cycle);
        let end = granted + self.bus_cycle;
        cluster.command_free = end;
        cluster.command.carried(self.bus_cycle, granted - now);
        note(Bus::Command(0), end, self.bus_cycle, journal);
        granted - now
    }

    /// Longwords go to or come from the general-purpose core over the first
    /// cluster's S buses, or over the D buses, which carry 32 bits to it.
    pub(crate) fn core_data(
        &mut self,
        now: Cycle,
        (kind, read): (TransferKind, bool),
        words: u8,
        journal: &mut Journal,
    ) {
        let cycles = Cycle::from(words) * self.bus_cycle;
        let (bus, name) = match (kind, read) {
            (TransferKind::S, true) => (&mut self.clusters[0].s_push, Bus::SPush(0)),
            (TransferKind::S, false) => (&mut self.clusters[0].s_pull, Bus::SPull(0)),
            (TransferKind::D, true) => (&mut self.d_push, Bus::DPush),
            (TransferKind::D, false) => (&mut self.d_pull, Bus::DPull),
        };
        let end = bus.reserve(now, cycles);
        note(name, end, cycles, journal);
    }

    /// When a unit may start to read for a command: the bus that takes the data
    /// is then booked no further ahead than a push FIFO holds.
    #[must_use]
    pub(crate) fn push_ready(&self, command: &BusCommand) -> Cycle {
        let media = command.op == CommandOp::DramTbufWr;
        if media || command.transfer_kind == TransferKind::D {
            self.d_push.free.saturating_sub(self.d_ahead)
        } else {
            let cluster = self.cluster_of[command.transfer_me as usize] as usize;
            self.clusters[cluster]
                .s_push
                .free
                .saturating_sub(self.s_ahead)
        }
    }

    /// Takes data from OUT registers, requested now and starting `lead` cycles
    /// later; gives the cycle at which the last word is with the unit.
    pub(crate) fn pull(
        &mut self,
        now: Cycle,
        lead: Cycle,
        command: &BusCommand,
        words: u8,
        journal: &mut Journal,
    ) -> Cycle {
        let cycles = Cycle::from(words) * self.bus_cycle;
        let cluster = self.cluster_of[command.transfer_me as usize];
        let (bus, name) = match command.transfer_kind {
            TransferKind::S => {
                let bus = &mut self.clusters[cluster as usize].s_pull;
                (bus, Bus::SPull(cluster))
            }
            TransferKind::D => (&mut self.d_pull, Bus::DPull),
        };
        // The bus is booked from now on though the words come `lead` later. Else every booking
        // would leave a hole before it, which a later request could fill only by overtaking;
        // so requests keep their order and the bus its load, and only the end moves.
        let end = bus.reserve(now, cycles);
        note(name, end, cycles, journal);
        end + lead + self.transfer_latency
    }

    /// Carries data to IN registers, ready `lead` cycles from now; gives the
    /// cycle at which the last word and the signal are there.
    pub(crate) fn push(
        &mut self,
        now: Cycle,
        lead: Cycle,
        command: &BusCommand,
        words: u8,
        journal: &mut Journal,
    ) -> Cycle {
        let cycles = Cycle::from(words) * self.bus_cycle;
        let cluster = self.cluster_of[command.transfer_me as usize];
        let (bus, name) = match command.transfer_kind {
            TransferKind::S => {
                let bus = &mut self.clusters[cluster as usize].s_push;
                (bus, Bus::SPush(cluster))
            }
            TransferKind::D => (&mut self.d_push, Bus::DPush),
        };
        let end = bus.reserve(now, cycles);
        note(name, end, cycles, journal);
        end + lead + self.transfer_latency
    }

    /// Carries quadwords from the media interface to DRAM over the D pull bus,
    /// one per bus clock, `lead` cycles from now; gives the end.
    pub(crate) fn media_pull(
        &mut self,
        now: Cycle,
        lead: Cycle,
        quadwords: u8,
        journal: &mut Journal,
    ) -> Cycle {
        let cycles = Cycle::from(quadwords) * self.bus_cycle;
        let end = self.d_pull.reserve(now, cycles);
        note(Bus::DPull, end, cycles, journal);
        end + lead
    }

    /// Carries quadwords from DRAM to the media interface over the D push bus,
    /// one per bus clock, `lead` cycles from now; gives the end.
    pub(crate) fn media_push(
        &mut self,
        now: Cycle,
        lead: Cycle,
        quadwords: u8,
        journal: &mut Journal,
    ) -> Cycle {
        let cycles = Cycle::from(quadwords) * self.bus_cycle;
        let end = self.d_push.reserve(now, cycles);
        note(Bus::DPush, end, cycles, journal);
        end + lead
    }
}

/// Writes down for whoever watches that a bus is taken until `end`.
#[inline]
fn note(bus: Bus, end: Cycle, cycles: Cycle, journal: &mut Journal) {
    if cycles != 0 {
        let (from, until) = (end - cycles, end);
        journal.tell(from, || TraceEvent::Bus { bus, from, until });
    }
}
