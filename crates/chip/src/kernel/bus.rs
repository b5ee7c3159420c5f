//! The command, push and pull buses, modelled as reservations: each keeps the cycle at which it
//! becomes free. Commands get a bus in `fast_grant` or, if anything is in their way, in
//! `arbitration`; data gets one in `transfer`.

mod arbitration;
mod data_bus;
mod fast_grant;
mod transfer;

use npsim_isa::Unit;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::Cycle;
use crate::kernel::command::{CommandId, TransferKind};
use crate::kernel::snapshot::count;
use crate::kernel::target::{CommandTarget, Inlets};
use crate::kernel::trace_buffer::TraceBuffer;
use crate::kernel::trace_event::{Bus, TraceEvent, TraceEventKind};
pub(crate) use arbitration::Admission;
pub use data_bus::BusUse;
use data_bus::{D_BUS, DATA_BUSES, DataBus};
use npsim_profile::Profile;

/// Clusters of the largest chip; a power of two.
const CLUSTERS: usize = 2;
/// Room for the microengines of all clusters; a power of two.
const MICROENGINES: usize = 16 * CLUSTERS;

/// The command bus of a cluster.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Cluster {
    command_free: Cycle,
    /// Without the number of transfers, which follows from `busy`: each occupies the bus for one of
    /// its clocks.
    command: BusUse,
    /// Number of commands held in the FIFOs of its microengines.
    held: u64,
    /// The place of the microengine after the one granted last.
    turn: u8,
    /// Whether an arbitration is posted.
    posted: bool,
    /// Bit p: the FIFO of microengine p of the cluster holds commands. Derived from the FIFOs.
    #[serde(skip)]
    holds: u16,
    /// The cycle from which nothing in the cluster blocks an issued command. Derived from the other
    /// fields.
    #[serde(skip)]
    open_from: Cycle,
}

/// A command that waits in its microengine's FIFO.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct HeldCommand {
    slot: CommandId,
    target: CommandTarget,
    since: Cycle,
    /// Whether the unit had no room when the command could otherwise have gone.
    refused: bool,
}

impl HeldCommand {
    /// Creates a command that waits from cycle `since` on for a unit that has room.
    #[inline]
    pub const fn new(slot: CommandId, target: CommandTarget, since: Cycle) -> Self {
        Self {
            slot,
            target,
            since,
            refused: false,
        }
    }
}

/// Commands of one microengine that wait for the command bus.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Fifo {
    /// The oldest command, the only one that the arbiter considers.
    first: Option<HeldCommand>,
    /// The commands after the first, oldest first.
    behind: VecDeque<HeldCommand>,
    /// The cycle since which the microengine has stalled until the first command leaves, and the
    /// unit that causes it; `None` for the command bus.
    stalled: Option<(Cycle, Option<CommandTarget>)>,
}

impl Fifo {
    /// The commands, oldest first.
    fn all(&self) -> impl Iterator<Item = &HeldCommand> {
        self.first.iter().chain(&self.behind)
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.behind.len()
    }

    fn push(&mut self, held: HeldCommand) {
        if self.first.is_none() {
            self.first = Some(held);
        } else {
            self.behind.push_back(held);
        }
    }
}

/// The cost of a full unit to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackPressure {
    /// Sum over commands of the ME cycles that they waited in FIFOs because the unit was full.
    pub held: Cycle,
    /// ME cycles that microengines stalled because the unit was full.
    pub stalled: Cycle,
}

/// All buses of the chip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buses {
    /// The command buses; clusters that the chip lacks are idle.
    clusters: [Cluster; CLUSTERS],
    cluster_count: u8,
    per_cluster: u8,
    /// Cluster of each microengine.
    cluster_of: [u8; MICROENGINES],
    fifos: Vec<Fifo>,
    /// Number of commands held in all FIFOs.
    held: usize,
    fifo_depth: usize,
    /// Number of commands sent to each target that it has not taken yet.
    waiting: [u16; CommandTarget::COUNT],
    /// Number of free places at each target that are not promised to a cluster. Derived from the
    /// other fields.
    #[serde(skip)]
    open: [u16; CommandTarget::COUNT],
    /// The cluster to which the next place at a full target is promised.
    promised: [Option<u8>; CommandTarget::COUNT],
    /// The cluster granted each target last.
    granted_last: [u8; CommandTarget::COUNT],
    pressure: [BackPressure; CommandTarget::COUNT],
    /// ME cycles that microengines stalled because of the command buses alone.
    #[serde(with = "count")]
    pub stalled_by_bus: Cycle,
    /// When the scratchpad, the hash unit and the CSR proxy can be sent the next command, and the
    /// cluster that it is promised to.
    shared_free: Cycle,
    shared_promised: Option<u8>,
    inlets: Inlets,
    bus_cycle: Cycle,
    /// Whether a bus clock is not a power of two. The fast grant does not divide: on such a chip
    /// all commands are queued.
    is_uneven: bool,
    /// Whether an observer wants events of commands or buses, which only queued commands record.
    #[serde(skip)]
    is_watched: bool,
    /// The cycles of a bus clock minus one, and a mask of the bits above them, if a clock is a
    /// power of two.
    #[serde(skip)]
    rest_of_clock: Cycle,
    #[serde(skip)]
    clocks: Cycle,
    /// The data bus for each kind of register of each microengine.
    #[serde(skip)]
    data_bus: [[u8; MICROENGINES]; 2],
    issue_to_inlet: Cycle,
    transfer_latency: Cycle,
    s_ahead: Cycle,
    d_ahead: Cycle,
    /// The push buses: the S bus of each cluster, then the D bus.
    pushes: [DataBus; DATA_BUSES],
    /// The pull buses, in the same order.
    pulls: [DataBus; DATA_BUSES],
    /// The latest end of any booking on a push bus. Derived from the buses; it shows without
    /// reading each of them that none is booked too far ahead.
    #[serde(skip)]
    last_push: Cycle,
    /// How far ahead any push bus may be booked before a unit has to wait. Derived from the limit
    /// of each bus.
    #[serde(skip)]
    push_ahead: Cycle,
    /// Number of commands that had to wait in their FIFO.
    #[serde(with = "count")]
    pub waits: u64,
}

impl Buses {
    /// Creates idle buses.
    #[must_use]
    pub fn new(profile: &Profile, inlets: Inlets) -> Self {
        let microengines = profile.microengines();
        let mut cluster_of = [0; MICROENGINES];
        for (cluster, me) in cluster_of.iter_mut().zip(0..microengines) {
            *cluster = profile.cluster_of(me);
        }
        let mut buses = Self {
            clusters: Default::default(),
            cluster_count: profile.clusters(),
            per_cluster: profile.per_cluster(),
            cluster_of,
            held: 0,
            fifos: vec![Fifo::default(); microengines.into()],
            fifo_depth: profile.command_fifo_depth() as usize,
            waiting: [0; CommandTarget::COUNT],
            open: [0; CommandTarget::COUNT],
            promised: [None; CommandTarget::COUNT],
            granted_last: [0; CommandTarget::COUNT],
            pressure: [BackPressure::default(); CommandTarget::COUNT],
            stalled_by_bus: 0,
            shared_free: 0,
            shared_promised: None,
            inlets,
            bus_cycle: profile.bus_cycle(),
            is_uneven: !profile.bus_cycle().is_power_of_two(),
            is_watched: false,
            rest_of_clock: 0,
            clocks: 0,
            data_bus: [[0; MICROENGINES]; 2],
            issue_to_inlet: profile.issue_to_inlet(),
            transfer_latency: profile.transfer_latency(),
            s_ahead: profile.s_push_fifo() * profile.bus_cycle(),
            d_ahead: profile.d_push_fifo() * profile.bus_cycle(),
            pushes: Default::default(),
            pulls: Default::default(),
            last_push: 0,
            push_ahead: 0,
            waits: 0,
        };
        buses.complete();
        buses
    }

    /// Recomputes the fields that are not saved.
    pub(crate) fn complete(&mut self) {
        self.last_push = self.pushes.iter().map(|bus| bus.free).max().unwrap_or(0);
        self.rest_of_clock = self.bus_cycle.wrapping_sub(1);
        self.clocks = !self.rest_of_clock;
        self.data_bus[TransferKind::S as usize] = self.cluster_of;
        self.data_bus[TransferKind::D as usize] = [D_BUS as u8; MICROENGINES];
        for cluster in 0..self.clusters() {
            let fifos = self.fifos_of(cluster).iter().zip(0..);
            let holds = fifos.map(|(fifo, place)| u16::from(fifo.first.is_some()) << place);
            self.clusters[cluster].holds = holds.sum();
            self.update_cluster(cluster);
        }
        for target in 0..CommandTarget::COUNT {
            self.update_room(CommandTarget::new(target as u8));
        }
        self.push_ahead = self.s_ahead.min(self.d_ahead);
    }

    /// Sets whether an observer wants events of commands or buses from now on.
    pub(crate) fn watch(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
        (0..CLUSTERS).for_each(|cluster| self.update_cluster(cluster));
    }

    /// Whether an observer wants events of commands or buses.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Whether these are the buses of a chip like that of `other`, and the commands held on them
    /// are for units and clusters that it has.
    pub(crate) fn is_compatible_with(&self, other: &Self) -> bool {
        let is_cluster = |cluster: &u8| *cluster < other.cluster_count;
        let has = |held: &HeldCommand| other.inlets.has(held.target);
        let fits = |fifo: &Fifo| {
            fifo.len() <= other.fifo_depth
                && (fifo.first.is_some() || fifo.behind.is_empty())
                && fifo.all().all(has)
                && fifo
                    .stalled
                    .is_none_or(|(_, blame)| blame.is_none_or(|target| other.inlets.has(target)))
        };
        (self.cluster_count, self.per_cluster) == (other.cluster_count, other.per_cluster)
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
            && (self.bus_cycle, self.is_uneven) == (other.bus_cycle, other.is_uneven)
            && (self.issue_to_inlet, self.transfer_latency)
                == (other.issue_to_inlet, other.transfer_latency)
            && (self.s_ahead, self.d_ahead) == (other.s_ahead, other.d_ahead)
    }

    /// Whether the counts of held commands agree with the FIFOs.
    fn held_is_counted(&self) -> bool {
        let held = |fifos: &[Fifo]| fifos.iter().map(Fifo::len).sum::<usize>();
        let of_clusters = (0..self.clusters()).map(|cluster| held(self.fifos_of(cluster)));
        self.held == held(&self.fifos)
            && (self.clusters.iter().zip(of_clusters))
                .all(|(cluster, held)| cluster.held == held as u64)
    }

    /// The commands waiting in FIFOs.
    pub(crate) fn held_slots(&self) -> impl Iterator<Item = CommandId> + '_ {
        let held = self.fifos.iter().flat_map(Fifo::all);
        held.map(|held| held.slot)
    }

    /// The commands in a microengine's FIFO, oldest first, with the cycles since which they have
    /// waited.
    pub fn held_of(&self, me: u8) -> impl Iterator<Item = (CommandId, Cycle)> + '_ {
        let fifo = self.fifos.get(usize::from(me)).into_iter();
        let held = fifo.flat_map(Fifo::all);
        held.map(|held| (held.slot, held.since))
    }

    /// The cycle since which a microengine has stalled because its FIFO is full, and the unit that
    /// causes it; no unit if the command bus does.
    #[must_use]
    pub fn stalled(&self, me: u8) -> Option<(Cycle, Option<CommandTarget>)> {
        self.fifos.get(usize::from(me))?.stalled
    }

    /// The target of a unit's command. An address of a channel that the chip lacks goes to channel
    /// 0, which rejects it.
    #[must_use]
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of issuing a command.
    pub fn target_of(&self, unit: Unit, address: u32) -> CommandTarget {
        self.inlets.target_of(unit, address)
    }

    /// The cluster of a microengine.
    #[inline(always)]
    #[allow(clippy::inline_always)] // A single load.
    fn cluster_of(&self, me: u8) -> usize {
        usize::from(self.cluster_of[usize::from(me) % MICROENGINES]) % CLUSTERS
    }

    /// Whether the chip has the inlet of a target.
    pub(crate) fn has(&self, target: CommandTarget) -> bool {
        self.inlets.has(target)
    }

    /// Number of commands sent to a target that it has not taken.
    #[cfg(test)]
    pub(crate) fn waiting_at(&self, target: CommandTarget) -> u16 {
        self.waiting[target.index()]
    }

    /// The cost of a full target to others.
    #[must_use]
    pub fn pressure(&self, target: CommandTarget) -> BackPressure {
        self.pressure[target.index()]
    }

    /// The use of each cluster's command, S push and S pull bus until now.
    pub fn cluster_uses(&self, now: Cycle) -> impl Iterator<Item = [BusUse; 3]> + '_ {
        (0..self.clusters()).map(move |at| {
            let cluster = &self.clusters[at];
            let mut command = cluster.command;
            command.transfers = command.busy / self.bus_cycle;
            [
                command.until(now, cluster.command_free),
                self.pushes[at].until(now),
                self.pulls[at].until(now),
            ]
        })
    }

    /// The use of the D push and D pull bus until now.
    #[must_use]
    pub fn d_uses(&self, now: Cycle) -> [BusUse; 2] {
        [self.pushes[D_BUS].until(now), self.pulls[D_BUS].until(now)]
    }
}

/// Records that a bus is occupied until `end`, if an observer wants events of buses.
#[inline]
fn note(bus: Bus, end: Cycle, cycles: Cycle, trace: &mut TraceBuffer) {
    if trace.wants(TraceEventKind::Bus) {
        note_now(bus, end, cycles, trace);
    }
}

#[cold]
#[inline(never)]
fn note_now(bus: Bus, end: Cycle, cycles: Cycle, trace: &mut TraceBuffer) {
    if cycles != 0 {
        let (from, until) = (end - cycles, end);
        trace.record(from, || TraceEvent::Bus { bus, from, until });
    }
}
