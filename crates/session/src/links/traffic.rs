//! Counts of the frames on the lines, and observers of these frames.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop};
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// Counts of what came and went on the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Frames put on the lines.
    pub offered_frames: u64,
    /// Bytes of these frames, padded to the minimum Ethernet frame, without check sequence.
    pub offered_bytes: u64,
    /// Frames that left.
    pub sent_frames: u64,
    /// Bytes of these frames.
    pub sent_bytes: u64,
    /// Frames that left and could not be traced to a frame that arrived.
    pub untraced_frames: u64,
    /// First preamble bit of the first arrival.
    pub first_arrival: Option<Cycle>,
    /// Last bit of the last arrival.
    pub last_arrival: Cycle,
    /// First preamble bit of the first departure.
    pub first_departure: Option<Cycle>,
    /// Last bit of the last departure.
    pub last_departure: Cycle,
    /// Cycles from last bit in to last bit out, for every traced departure.
    pub latencies: Histogram,
    /// Frames lost at the media interface, by port and reason.
    pub drops: BTreeMap<(u8, MediaDrop), u64>,
    /// Counts by port; ports after the last one with traffic are left out.
    pub ports: Vec<PortTraffic>,
}

/// Counts of what came and went at one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTraffic {
    /// Frames put on the line.
    pub offered_frames: u64,
    /// Bytes of these frames.
    pub offered_bytes: u64,
    /// Frames that left.
    pub sent_frames: u64,
    /// Bytes of these frames.
    pub sent_bytes: u64,
    /// Frames lost at the media interface, on their way in or out.
    pub dropped_frames: u64,
}

impl Traffic {
    pub(super) fn port(&mut self, port: u8) -> &mut PortTraffic {
        let index = usize::from(port);
        if index >= self.ports.len() {
            self.ports.resize(index + 1, PortTraffic::default());
        }
        &mut self.ports[index]
    }
}

/// An observer of each frame that arrives, leaves or is lost.
pub trait Tap {
    /// Called when a frame is handed to the chip, before its first bit arrives.
    fn arriving(&mut self, _arrival: &Arrival) {}

    /// Called when a frame has left.
    fn departed(&mut self, _departure: &Departure<'_>) {}

    /// Called when a frame is lost at the media interface.
    fn dropped(&mut self, _cycle: Cycle, _port: u8, _frame: Option<u64>, _reason: MediaDrop) {}
}
