//! RCP's own transport: routers write the rate that a flow may have, the sender paces at it, packets are
//! numbered, and what was not answered is sent again at the end.
//!
//! After the simulator of RCP's authors (Zhang and Dukkipati), which repairs by count where this knows the
//! numbers, and whose senders may give up at a rate of 0. The header of routers is that of the
//! shipped microcode; what endpoints exchange beyond it is
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

/// Unit of the header's round-trip times in a second.
const RTT_UNITS: u128 = 1 << 14;

/// What a host that speaks RCP is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpParameters {
    /// Payload of a packet of data; headers are 40 bytes.
    pub payload: u16,
    /// Time between two SYNs, and the longest between two requests for the rate.
    pub retry: Time,
    /// Lowest rate, bytes of IP per second: below it a flow would wait too long to learn of a better
    /// one.
    pub least_rate: u64,
    /// Attempts without any answer after which a sender gives up.
    pub most_attempts: u32,
    /// Unit of the 32-bit clock in packets.
    pub stamp_unit: Time,
    /// What timers of pacing go by.
    pub clock: TimerClock,
}

impl Default for RcpParameters {
    /// Packets of 1500 bytes, half a second, one packet a second, stamps in nanoseconds.
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
    /// The host in a world whose times are divided and whose rates are multiplied by `scale`. The
    /// unit of stamps stays: it only has to be small.
    ///
    /// # Errors
    ///
    /// When a length of time becomes zero, with its name.
    pub fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        Ok(Self {
            retry: divided("the time between two SYNs of RCP", self.retry, scale)?,
            least_rate: self.least_rate.saturating_mul(scale),
            clock: self.clock.scaled(scale)?,
            ..self
        })
    }
}

/// A round-trip time as the header has it: units of 2^-14 s, 0 for none, and at least 1 otherwise.
fn in_header(rtt: Option<Time>) -> u16 {
    let Some(rtt) = rtt else { return 0 };
    let units = u128::from(rtt) * RTT_UNITS / u128::from(SECOND);
    u16::try_from(units).unwrap_or(u16::MAX).max(1)
}
