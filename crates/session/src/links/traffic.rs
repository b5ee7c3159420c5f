//! Frames that came and went on the lines, and their observers.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop};
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;

/// What came and went on the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Frames put on the lines.
    pub offered_frames: u64,
    /// The bytes of these frames, padded to the least Ethernet frame, without check sequence.
    pub offered_bytes: u64,
    /// Frames that left.
    pub sent_frames: u64,
    /// The bytes of these frames.
    pub sent_bytes: u64,
    /// Frames that left and could be traced to no frame that came.
    pub untraced_frames: u64,
    /// First preamble bit of the first arrival.
    pub first_arrival: Option<Cycle>,
    /// Last bit of the last arrival.
    pub last_arrival: Cycle,
    /// First preamble bit of the first departure.
    pub first_departure: Option<Cycle>,
    /// Last bit of the last departure.
    pub last_departure: Cycle,
    /// Cycles from the last bit in to the last bit out, of every traced
    /// departure.
    pub latencies: Histogram,
    /// Frames lost at the media interface, by port and reason.
    pub drops: BTreeMap<(u8, MediaDrop), u64>,
    /// What came and went at each port; ports after the last one that had traffic are left out.
    pub ports: Vec<PortTraffic>,
}

/// What came and went at one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTraffic {
    /// Frames put on the line.
    pub offered_frames: u64,
    /// The bytes of these frames.
    pub offered_bytes: u64,
    /// Frames that left.
    pub sent_frames: u64,
    /// The bytes of these frames.
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

/// Something that inspects each frame that comes, leaves or is lost.
pub trait Tap {
    /// A frame was handed to the chip, which is before its first bit comes.
    fn arriving(&mut self, _arrival: &Arrival) {}

    /// A frame has left.
    fn departed(&mut self, _departure: &Departure<'_>) {}

    /// A frame was lost at the media interface.
    fn dropped(&mut self, _cycle: Cycle, _port: u8, _frame: Option<u64>, _reason: MediaDrop) {}
}
