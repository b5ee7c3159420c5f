//! XCP (draft-falk-xcp-spec-03): routers signal to senders how much to change their throughput.
//!
//! A packet carries a congestion [`XcpHeader`]. On arrival it is counted ([`Sums::arrive`]); on departure
//! it gets its share of the throughput that the link has to hand out or take back
//! ([`FeedbackPools::depart`]). Between packets the control timer turns the counts of an interval into new
//! pools ([`ControlTimer`]), and the queue timer determines the standing queue ([`QueueTimer`]).
//!
//! Times are in 2^-28 s as in the header (Q4.28), throughputs in bytes per second. Step numbers are those
//! of the draft.

pub mod control;
pub mod device;
pub mod feedback;
pub mod fluid;
pub mod header;
pub mod keys;
pub mod scale;
pub mod task;
mod words;

pub use control::{ControlTimer, IntervalResult, QueueTimer, XcpSettings};
pub use feedback::{Feedback, FeedbackPools, Sums};
pub use header::XcpHeader;
pub use scale::Factor;

/// One second in the unit of the header's times.
pub const SECOND: u32 = 1 << 28;

/// Converts nanoseconds to units of 2^-28 s, rounded down; saturates at the header's longest time, just
/// under 16 s.
#[must_use]
pub(crate) fn time_from_nanoseconds(nanoseconds: u64) -> u32 {
    let time = u128::from(nanoseconds) * u128::from(SECOND) / 1_000_000_000;
    u32::try_from(time).unwrap_or(u32::MAX)
}

/// Converts units of 2^-28 s to nanoseconds, rounded down.
#[must_use]
pub(crate) fn time_to_nanoseconds(time: u32) -> u64 {
    u64::from(time) * 1_000_000_000 / u64::from(SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_convert_to_q4_28() {
        for (nanoseconds, time) in [
            (1_000, 268),
            (12_000, 3_221),
            (1_000_000, 268_435),
            (10_000_000, 2_684_354),
            (1_000_000_000, SECOND),
            (16_000_000_000, u32::MAX),
        ] {
            assert_eq!(time_from_nanoseconds(nanoseconds), time);
        }
        assert_eq!(time_to_nanoseconds(SECOND / 2), 500_000_000);
    }
}
