//! Quick-Start at a line.

use npsim_net::Random;
use npsim_protocols::quick_start::window::{
    GrantWindow, PeakUtilisation, units_of_bytes, units_of_rate,
};
use npsim_protocols::quick_start::{GrantPool, RequestOutcome, process};
use npsim_transport::time::Time;
use npsim_transport::wire::Packet;
use serde::{Deserialize, Serialize};

use crate::frame::{Content, Frame};

const MILLION: u128 = 1_000_000;

/// The state of one line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct QuickStartLine {
    threshold: i64,
    length: Time,
    window: GrantWindow,
    peak: PeakUtilisation,
    /// Bytes that departed in the current window.
    bytes: u64,
    random: Random,
}

impl QuickStartLine {
    pub fn new(share: u32, length: Time, samples: u8, capacity: u64, seed: u64) -> Self {
        let bits = u128::from(capacity) * 8 * u128::from(share) / MILLION;
        let threshold = units_of_rate(u64::try_from(bits).unwrap_or(u64::MAX));
        let mut window = GrantWindow::default();
        window.settle(threshold, 0);
        Self {
            threshold,
            length: length.max(1),
            window,
            peak: PeakUtilisation::new(samples.into()),
            bytes: 0,
            random: Random::new(seed, 1),
        }
    }

    pub fn window(&self) -> Time {
        self.length
    }

    /// Answers a request with the model against which the microcode is checked. The model works on
    /// header bytes; few packets have a request.
    pub fn arrive(&mut self, frame: &mut Frame) -> bool {
        let Content::Packet(packet) = &mut frame.content else {
            return true;
        };
        if packet.quick_start.is_none() {
            return true;
        }
        // The router has already decremented the TTL, and the model does so again.
        let before = Packet {
            ttl: packet.ttl.saturating_add(1),
            ..*packet
        };
        let Ok(mut bytes) = before.to_bytes() else {
            return false;
        };
        let phase = usize::from(self.window.phase & 1);
        let mut pool = GrantPool {
            limit: self.window.limit,
            granted: self.window.granted[phase],
        };
        let random = self.random.next() as u32;
        let outcome = process(&mut bytes, &mut pool, random);
        self.window.granted[phase] = pool.granted;
        match Packet::from_bytes(&bytes) {
            Ok((answered, _)) if !matches!(outcome, RequestOutcome::SlowPath(_)) => {
                *packet = answered;
                true
            }
            _ => false,
        }
    }

    pub fn depart(&mut self, frame: &Frame) {
        self.bytes += u64::from(frame.bytes);
    }

    /// Ends a window; returns the time until the end of the next.
    pub fn fire(&mut self) -> Time {
        let bytes = std::mem::take(&mut self.bytes);
        self.peak.record(units_of_bytes(bytes, self.length));
        self.window.rotate(self.threshold, self.peak.peak());
        self.length
    }
}
