//! The round-trip time and the retransmission timeout (RFC 6298).

use serde::{Deserialize, Serialize};

use crate::time::{MILLISECOND, SECOND, Time};

/// The retransmission timer (RFC 6298).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RtoParameters {
    /// Before the first sample.
    pub initial: Time,
    /// Where data starts if the SYN had to be sent again and there is no sample yet.
    pub after_lost_syn: Time,
    /// Least timeout.
    pub floor: Time,
    /// Greatest timeout, and the end of doubling.
    pub ceiling: Time,
    /// Granularity of the host's clock: the least that the variance adds.
    pub granularity: Time,
}

impl RtoParameters {
    /// RFC 6298: 1 s at first and at least, 60 s at most; a clock of 1 ms.
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

/// Doublings beyond which every timeout is at its ceiling.
const MOST_DOUBLINGS: u32 = 40;

/// The estimate of a sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrip {
    parameters: RtoParameters,
    /// Smoothed round-trip time x 8 and mean deviation x 4: the gains of 1/8 and 1/4 lose nothing.
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

    /// A sample: of a segment that was sent once (Karn). Ends a back-off.
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

    /// The smoothed round-trip time; none before the first sample.
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

    /// The timer expired: the timeout doubles.
    pub fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
    }

    /// The handshake is done though its SYN had to be sent again: without a sample, data starts with a
    /// timeout of its own (RFC 6298, 5.7).
    pub fn after_lost_syn(&mut self) {
        if self.estimate.is_none() {
            self.timeout = self.timeout.max(self.parameters.after_lost_syn);
            self.doublings = 0;
        }
    }

    /// Another timeout before the first sample.
    pub fn begin_with(&mut self, timeout: Time) {
        if self.estimate.is_none() {
            self.timeout = timeout;
        }
    }
}
