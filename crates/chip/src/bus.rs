//! Command, push and pull buses as reservations: each keeps the cycle at which
//! it is free again.

use crate::Cycle;
use crate::fabric::{BusCommand, TransferKind};
use crate::profile::Profile;

/// All buses of the chip.
#[derive(Clone, Debug)]
pub struct Buses {
    clusters: Vec<Cluster>,
    /// Per microengine: the cycles at which its last commands left its FIFO.
    fifos: Vec<Fifo>,
    cluster_of: Vec<u8>,
    bus_cycle: Cycle,
    issue_to_inlet: Cycle,
    transfer_latency: Cycle,
    d_push_free: Cycle,
    d_pull_free: Cycle,
    /// Busy cycles of command buses, S push, S pull, D push, D pull.
    pub busy: BusBusy,
}

/// Busy ME cycles per kind of bus, summed over clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

#[derive(Clone, Debug, Default)]
struct Cluster {
    command_free: Cycle,
    s_push_free: Cycle,
    s_pull_free: Cycle,
}

/// Departure times of the last `depth` commands, oldest at `next`.
#[derive(Clone, Debug)]
struct Fifo {
    departures: Vec<Cycle>,
    next: usize,
}

impl Buses {
    /// Idle buses.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let fifo = Fifo { departures: vec![0; profile.command_fifo_depth() as usize], next: 0 };
        Self {
            clusters: vec![Cluster::default(); profile.clusters() as usize],
            fifos: vec![fifo; profile.microengines() as usize],
            cluster_of: (0..profile.microengines()).map(|me| profile.cluster_of(me)).collect(),
            bus_cycle: profile.bus_cycle(),
            issue_to_inlet: profile.issue_to_inlet(),
            transfer_latency: profile.transfer_latency(),
            d_push_free: 0,
            d_pull_free: 0,
            busy: BusBusy::default(),
        }
    }

    /// Sends a command; gives its arrival at the unit's inlet, or the cycle at
    /// which the FIFO has room.
    ///
    /// # Errors
    /// The cycle at which a full FIFO has room again.
    pub fn command(&mut self, now: Cycle, command: &BusCommand) -> Result<Cycle, Cycle> {
        let fifo = &mut self.fifos[command.me as usize];
        let oldest = fifo.departures[fifo.next];
        if oldest > now {
            return Err(oldest);
        }
        let cluster = &mut self.clusters[self.cluster_of[command.me as usize] as usize];
        let granted = cluster.command_free.max(now).next_multiple_of(self.bus_cycle);
        cluster.command_free = granted + self.bus_cycle;
        self.busy.command += self.bus_cycle;
        fifo.departures[fifo.next] = granted;
        fifo.next = (fifo.next + 1) % fifo.departures.len();
        Ok(granted + self.issue_to_inlet)
    }

    /// Takes data from OUT registers; gives the cycle at which the last word is
    /// with the unit.
    pub fn pull(&mut self, not_before: Cycle, command: &BusCommand, words: u8) -> Cycle {
        let cycles = Cycle::from(words) * self.bus_cycle;
        let free = match command.transfer_kind {
            TransferKind::S => {
                self.busy.s_pull += cycles;
                &mut self.clusters[self.cluster_of[command.transfer_me as usize] as usize].s_pull_free
            }
            TransferKind::D => {
                self.busy.d_pull += cycles;
                &mut self.d_pull_free
            }
        };
        reserve(free, not_before, cycles) + self.transfer_latency
    }

    /// Carries data to IN registers; gives the cycle at which the last word and
    /// the signal are there.
    pub fn push(&mut self, now: Cycle, command: &BusCommand, words: u8) -> Cycle {
        let cycles = Cycle::from(words) * self.bus_cycle;
        let free = match command.transfer_kind {
            TransferKind::S => {
                self.busy.s_push += cycles;
                &mut self.clusters[self.cluster_of[command.transfer_me as usize] as usize].s_push_free
            }
            TransferKind::D => {
                self.busy.d_push += cycles;
                &mut self.d_push_free
            }
        };
        reserve(free, now, cycles) + self.transfer_latency
    }
}

/// Books `cycles` from `not_before` or when free; gives the end.
fn reserve(free: &mut Cycle, not_before: Cycle, cycles: Cycle) -> Cycle {
    let end = (*free).max(not_before) + cycles;
    *free = end;
    end
}
