//! Parameters of a host. Every time that TCP uses is here, so that a single factor scales all of them.

use npsim_protocols::round_trip::RtoParameters;
use serde::{Deserialize, Serialize};

use crate::pacing::TimerClock;
use crate::scaling::{ScaleError, divided};
use npsim_protocols::time::{SECOND, Time};

/// The window after the ACK that ends a fast recovery without SACK (RFC 6582, step 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FullAck {
    /// The threshold, which may cause a burst.
    Threshold,
    /// The bytes in flight plus one segment, at most the threshold.
    Flight,
}

/// Which partial ACKs restart the retransmission timer (RFC 6582, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartialAck {
    /// The first: "impatient".
    RestartsOnce,
    /// All of them: "slow but steady".
    Restarts,
}

/// Parameters of a host. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct HostParameters {
    /// Largest TCP payload including TCP options and congestion header: the packet without 40 bytes.
    pub mss: u16,
    /// Initial window in segments, 1 to 10.
    pub initial_window: u8,
    /// Initial slow start threshold; unlimited if `None`.
    pub initial_threshold: Option<u64>,
    /// Most bytes in flight, regardless of windows.
    pub window_limit: Option<u64>,
    /// Size of the receive buffer.
    pub receive_buffer: u32,
    /// Whether windows are scaled (RFC 7323); otherwise they are at most 65535.
    pub window_scale: bool,
    /// Unit of timestamps, if they are sent (RFC 7323, without its protection against wrapped sequence
    /// numbers).
    pub timestamps: Option<Time>,
    /// Whether SACK is offered.
    pub sack: bool,
    /// Most SACK blocks in a segment, 1 to 4.
    pub sack_blocks: u8,
    /// How long the ACK of a single segment may wait for a second one; `None` if each segment is
    /// acknowledged at once.
    pub delayed_ack: Option<Time>,
    /// Whether the first two duplicate ACKs release a segment each (RFC 3042).
    pub limited_transmit: bool,
    /// Whether the window falls back to the initial one after a timeout without sending (RFC 5681,
    /// 4.1).
    pub restart_after_idle: bool,
    /// Limit of appropriate byte counting (RFC 3465) in segments; `None` if ACKs are counted.
    pub byte_counting: Option<u8>,
    /// The window at the end of fast recovery.
    pub full_ack: FullAck,
    /// The timer's behaviour in fast recovery.
    pub partial_ack: PartialAck,
    /// The retransmission timer.
    pub rto: RtoParameters,
    /// Retransmissions of the same data after which an endpoint gives up.
    pub most_retransmissions: u8,
    /// How long a closed endpoint keeps answering, and how long it waits for the peer's FIN.
    pub time_wait: Time,
    /// Clock of pacing timers.
    pub clock: TimerClock,
}

impl Default for HostParameters {
    /// Returns RFC 5681 with SACK, packets of 1500 bytes, an initial window of 3 segments, 1 MB of
    /// receive buffer with scaled windows, no delayed ACK, RFC 6298 with a minimum of 200 ms, an exact
    /// clock.
    fn default() -> Self {
        Self {
            mss: 1460,
            initial_window: 3,
            initial_threshold: None,
            window_limit: None,
            receive_buffer: 1 << 20,
            window_scale: true,
            timestamps: None,
            sack: true,
            sack_blocks: 3,
            delayed_ack: None,
            limited_transmit: true,
            restart_after_idle: true,
            byte_counting: None,
            full_ack: FullAck::Flight,
            partial_ack: PartialAck::RestartsOnce,
            rto: RtoParameters::LINUX,
            most_retransmissions: 15,
            time_wait: SECOND,
            clock: TimerClock::Exact,
        }
    }
}

impl HostParameters {
    /// Returns the host for a simulation in which times are divided by `scale` and the caller
    /// multiplies rates by it: it sends the same segments, `scale` times as fast.
    ///
    /// # Errors
    ///
    /// Returns an error with the name of a time that would become zero.
    pub fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        let time = |name, time| divided(name, time, scale);
        let option = |name, value: Option<Time>| value.map(|value| time(name, value)).transpose();
        Ok(Self {
            timestamps: option("the unit of timestamps", self.timestamps)?,
            delayed_ack: option("the delay of ACKs", self.delayed_ack)?,
            rto: RtoParameters {
                initial: time("the first timeout", self.rto.initial)?,
                after_lost_syn: time("the timeout after a lost SYN", self.rto.after_lost_syn)?,
                floor: time("the least timeout", self.rto.floor)?,
                ceiling: time("the greatest timeout", self.rto.ceiling)?,
                granularity: time("the granularity of timeouts", self.rto.granularity)?,
            },
            time_wait: time("the time that a closed connection answers", self.time_wait)?,
            clock: self.clock.scaled(scale)?,
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npsim_protocols::time::{MICROSECOND, MILLISECOND};

    #[test]
    fn a_scale_divides_every_time() {
        let host = HostParameters {
            timestamps: Some(MILLISECOND),
            delayed_ack: Some(40 * MILLISECOND),
            clock: TimerClock::jiffies(250),
            ..HostParameters::default()
        };
        let scaled = host.scaled(20).unwrap();
        assert_eq!(scaled.timestamps, Some(50 * MICROSECOND));
        assert_eq!(scaled.delayed_ack, Some(2 * MILLISECOND));
        assert_eq!(scaled.rto.floor, 10 * MILLISECOND);
        assert_eq!(scaled.rto.granularity, 50 * MICROSECOND);
        assert_eq!(
            scaled.clock,
            TimerClock::Jiffies {
                tick: 200 * MICROSECOND
            }
        );
        assert_eq!(scaled.mss, host.mss);
        assert_eq!(host.scaled(1), Ok(host));
    }

    #[test]
    fn scale_that_zeroes_a_time_is_refused_by_name() {
        let error = HostParameters::default().scaled(2_000_000_000).unwrap_err();
        assert_eq!(error.name, "the granularity of timeouts");
        assert!(error.to_string().contains("divided by 2000000000"));
        assert!(HostParameters::default().scaled(0).is_err());
    }
}
