//! Progress of a network run, and the times at which its driver has something to do.

use npsim_network::Network;
use npsim_network::counters::NetworkCounters;
use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::file::NetworkFile;

/// Number of steps into which a run is divided.
const STEPS: u64 = 1_000;

/// Progress of a run, besides the state of its network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkProgress {
    /// The time that all parts have reached. An interrupted network may be beyond it.
    pub now: Time,
    /// Time from one sample of a series to the next.
    pub every: Time,
    /// Counters at the start of the measurement, or of the run before that.
    pub begin: NetworkCounters,
    /// Counters at the last sample.
    pub sampled: Option<NetworkCounters>,
}

impl NetworkProgress {
    /// Creates the progress of a run that has not begun, with this sampling period.
    #[must_use]
    pub fn new(network: &Network, every: Time) -> Self {
        Self {
            now: 0,
            every: every.max(1),
            begin: network.packet_simulation().counters(),
            sampled: None,
        }
    }

    /// Returns the end of the next step: where one of the run's parts ends, the measurement begins,
    /// the next sample is due if samples are taken, or the run ends. The choice of steps does not
    /// affect the run.
    #[must_use]
    pub fn next(&self, file: &NetworkFile, network: &Network, is_sampled: bool) -> Time {
        let multiple = |of: u64| (self.now / of + 1).saturating_mul(of);
        let mut next = multiple(network.step(file.until, STEPS)).min(file.until);
        if is_sampled {
            next = next.min(multiple(self.every));
        }
        if self.now < file.from {
            next = next.min(file.from);
        }
        next
    }

    /// Records that the network has reached the end of a step; returns true if a sample is due.
    pub fn finish_step(&mut self, next: Time, file: &NetworkFile, network: &mut Network) -> bool {
        self.now = next;
        if next == file.from {
            network.packet_simulation_mut().reset_longest_queues();
            self.begin = network.packet_simulation().counters();
        }
        next.is_multiple_of(self.every)
    }
}
