//! The host's side of the ports of a live run: frames waiting to enter, and frames waiting to
//! leave.
//!
//! A frame is read from the host when the line of its port is free, so that the host's own queue
//! at the interface provides back-pressure, as with a network card. A frame that has left the
//! system waits until its last bit is due. Nothing is dropped here.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use npsim_transport::time::Time;

use crate::system::{DepartingFrame, EnteredFrame};

/// A frame that is not due yet, ordered by due time, then by arrival here.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PendingFrame {
    due: Time,
    number: u64,
    port: usize,
    bytes: Vec<u8>,
}

/// The lines of all ports.
#[derive(Debug, Default)]
pub struct PortLines {
    /// By port, the time from which its line accepts a frame.
    free: Vec<Time>,
    not_due: BinaryHeap<Reverse<PendingFrame>>,
    number: u64,
    /// By port, the frames that are due but not yet accepted by the host, with their due times.
    due: Vec<VecDeque<(Time, Vec<u8>)>>,
}

impl PortLines {
    /// The lines of `ports` ports without any traffic.
    #[must_use]
    pub fn new(ports: usize) -> Self {
        Self {
            free: vec![0; ports],
            due: vec![VecDeque::new(); ports],
            ..Self::default()
        }
    }

    /// Whether a frame can begin to arrive at a port at a time.
    #[must_use]
    pub fn is_free(&self, port: usize, at: Time) -> bool {
        self.free[port] <= at
    }

    /// The time from which a port's line accepts a frame.
    #[must_use]
    pub fn free_at(&self, port: usize) -> Time {
        self.free[port]
    }

    /// Records a frame that has entered the system at a port.
    pub fn entered(&mut self, port: usize, frame: EnteredFrame) {
        self.free[port] = frame.line_free;
    }

    /// The first time after this one at which a port's line becomes free.
    #[must_use]
    pub fn next_free(&self, after: Time) -> Option<Time> {
        self.free.iter().copied().filter(|free| *free > after).min()
    }

    /// Adds frames that have begun to leave the system.
    pub fn queue_departing(&mut self, frames: impl IntoIterator<Item = DepartingFrame>) {
        for DepartingFrame { due, port, bytes } in frames {
            let number = self.number;
            self.number += 1;
            self.not_due.push(Reverse(PendingFrame {
                due,
                number,
                port,
                bytes,
            }));
        }
    }

    /// The time at which the next frame becomes due.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        self.not_due.peek().map(|Reverse(frame)| frame.due)
    }

    /// Moves the frames that are due at a time to the host's side.
    pub fn advance_to(&mut self, now: Time) {
        while self.next_due().is_some_and(|due| due <= now) {
            if let Some(Reverse(frame)) = self.not_due.pop() {
                self.due[frame.port].push_back((frame.due, frame.bytes));
            }
        }
    }

    /// Whether any port has a frame for the host.
    #[must_use]
    pub fn any_due(&self) -> bool {
        self.due.iter().any(|frames| !frames.is_empty())
    }

    /// The oldest frame that a port has for the host.
    #[must_use]
    pub fn front(&self, port: usize) -> Option<&(Time, Vec<u8>)> {
        self.due[port].front()
    }

    /// Removes the oldest frame of a port, which the host has accepted.
    pub fn taken(&mut self, port: usize) {
        self.due[port].pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::PortLines;
    use crate::system::{DepartingFrame, EnteredFrame};

    #[test]
    fn frames_leave_in_order_when_due() {
        let mut lines = PortLines::new(2);
        let frame = |due, port, byte| DepartingFrame {
            due,
            port,
            bytes: vec![byte],
        };
        lines.queue_departing([
            frame(30, 0, 1),
            frame(10, 1, 2),
            frame(10, 1, 3),
            frame(20, 1, 4),
        ]);
        assert_eq!(lines.next_due(), Some(10));
        lines.advance_to(9);
        assert_eq!((lines.front(0), lines.front(1)), (None, None));
        lines.advance_to(20);
        assert_eq!(lines.next_due(), Some(30));
        let mut seen = Vec::new();
        while let Some((due, bytes)) = lines.front(1) {
            seen.push((*due, bytes[0]));
            lines.taken(1);
        }
        assert_eq!(seen, [(10, 2), (10, 3), (20, 4)]);
        assert_eq!(lines.front(0), None);
    }

    #[test]
    fn line_accepts_the_next_frame_when_free() {
        let mut lines = PortLines::new(2);
        lines.entered(
            1,
            EnteredFrame {
                begins: 5,
                line_free: 12,
            },
        );
        assert!(lines.is_free(0, 5) && !lines.is_free(1, 11) && lines.is_free(1, 12));
        assert_eq!((lines.next_free(5), lines.next_free(12)), (Some(12), None));
    }
}
