//! The control intervals that both forms of XCP use at a line: the draft's law and its queue timer,
//! in the network's time.

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
    /// Creates the intervals of a line of `capacity` bytes per second.
    pub fn new(parameters: XcpSettings, capacity: u64) -> Result<Self, ParameterError> {
        Ok(Self {
            control: ControlTimer::new(XcpSettings {
                capacity,
                ..parameters
            })?,
            queue: QueueTimer::default(),
        })
    }

    /// Returns the timers that run from the start, with their first expiries.
    pub fn timers(&self) -> Vec<(LawTimer, Time)> {
        let allowed = self.control.parameters().allowed_queue.max(1);
        vec![
            (LawTimer::Control, self.length()),
            (LawTimer::Queue, time(allowed)),
        ]
    }

    /// Returns the longest interval, in ticks.
    pub fn longest(&self) -> u32 {
        self.control.parameters().max_interval
    }

    /// Records the waiting bytes at the departure of a packet.
    pub fn observe(&mut self, waiting: u64) {
        self.queue.observe(bytes(waiting));
    }

    /// Ends an interval in which `sums` accumulated; returns its result.
    pub fn end(&mut self, sums: &Sums) -> IntervalResult {
        self.control.fire(sums, self.queue.queue())
    }

    /// Returns the length of the current interval.
    pub fn length(&self) -> Time {
        time(self.control.length())
    }

    /// Handles the expiry of the queue timer; returns the time until its next expiry.
    pub fn fire_queue(&mut self, waiting: u64) -> Time {
        let average = self.control.avg_rtt();
        let parameters = *self.control.parameters();
        time(self.queue.fire(bytes(waiting), average, &parameters))
    }
}

fn bytes(waiting: u64) -> u32 {
    u32::try_from(waiting).unwrap_or(u32::MAX)
}

/// Converts ticks of 2^-28 s to picoseconds, rounded up.
fn time(ticks: u32) -> Time {
    (u128::from(ticks) * u128::from(SECOND)).div_ceil(u128::from(TICKS)) as Time
}
