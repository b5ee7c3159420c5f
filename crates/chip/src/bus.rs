//! Command, push and pull buses as reservations: each keeps the cycle at which
//! it is free again. Commands also need room at their unit's inlet; without it
//! they wait in their microengine's FIFO, and what is behind them waits too.
//!
//! A transfer that is asked for now but cannot start before a later cycle is
//! booked on its bus at once and completes that much later. The order on a bus
//! is so the order of the requests, and a bus never idles while one waits.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use npsim_isa::Unit;

use crate::Cycle;
use crate::fabric::{BusCommand, Slot, TransferKind};
use crate::happening::Bus;
use crate::profile::Profile;

/// A unit's inlet: what a command is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target(u8);

/// Number of targets of the largest chip.
const TARGETS: usize = 12;

impl Target {
    /// The scratchpad.
    pub const SCRATCH: Self = Self(0);
    /// The hash unit.
    pub const HASH: Self = Self(1);
    /// The media interface.
    pub const MSF: Self = Self(2);
    /// The CSR proxy and the PCI mailbox.
    pub const CAP: Self = Self(3);

    /// An SRAM channel, 0-3.
    #[must_use]
    pub const fn sram(channel: u8) -> Self {
        Self(4 + channel % 4)
    }

    /// A DRAM channel, 0-3.
    #[must_use]
    pub const fn dram(channel: u8) -> Self {
        Self(8 + channel % 4)
    }

    /// The channel of an SRAM or DRAM target, 0 for others.
    #[must_use]
    pub const fn channel(self) -> u8 {
        if self.0 < 4 { 0 } else { self.0 % 4 }
    }

    /// Whether a chip can have it.
    pub(crate) const fn is_one(self) -> bool {
        (self.0 as usize) < TARGETS
    }

    /// The unit.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self.0 {
            0 => Unit::Scratch,
            1 => Unit::Hash,
            2 => Unit::Msf,
            3 => Unit::Cap,
            4..8 => Unit::Sram,
            _ => Unit::Dram,
        }
    }
}

/// Busy ME cycles per kind of bus, summed over clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusBusy {
    /// Command buses.
    pub command: Cycle,
    /// S push buses.
    pub s_push: Cycle,
    /// S pull buses.
    pub s_pull: Cycle,
    /// D push bus.
    pub d_push: Cycle,
    /// D pull bus.
    pub d_pull: Cycle,
}

/// When each bus of a cluster is free again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Cluster {
    command: Cycle,
    s_push: Cycle,
    s_pull: Cycle,
}

/// Commands of one microengine on their way to the command bus.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fifo {
    /// Departure times of the last `depth` commands that were granted the bus,
    /// oldest at `next`.
    departures: Vec<Cycle>,
    next: usize,
    /// Commands that wait for room at a unit, oldest first.
    held: VecDeque<(Slot, Target)>,
    /// The microengine stalls until the first of `held` leaves.
    stalled: bool,
}

/// What became of a command at its microengine's FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It reaches the unit's inlet at this cycle.
    Arrives(Cycle),
    /// It waits in the FIFO for the unit; pass it to [`Buses::hold`].
    Waits,
    /// The FIFO is full until this cycle.
    FullUntil(Cycle),
    /// The FIFO is full until a unit takes a command.
    Held,
}

/// A command that waited and now leaves its FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub slot: Slot,
    pub arrival: Cycle,
    /// A microengine that stalled on its full FIFO, and when it has room.
    pub wake: Option<(u8, Cycle)>,
}

/// All buses of the chip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buses {
    clusters: Vec<Cluster>,
    fifos: Vec<Fifo>,
    cluster_of: Vec<u8>,
    /// Commands sent to each target that it has not taken yet.
    waiting: [u16; TARGETS],
    depth: [u16; TARGETS],
    /// Commands held in FIFOs.
    held: usize,
    /// The microengine after the one that was granted last from `held`.
    turn: usize,
    sram_channels: u8,
    dram_channels: u8,
    dram_interleave: u32,
    bus_cycle: Cycle,
    issue_to_inlet: Cycle,
    transfer_latency: Cycle,
    d_push_free: Cycle,
    d_pull_free: Cycle,
    /// Busy cycles of each kind of bus.
    pub busy: BusBusy,
    /// How often a command had to wait for room at its unit.
    pub waits_for_units: u64,
    /// Whether `taken` is kept.
    #[serde(skip)]
    pub(crate) watched: bool,
    /// For whoever watches: which bus was taken from when until when.
    #[serde(skip)]
    pub(crate) taken: Vec<(Bus, Cycle, Cycle)>,
}

impl Buses {
    /// Idle buses.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let fifo = Fifo {
            departures: vec![0; profile.command_fifo_depth() as usize],
            next: 0,
            held: VecDeque::new(),
            stalled: false,
        };
        let mut depth = [0; TARGETS];
        depth[0] = u16::from(profile.scratch_inlet_depth());
        depth[1] = u16::from(profile.hash_inlet_depth());
        depth[2] = u16::from(profile.msf_inlet_depth());
        depth[3] = u16::from(profile.cap_inlet_depth());
        depth[4..8].fill(u16::from(profile.sram_inlet_depth()));
        depth[8..].fill(u16::from(profile.dram_inlet_depth()));
        Self {
            clusters: vec![Cluster::default(); profile.clusters() as usize],
            fifos: vec![fifo; profile.microengines() as usize],
            cluster_of: (0..profile.microengines())
                .map(|me| profile.cluster_of(me))
                .collect(),
            waiting: [0; TARGETS],
            depth,
            held: 0,
            turn: 0,
            sram_channels: profile.sram_channels(),
            dram_channels: profile.dram_channels(),
            dram_interleave: profile.dram_channel_interleave(),
            bus_cycle: profile.bus_cycle(),
            issue_to_inlet: profile.issue_to_inlet(),
            transfer_latency: profile.transfer_latency(),
            d_push_free: 0,
            d_pull_free: 0,
            busy: BusBusy::default(),
            waits_for_units: 0,
            watched: false,
            taken: Vec::new(),
        }
    }

    /// Whether these are the buses of a chip like that of `other`, and what is
    /// held on them is for units.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let fits = |(fifo, other): (&Fifo, &Fifo)| {
            fifo.departures.len() == other.departures.len()
                && fifo.next < fifo.departures.len()
                && fifo.held.iter().all(|(_, target)| target.is_one())
        };
        self.clusters.len() == other.clusters.len()
            && self.cluster_of == other.cluster_of
            && self.fifos.len() == other.fifos.len()
            && self.fifos.iter().zip(&other.fifos).all(fits)
            && (self.sram_channels, self.dram_channels)
                == (other.sram_channels, other.dram_channels)
            && (self.dram_interleave, self.bus_cycle) == (other.dram_interleave, other.bus_cycle)
            && (self.issue_to_inlet, self.transfer_latency)
                == (other.issue_to_inlet, other.transfer_latency)
            && self.depth == other.depth
            && self.held == self.fifos.iter().map(|fifo| fifo.held.len()).sum::<usize>()
            && self.turn < self.fifos.len()
    }

    /// The commands that wait in FIFOs.
    pub(crate) fn held_slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let held = self.fifos.iter().flat_map(|fifo| &fifo.held);
        held.map(|&(slot, _)| slot)
    }

    /// Where a command goes. An SRAM address of a channel that the chip lacks
    /// goes to channel 0, which refuses it.
    #[must_use]
    pub fn target_of(&self, command: &BusCommand) -> Target {
        match command.op.info().unit {
            Unit::Scratch => Target::SCRATCH,
            Unit::Hash => Target::HASH,
            Unit::Msf => Target::MSF,
            Unit::Cap | Unit::Pci => Target::CAP,
            Unit::Sram => {
                let channel = (command.address >> 30) as u8;
                Target::sram(if channel < self.sram_channels {
                    channel
                } else {
                    0
                })
            }
            Unit::Dram if self.dram_channels == 1 => Target::dram(0),
            Unit::Dram => Target::dram(
                (command.address / self.dram_interleave % u32::from(self.dram_channels)) as u8,
            ),
        }
    }

    /// Commands that a target has been sent and has not taken.
    #[must_use]
    pub fn waiting_at(&self, target: Target) -> u16 {
        self.waiting[target.0 as usize]
    }

    /// Takes a command into its microengine's FIFO, if it has room.
    pub(crate) fn admit(&mut self, now: Cycle, command: &BusCommand) -> Admission {
        let target = self.target_of(command);
        let fifo = &mut self.fifos[command.me as usize];
        let depth = fifo.departures.len();
        let held = fifo.held.len();
        if held >= depth {
            fifo.stalled = true;
            return Admission::Held;
        }
        let oldest = fifo.departures[(fifo.next + held) % depth];
        if oldest > now {
            return Admission::FullUntil(oldest);
        }
        if held > 0 || self.waiting[target.0 as usize] >= self.depth[target.0 as usize] {
            self.waits_for_units += 1;
            return Admission::Waits;
        }
        Admission::Arrives(self.depart(now, command.me as usize, target))
    }

    /// Keeps a command that [`Self::admit`] said waits.
    pub(crate) fn hold(&mut self, me: u8, slot: Slot, target: Target) {
        self.fifos[me as usize].held.push_back((slot, target));
        self.held += 1;
    }

    /// A target has taken a command; [`Self::next_grant`] may have work.
    pub(crate) fn release(&mut self, target: Target) -> bool {
        let waiting = &mut self.waiting[target.0 as usize];
        *waiting = waiting.saturating_sub(1);
        self.held > 0
    }

    /// The next held command whose target has room, microengines in turn.
    pub(crate) fn next_grant(&mut self, now: Cycle) -> Option<Grant> {
        let count = self.fifos.len();
        for step in 0..count {
            let me = (self.turn + step) % count;
            let Some(&(slot, target)) = self.fifos[me].held.front() else {
                continue;
            };
            if self.waiting[target.0 as usize] >= self.depth[target.0 as usize] {
                continue;
            }
            self.turn = (me + 1) % count;
            self.held -= 1;
            self.fifos[me].held.pop_front();
            let arrival = self.depart(now, me, target);
            let wake = std::mem::take(&mut self.fifos[me].stalled)
                .then(|| (me as u8, arrival - self.issue_to_inlet));
            return Some(Grant {
                slot,
                arrival,
                wake,
            });
        }
        None
    }

    /// Books the command bus; gives the arrival at the inlet.
    fn depart(&mut self, now: Cycle, me: usize, target: Target) -> Cycle {
        self.waiting[target.0 as usize] += 1;
        let cluster = &mut self.clusters[self.cluster_of[me] as usize];
        let granted = cluster.command.max(now).next_multiple_of(self.bus_cycle);
        cluster.command = granted + self.bus_cycle;
        let end = granted + self.bus_cycle;
        self.note(Bus::Command(self.cluster_of[me]), end, self.bus_cycle);
        self.busy.command += self.bus_cycle;
        let fifo = &mut self.fifos[me];
        fifo.departures[fifo.next] = granted;
        fifo.next = (fifo.next + 1) % fifo.departures.len();
        granted + self.issue_to_inlet
    }

    /// Takes data from OUT registers, requested now and starting `lead` cycles
    /// later; gives the cycle at which the last word is with the unit.
    pub(crate) fn pull(
        &mut self,
        now: Cycle,
        lead: Cycle,
        command: &BusCommand,
        words: u8,
    ) -> Cycle {
        let cycles = Cycle::from(words) * self.bus_cycle;
        let cluster = self.cluster_of[command.transfer_me as usize];
        let (bus, free) = match command.transfer_kind {
            TransferKind::S => {
                self.busy.s_pull += cycles;
                let free = &mut self.clusters[cluster as usize].s_pull;
                (Bus::SPull(cluster), free)
            }
            TransferKind::D => {
                self.busy.d_pull += cycles;
                (Bus::DPull, &mut self.d_pull_free)
            }
        };
        let end = reserve(free, now, cycles);
        self.note(bus, end, cycles);
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
    ) -> Cycle {
        let cycles = Cycle::from(words) * self.bus_cycle;
        let cluster = self.cluster_of[command.transfer_me as usize];
        let (bus, free) = match command.transfer_kind {
            TransferKind::S => {
                self.busy.s_push += cycles;
                let free = &mut self.clusters[cluster as usize].s_push;
                (Bus::SPush(cluster), free)
            }
            TransferKind::D => {
                self.busy.d_push += cycles;
                (Bus::DPush, &mut self.d_push_free)
            }
        };
        let end = reserve(free, now, cycles);
        self.note(bus, end, cycles);
        end + lead + self.transfer_latency
    }

    /// Carries quadwords from the media interface to DRAM over the D pull bus,
    /// one per bus clock, `lead` cycles from now; gives the end.
    pub fn media_pull(&mut self, now: Cycle, lead: Cycle, quadwords: u8) -> Cycle {
        let cycles = Cycle::from(quadwords) * self.bus_cycle;
        self.busy.d_pull += cycles;
        let end = reserve(&mut self.d_pull_free, now, cycles);
        self.note(Bus::DPull, end, cycles);
        end + lead
    }

    /// Carries quadwords from DRAM to the media interface over the D push bus,
    /// one per bus clock, `lead` cycles from now; gives the end.
    pub fn media_push(&mut self, now: Cycle, lead: Cycle, quadwords: u8) -> Cycle {
        let cycles = Cycle::from(quadwords) * self.bus_cycle;
        self.busy.d_push += cycles;
        let end = reserve(&mut self.d_push_free, now, cycles);
        self.note(Bus::DPush, end, cycles);
        end + lead
    }

    /// Writes down for whoever watches that a bus is taken until `end`.
    #[inline]
    fn note(&mut self, bus: Bus, end: Cycle, cycles: Cycle) {
        if self.watched {
            self.write(bus, end, cycles);
        }
    }

    #[cold]
    #[inline(never)]
    fn write(&mut self, bus: Bus, end: Cycle, cycles: Cycle) {
        if cycles != 0 {
            self.taken.push((bus, end - cycles, end));
        }
    }
}

/// Books `cycles` from now or when free; gives the end.
fn reserve(free: &mut Cycle, now: Cycle, cycles: Cycle) -> Cycle {
    let end = (*free).max(now) + cycles;
    *free = end;
    end
}
