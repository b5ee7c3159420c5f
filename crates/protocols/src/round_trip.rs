//! The round-trip time and the retransmission timeout (RFC 6298).

use serde::{Deserialize, Serialize};

use crate::time::{MILLISECOND, SECOND, Time};

/// Parameters of the retransmission timer (RFC 6298).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RtoParameters {
    /// Timeout before the first sample.
    pub initial: Time,
    /// Timeout for data if the SYN had to be retransmitted and there is no sample yet.
    pub after_lost_syn: Time,
    /// Minimum timeout.
    pub floor: Time,
    /// Maximum timeout, which also limits doubling.
    pub ceiling: Time,
    /// Granularity of the host's clock: the minimum of the variance term.
    pub granularity: Time,
}

impl RtoParameters {
    /// RFC 6298: 1 s initially and at least, 60 s at most; a clock of 1 ms.
    pub const RFC: Self = Self {
        initial: SECOND,
        after_lost_syn: 3 * SECOND,
        floor: SECOND,
        ceiling: 60 * SECOND,
        granularity: MILLISECOND,
    };

    /// RFC 6298 with Linux's floor of 200 ms.
    pub const LINUX: Self = Self {
        floor: 200 * MILLISECOND,
        ..Self::RFC
    };
}

/// Number of doublings after which every timeout is at its ceiling.
const MAX_DOUBLINGS: u32 = 40;

/// The round-trip estimate of a sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrip {
    parameters: RtoParameters,
    /// Smoothed round-trip time x 8 and mean deviation x 4, so that the gains of 1/8 and 1/4 lose no
    /// precision.
    estimate: Option<(Time, Time)>,
    /// Timeout without back-off.
    timeout: Time,
    doublings: u32,
}

impl RoundTrip {
    /// The estimate before the first sample.
    #[must_use]
    pub fn new(parameters: RtoParameters) -> Self {
        Self {
            parameters,
            estimate: None,
            timeout: parameters.initial,
            doublings: 0,
        }
    }

    /// Adds a sample, from a segment that was sent once (Karn). Ends a back-off.
    pub fn sample(&mut self, rtt: Time) {
        let (srtt, var) = match self.estimate {
            None => (rtt * 8, rtt * 2),
            Some((srtt, var)) => {
                let deviation = (srtt / 8).abs_diff(rtt);
                (srtt - srtt / 8 + rtt, var - var / 4 + deviation)
            }
        };
        self.estimate = Some((srtt, var));
        let RtoParameters {
            floor,
            ceiling,
            granularity,
            ..
        } = self.parameters;
        self.timeout = (srtt / 8 + var.max(granularity)).max(floor).min(ceiling);
        self.doublings = 0;
    }

    /// The smoothed round-trip time; `None` before the first sample.
    #[must_use]
    pub fn smoothed(&self) -> Option<Time> {
        self.estimate.map(|(srtt, _)| srtt / 8)
    }

    /// The timeout with its back-off.
    #[must_use]
    pub fn timeout(&self) -> Time {
        let doubled = self.timeout.saturating_mul(1 << self.doublings);
        doubled.min(self.parameters.ceiling)
    }

    /// Doubles the timeout after the timer expired.
    pub fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
    }

    /// Records that the handshake is done but its SYN had to be retransmitted: without a sample, data
    /// starts with its own timeout (RFC 6298, 5.7).
    pub fn after_lost_syn(&mut self) {
        if self.estimate.is_none() {
            self.timeout = self.timeout.max(self.parameters.after_lost_syn);
            self.doublings = 0;
        }
    }

    /// Sets another initial timeout, before the first sample.
    pub fn begin_with(&mut self, timeout: Time) {
        if self.estimate.is_none() {
            self.timeout = timeout;
        }
    }
}
