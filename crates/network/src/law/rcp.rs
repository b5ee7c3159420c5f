//! RCP at a line.

use npsim_protocols::ParameterError;
use npsim_protocols::rcp::counters::Counters;
use npsim_protocols::rcp::header::stamp;
use npsim_protocols::rcp::rate::{LinkRate, RcpSettings};
use npsim_transport::time::Time;
use npsim_transport::wire::PacketBody;
use serde::{Deserialize, Serialize};

use crate::frame::{Content, Frame};

/// Picoseconds in a nanosecond.
const NANOSECOND: Time = 1_000;

/// The state of one line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RcpLine {
    rate: LinkRate,
    counters: Counters,
}

impl RcpLine {
    /// Creates the state; target and initial rate keep their ratios to the capacity.
    pub fn new(parameters: RcpSettings, capacity: u64) -> Result<Self, ParameterError> {
        let share = |part: u64| {
            let scaled = u128::from(part) * u128::from(capacity);
            (scaled / u128::from(parameters.capacity.max(1))) as u64
        };
        let first = share(parameters.initial_rate.into()).max(1);
        Ok(Self {
            rate: LinkRate::new(RcpSettings {
                capacity,
                target: share(parameters.target).max(1),
                initial_rate: u32::try_from(first).unwrap_or(u32::MAX),
                ..parameters
            })?,
            counters: Counters::default(),
        })
    }

    pub fn length(&self) -> Time {
        self.rate.length() * NANOSECOND
    }

    pub fn arrive(&mut self, frame: &mut Frame) {
        let size = frame.bytes as u16;
        let header = match &mut frame.content {
            Content::Packet(packet) => match &mut packet.body {
                PacketBody::Rcp { header, .. } => Some(header),
                PacketBody::Tcp { .. } => None,
            },
            _ => None,
        };
        let rtt = header.as_ref().map_or(0, |header| header.rtt);
        self.counters.arrive(size, rtt);
        if let Some(header) = header.filter(|header| header.accepts_rate()) {
            header.rate = stamp(header.rate, self.rate.rate());
        }
    }

    pub fn fire(&mut self, waiting: u64) -> Time {
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        let counters = std::mem::take(&mut self.counters);
        self.rate.fire(self.rate.length(), &counters, waiting);
        self.length()
    }
}
