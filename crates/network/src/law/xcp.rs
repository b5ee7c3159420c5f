//! XCP at a line.

use npsim_protocols::ParameterError;
use npsim_protocols::xcp::SECOND as TICKS;
use npsim_protocols::xcp::control::{Control, Parameters, QueueTimer};
use npsim_protocols::xcp::feedback::{Pools, Sums};
use npsim_transport::time::{SECOND, Time};
use npsim_transport::wire::Body;
use serde::{Deserialize, Serialize};

use super::LawTimer;
use crate::frame::{Content, Frame};
use crate::topology::Stamp;

/// The state of one line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Xcp {
    control: Control,
    queue: QueueTimer,
    sums: Sums,
    pools: Pools,
    stamp: Stamp,
}

impl Xcp {
    pub fn new(
        parameters: Parameters,
        capacity: u64,
        stamp: Stamp,
    ) -> Result<Self, ParameterError> {
        Ok(Self {
            control: Control::new(Parameters {
                capacity,
                ..parameters
            })?,
            queue: QueueTimer::default(),
            sums: Sums::default(),
            pools: Pools::default(),
            stamp,
        })
    }

    pub fn timers(&self) -> Vec<(LawTimer, Time)> {
        let parameters = self.control.parameters();
        vec![
            (LawTimer::Control, time(self.control.length())),
            (LawTimer::Queue, time(parameters.allowed_queue.max(1))),
        ]
    }

    pub fn arrive(&mut self, frame: &mut Frame) {
        let size = frame.bytes as u16;
        let most = self.control.parameters().max_interval;
        self.sums.arrive(size, header(frame).as_deref(), most);
        if self.stamp == Stamp::Arrival {
            self.give(frame);
        }
    }

    pub fn depart(&mut self, frame: &mut Frame, waiting: u64) {
        self.queue.observe(bytes(waiting));
        if self.stamp == Stamp::Departure {
            self.give(frame);
        }
    }

    fn give(&mut self, frame: &mut Frame) {
        let size = frame.bytes as u16;
        if let Some(header) = header(frame).filter(|header| header.takes_feedback()) {
            let given = self.pools.depart(header.x, size, header.delta_throughput);
            header.delta_throughput = given.delta;
        }
    }

    pub fn fire(&mut self, timer: LawTimer, waiting: u64) -> Time {
        match timer {
            LawTimer::Control => {
                let done = self.control.fire(&self.sums, self.queue.queue());
                self.pools = done.pools;
                self.sums = Sums::default();
                time(self.control.length())
            }
            LawTimer::Queue => {
                let average = self.control.avg_rtt();
                let parameters = *self.control.parameters();
                time(self.queue.fire(bytes(waiting), average, &parameters))
            }
        }
    }
}

/// The congestion header of a frame.
fn header(frame: &mut Frame) -> Option<&mut npsim_protocols::xcp::Header> {
    match &mut frame.content {
        Content::Packet(packet) => match &mut packet.body {
            Body::Tcp { xcp, .. } => xcp.as_mut(),
            Body::Rcp { .. } => None,
        },
        Content::Datagram { .. } => None,
    }
}

pub(super) fn bytes(waiting: u64) -> u32 {
    u32::try_from(waiting).unwrap_or(u32::MAX)
}

/// Ticks of 2^-28 s as picoseconds, rounded up.
pub(super) fn time(ticks: u32) -> Time {
    (u128::from(ticks) * u128::from(SECOND)).div_ceil(u128::from(TICKS)) as Time
}
