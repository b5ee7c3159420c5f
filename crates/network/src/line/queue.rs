//! Queues: a FIFO with a limit, with or without random early detection.

use std::collections::VecDeque;

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use super::drop_reason::DropReason;
use super::red::Detector;
use crate::frame::Frame;
use crate::topology::{QueueLimit, QueueParameters};

/// The frames that wait for a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Queue {
    limit: QueueLimit,
    frames: VecDeque<Box<Frame>>,
    bytes: u64,
    detector: Option<Detector>,
}

impl Queue {
    /// Creates an empty queue for a line of `capacity` bytes per second.
    pub fn new(parameters: QueueParameters, capacity: u64, seed: u64) -> Self {
        let detector = parameters.red.map(|red| Detector::new(red, capacity, seed));
        Self {
            limit: parameters.limit,
            frames: VecDeque::new(),
            bytes: 0,
            detector,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn packets(&self) -> u64 {
        self.frames.len() as u64
    }

    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().map(|frame| &**frame)
    }

    /// Whether it has the same parameters as another queue, and its byte count is correct.
    pub fn is_like(&self, other: &Self) -> bool {
        let bytes: u64 = self.frames().map(|frame| u64::from(frame.bytes)).sum();
        self.limit == other.limit
            && self.detector.is_some() == other.detector.is_some()
            && self.bytes == bytes
    }

    /// Returns the length in the unit of the limit.
    fn length(&self) -> u64 {
        match self.limit {
            QueueLimit::Bytes(_) => self.bytes,
            _ => self.packets(),
        }
    }

    /// Decides whether a frame of `bytes` bytes is admitted; `passes` if it is sent at once and needs
    /// no space.
    pub fn admit(&mut self, now: Time, bytes: u64, passes: bool) -> Result<(), DropReason> {
        let length = self.length();
        if let Some(detector) = &mut self.detector {
            detector.arrive(now, length)?;
        }
        let room = match self.limit {
            QueueLimit::None => true,
            QueueLimit::Packets(most) => length < most,
            QueueLimit::Bytes(most) => length + bytes <= most,
        };
        if room || passes {
            Ok(())
        } else {
            Err(DropReason::Full)
        }
    }

    /// Appends an admitted frame.
    pub fn put(&mut self, frame: Box<Frame>) {
        self.bytes += u64::from(frame.bytes);
        self.frames.push_back(frame);
    }

    /// Removes the first frame.
    pub fn take(&mut self, now: Time) -> Option<Box<Frame>> {
        let frame = self.frames.pop_front()?;
        self.bytes -= u64::from(frame.bytes);
        if self.frames.is_empty()
            && let Some(detector) = &mut self.detector
        {
            detector.emptied(now);
        }
        Some(frame)
    }
}
