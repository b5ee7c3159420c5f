//! RCP's own transport: routers write the rate that a flow may use, the sender paces at it, packets are
//! numbered, and unanswered ones are retransmitted at the end.
//!
//! Modelled after the simulator of RCP's authors (Zhang and Dukkipati), which repairs by count whereas
//! this one knows the numbers, and whose senders may give up at a rate of 0. The header for routers is
//! that of the shipped microcode; the data that endpoints exchange beyond it are an
//! [`RcpDatagram`](crate::wire::RcpDatagram).

mod numbers;
mod receiver;
mod sender;

use serde::{Deserialize, Serialize};

use crate::pacing::TimerClock;
use crate::scaling::{ScaleError, divided};
use npsim_protocols::time::{MILLISECOND, SECOND, Time};

pub use receiver::{RcpReceiver, RcpReceiverCounters};
pub use sender::{RcpPhase, RcpSender, RcpSenderCounters, RcpSenderParameters};

/// Units of the header's round-trip times per second.
const RTT_UNITS: u128 = 1 << 14;

/// Parameters of an RCP host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpParameters {
    /// Payload of a data packet; headers are 40 bytes.
    pub payload: u16,
    /// Time between two SYNs, and the longest time between two rate requests.
    pub retry: Time,
    /// Lowest rate, in bytes of IP per second: below it a flow would wait too long to learn of a better
    /// one.
    pub least_rate: u64,
    /// Unanswered attempts after which a sender gives up.
    pub most_attempts: u32,
    /// Unit of the 32-bit clock in packets.
    pub stamp_unit: Time,
    /// Clock of pacing timers.
    pub clock: TimerClock,
}

impl Default for RcpParameters {
    /// Returns packets of 1500 bytes, half a second, one packet per second, stamps in nanoseconds.
    fn default() -> Self {
        Self {
            payload: 1460,
            retry: SECOND / 2,
            least_rate: 1500,
            most_attempts: 60,
            stamp_unit: MILLISECOND / 1_000_000,
            clock: TimerClock::Exact,
        }
    }
}

impl RcpParameters {
    /// Returns the host for a simulation in which times are divided and rates are multiplied by `scale`.
    /// The unit of stamps stays: it only has to be small.
    ///
    /// # Errors
    ///
    /// Returns an error with the name of a time that would become zero.
    pub fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        Ok(Self {
            retry: divided("the time between two SYNs of RCP", self.retry, scale)?,
            least_rate: self.least_rate.saturating_mul(scale),
            clock: self.clock.scaled(scale)?,
            ..self
        })
    }
}

/// Returns a round-trip time in the header's units of 2^-14 s: 0 for none, otherwise at least 1.
fn rtt_field(rtt: Option<Time>) -> u16 {
    let Some(rtt) = rtt else { return 0 };
    let units = u128::from(rtt) * RTT_UNITS / u128::from(SECOND);
    u16::try_from(units).unwrap_or(u16::MAX).max(1)
}
