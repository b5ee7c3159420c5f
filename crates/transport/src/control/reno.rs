//! Slow start, congestion avoidance and multiplicative decrease (RFC 5681).

use serde::{Deserialize, Serialize};

use super::{ControlInputs, Controller, SendLimit};
use crate::host::{FullAck, HostParameters};

/// Fraction bits of the window: with large windows, congestion avoidance adds less than a byte per ACK.
const FRACTION: u32 = 16;

/// The window of a loss-based sender: `NewReno` or SACK, depending on how the sender repairs losses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reno {
    /// Window in bytes x 2^16.
    window: u64,
    threshold: u64,
    /// Initial window in segments.
    first: u64,
    byte_counting: Option<u8>,
    full_ack: FullAck,
    /// Window in bytes above which slow start is limited (RFC 3742).
    pub(super) limited_slow_start: Option<u64>,
}

impl Reno {
    /// Creates the state before the handshake.
    #[must_use]
    pub fn new(host: &HostParameters) -> Self {
        Self {
            window: 0,
            threshold: host.initial_threshold.unwrap_or(u64::MAX),
            first: u64::from(host.initial_window),
            byte_counting: host.byte_counting,
            full_ack: host.full_ack,
            limited_slow_start: None,
        }
    }

    pub(super) fn set_window(&mut self, bytes: u64) {
        self.window = bytes << FRACTION;
    }

    pub(super) fn set_threshold(&mut self, bytes: u64) {
        self.threshold = bytes;
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.window() < self.threshold
    }

    /// Returns the initial window in bytes.
    pub(super) fn first_window(&self, mss: u64) -> u64 {
        self.first * mss
    }

    /// Returns how many of the `bytes` acknowledged by one ACK are counted.
    fn counted(&self, mss: u64, bytes: u64) -> u64 {
        self.byte_counting
            .map_or(mss, |limit| bytes.min(u64::from(limit) * mss))
    }

    /// Handles an ACK of `bytes` in slow start.
    pub(super) fn slow_start(&mut self, mss: u64, bytes: u64) {
        let step = match self.limited_slow_start {
            // RFC 3742: K = int(window / (limit / 2)); the window grows by a K-th of a segment per ACK.
            Some(limit) if self.window() > limit => mss * limit.max(1) / (2 * self.window()).max(1),
            _ => self.counted(mss, bytes),
        };
        self.window += step << FRACTION;
    }

    /// Handles an ACK of `bytes` in congestion avoidance: the window grows by a segment per window of
    /// data.
    pub(super) fn avoid(&mut self, mss: u64, bytes: u64) {
        let counted = u128::from(self.counted(mss, bytes) * mss) << (2 * FRACTION);
        self.window += (counted / u128::from(self.window.max(1))) as u64;
    }
}

/// Returns half of the data in flight, at least two segments (RFC 5681, equation 4).
pub(super) fn half_of_flight(moment: &ControlInputs) -> u64 {
    (moment.flight / 2).max(2 * moment.mss)
}

impl Controller for Reno {
    fn window(&self) -> u64 {
        self.window >> FRACTION
    }

    fn has_slow_start(&self) -> bool {
        true
    }

    fn threshold(&self) -> Option<u64> {
        Some(self.threshold).filter(|&threshold| threshold != u64::MAX)
    }

    fn opened(&mut self, moment: &ControlInputs, lost: bool) {
        let segments = if lost { 1 } else { self.first };
        self.set_window(segments * moment.mss);
    }

    fn acknowledged(&mut self, moment: &ControlInputs, bytes: u64) {
        // RFC 5681 and 2861: a window that is not fully used tells nothing about the path.
        if moment.recovering || moment.limit != SendLimit::Window {
            return;
        }
        if self.in_slow_start() {
            self.slow_start(moment.mss, bytes);
        } else {
            self.avoid(moment.mss, bytes);
        }
    }

    fn lost(&mut self, moment: &ControlInputs) {
        self.threshold = half_of_flight(moment);
        self.set_window(self.threshold);
    }

    fn recovered(&mut self, moment: &ControlInputs) {
        let window = match self.full_ack {
            FullAck::Threshold => self.threshold,
            FullAck::Flight => {
                let room = moment.flight.max(moment.mss) + moment.mss;
                room.min(self.threshold)
            }
        };
        self.set_window(window);
    }

    fn timed_out(&mut self, moment: &ControlInputs, again: bool) {
        // The threshold of the first expiry stays (RFC 5681, section 3.1). In fast recovery the
        // unacknowledged data reflect the window before the loss, which has been halved already: half of
        // them would be the window at which the queue overflowed.
        if !again {
            let out = moment.flight.min(self.window());
            self.threshold = (out / 2).max(2 * moment.mss);
        }
        self.set_window(moment.mss);
    }

    fn idle(&mut self, moment: &ControlInputs) {
        self.set_window(self.window().min(self.first_window(moment.mss)));
    }
}
