//! XCP at a line.

use npsim_protocols::ParameterError;
use npsim_protocols::xcp::control::XcpSettings;
use npsim_protocols::xcp::feedback::{FeedbackPools, Sums};
use npsim_transport::time::Time;
use npsim_transport::wire::PacketBody;
use serde::{Deserialize, Serialize};

use super::LawTimer;
use super::interval::Intervals;
use crate::frame::{Content, Frame};
use crate::topology::FeedbackPoint;

/// The state of one line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct XcpLine {
    intervals: Intervals,
    sums: Sums,
    pools: FeedbackPools,
    stamp: FeedbackPoint,
}

impl XcpLine {
    pub fn new(
        parameters: XcpSettings,
        capacity: u64,
        stamp: FeedbackPoint,
    ) -> Result<Self, ParameterError> {
        Ok(Self {
            intervals: Intervals::new(parameters, capacity)?,
            sums: Sums::default(),
            pools: FeedbackPools::default(),
            stamp,
        })
    }

    pub fn timers(&self) -> Vec<(LawTimer, Time)> {
        self.intervals.timers()
    }

    pub fn arrive(&mut self, frame: &mut Frame) {
        let size = frame.bytes as u16;
        let most = self.intervals.longest();
        self.sums.arrive(size, header(frame).as_deref(), most);
        if self.stamp == FeedbackPoint::Arrival {
            self.give(frame);
        }
    }

    pub fn depart(&mut self, frame: &mut Frame, waiting: u64) {
        self.intervals.observe(waiting);
        if self.stamp == FeedbackPoint::Departure {
            self.give(frame);
        }
    }

    fn give(&mut self, frame: &mut Frame) {
        let size = frame.bytes as u16;
        if let Some(header) = header(frame).filter(|header| header.accepts_feedback()) {
            let given = self.pools.depart(header.x, size, header.delta_throughput);
            header.delta_throughput = given.delta;
        }
    }

    pub fn fire(&mut self, timer: LawTimer, waiting: u64) -> Time {
        match timer {
            LawTimer::Control => {
                let done = self.intervals.end(&self.sums);
                self.pools = done.pools;
                self.sums = Sums::default();
                self.intervals.length()
            }
            LawTimer::Queue => self.intervals.fire_queue(waiting),
        }
    }
}

/// Returns the congestion header of a frame.
fn header(frame: &mut Frame) -> Option<&mut npsim_protocols::xcp::XcpHeader> {
    match &mut frame.content {
        Content::Packet(packet) => match &mut packet.body {
            PacketBody::Tcp { xcp, .. } => xcp.as_mut(),
            PacketBody::Rcp { .. } => None,
        },
        _ => None,
    }
}
