//! The control intervals that both forms of XCP have at a line: the draft's law and the timer of its
//! queue, in the network's time.

use npsim_protocols::ParameterError;
use npsim_protocols::xcp::SECOND as TICKS;
use npsim_protocols::xcp::control::{ControlTimer, IntervalResult, QueueTimer, XcpSettings};
use npsim_protocols::xcp::feedback::Sums;
use npsim_transport::time::{SECOND, Time};
use serde::{Deserialize, Serialize};

use super::LawTimer;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Intervals {
    control: ControlTimer,
    queue: QueueTimer,
}

impl Intervals {
    /// Of a line of `capacity` bytes per second.
    pub fn new(parameters: XcpSettings, capacity: u64) -> Result<Self, ParameterError> {
        Ok(Self {
            control: ControlTimer::new(XcpSettings {
                capacity,
                ..parameters
            })?,
            queue: QueueTimer::default(),
        })
    }

    /// Timers that run from the beginning, and when they fire first.
    pub fn timers(&self) -> Vec<(LawTimer, Time)> {
        let allowed = self.control.parameters().allowed_queue.max(1);
        vec![
            (LawTimer::Control, self.length()),
            (LawTimer::Queue, time(allowed)),
        ]
    }

    /// The longest interval, in ticks.
    pub fn longest(&self) -> u32 {
        self.control.parameters().max_interval
    }

    /// Notes the bytes that wait as a packet leaves.
    pub fn observe(&mut self, waiting: u64) {
        self.queue.observe(bytes(waiting));
    }

    /// What an interval in which `sums` came has led to.
    pub fn end(&mut self, sums: &Sums) -> IntervalResult {
        self.control.fire(sums, self.queue.queue())
    }

    /// How long the present interval is.
    pub fn length(&self) -> Time {
        time(self.control.length())
    }

    /// The queue's timer has fired; when it does again.
    pub fn fire_queue(&mut self, waiting: u64) -> Time {
        let average = self.control.avg_rtt();
        let parameters = *self.control.parameters();
        time(self.queue.fire(bytes(waiting), average, &parameters))
    }
}

fn bytes(waiting: u64) -> u32 {
    u32::try_from(waiting).unwrap_or(u32::MAX)
}

/// Ticks of 2^-28 s as picoseconds, rounded up.
fn time(ticks: u32) -> Time {
    (u128::from(ticks) * u128::from(SECOND)).div_ceil(u128::from(TICKS)) as Time
}
