//! Where a run of a network stands, and where it next has something to do besides running.

use npsim_network::Network;
use npsim_network::counters::NetworkCounters;
use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::file::NetworkFile;

/// Steps of a run between which its driver looks at what else there is.
const STEPS: u64 = 1_000;

/// Where a run stands besides its network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The time to which all has run. An interrupted network may be beyond it.
    pub now: Time,
    /// Time from one sample of series to the next.
    pub every: Time,
    /// What was counted when the measurement began, or at the beginning.
    pub begin: NetworkCounters,
    /// What was counted at the last sample.
    pub sampled: Option<NetworkCounters>,
}

impl Standing {
    /// A run that has not begun, which is sampled so often.
    #[must_use]
    pub fn new(network: &Network, every: Time) -> Self {
        Self {
            now: 0,
            every: every.max(1),
            begin: network.outside().counters(),
            sampled: None,
        }
    }

    /// The end of the next step: where one of the run's parts ends, the measurement begins, the next
    /// sample is due if samples are taken, or the run ends. Where steps end changes nothing of
    /// the run.
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

    /// The network has come to the end of a step; says whether a sample is due.
    pub fn come_to(&mut self, next: Time, file: &NetworkFile, network: &mut Network) -> bool {
        self.now = next;
        if next == file.from {
            network.outside_mut().forget_longest_queues();
            self.begin = network.outside().counters();
        }
        next.is_multiple_of(self.every)
    }
}
