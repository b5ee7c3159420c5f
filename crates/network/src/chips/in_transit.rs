//! Frames inside a chip, as seen from its lines: those that have arrived and not left.
//!
//! A chip identifies the frames that leave, but does not report frames that its microcode drops. A
//! frame is presumed dropped when a later one of its flow leaves before it.

use std::collections::{BTreeMap, VecDeque};

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::frame::{Content, Frame, PacketLabel};
use crate::line::DropReason;
use crate::topology::Topology;

/// Number of frames that are remembered after they were presumed dropped.
const REMEMBERED: usize = 1 << 16;

/// A frame inside a chip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransitFrame {
    /// The frame as it arrived.
    pub frame: Frame,
    /// The line by which it is to leave.
    pub line: usize,
    /// When its last bit arrived.
    pub came: Time,
    /// Why it is presumed lost.
    pub lost: Option<DropReason>,
}

/// Frames that have left by a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct DepartedFrames {
    /// Times at which they began to leave and their bytes, earliest first.
    frames: VecDeque<(Time, u64)>,
    bytes: u64,
}

/// Key of the frames that leave a chip in the order in which they arrived: flow, destination, whether
/// it is a packet of the flow, and the open end it comes from. A message about a packet has a key of
/// its own, and may overtake packets.
type OrderKey = (Option<u32>, u32, bool, Option<u32>);

fn order_of(frame: &Frame) -> OrderKey {
    let from = match frame.content {
        Content::Ethernet { from, .. } => Some(from),
        _ => None,
    };
    (frame.flow, frame.to, frame.is_flow_packet(), from)
}

/// The frames inside a chip.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTransit {
    /// The number of the next frame that arrives.
    next: u64,
    frames_inside: BTreeMap<u64, TransitFrame>,
    /// Numbers of the frames that are not presumed lost, in order.
    flows: BTreeMap<OrderKey, VecDeque<u64>>,
    /// Numbers of the frames that are.
    lost: VecDeque<u64>,
    /// Departed frames by line.
    left: BTreeMap<usize, DepartedFrames>,
}

impl InTransit {
    /// Adds a frame that arrives; returns its number.
    pub fn enter(&mut self, frame: Frame, line: usize, came: Time) -> u64 {
        let number = self.next;
        self.next += 1;
        let flow = self.flows.entry(order_of(&frame)).or_default();
        flow.push_back(number);
        let transit = TransitFrame {
            frame,
            line,
            came,
            lost: None,
        };
        self.frames_inside.insert(number, transit);
        number
    }

    /// Removes a frame that leaves; returns it, and the frames that are now presumed lost.
    pub fn leave(&mut self, number: u64) -> Option<(TransitFrame, Vec<TransitFrame>)> {
        let transit = self.frames_inside.remove(&number)?;
        let mut lost = Vec::new();
        let flow = order_of(&transit.frame);
        if let Some(order) = self.flows.get_mut(&flow) {
            while let Some(first) = order.front().copied().filter(|first| *first <= number) {
                order.pop_front();
                let Some(other) = self.frames_inside.get_mut(&first) else {
                    continue;
                };
                other.lost = Some(DropReason::Microcode);
                lost.push(other.clone());
                self.lost.push_back(first);
            }
        }
        self.forget();
        Some((transit, lost))
    }

    /// Returns the frame to which a packet belongs that the chip's core forwards or quotes: the first
    /// one with its label, preferably one that is not presumed lost.
    pub fn find(&self, label: &PacketLabel, topology: &Topology) -> Option<u64> {
        let like = |transit: &TransitFrame| transit.frame.label(topology).as_ref() == Some(label);
        let alike = self
            .frames_inside
            .iter()
            .filter(|(_, transit)| like(transit));
        let first = alike.min_by_key(|(number, transit)| (transit.lost.is_some(), **number));
        first.map(|(number, _)| *number)
    }

    /// Returns a frame that is inside, or may be.
    pub fn get(&self, number: u64) -> Option<&TransitFrame> {
        self.frames_inside.get(&number)
    }

    /// Marks a frame as lost for a reason that the chip reports; returns it as it was before.
    pub fn lose(&mut self, number: u64, reason: DropReason) -> Option<TransitFrame> {
        let transit = self.frames_inside.get_mut(&number)?;
        let before = transit.clone();
        transit.lost = Some(reason);
        if before.lost.is_none() {
            let flow = order_of(&before.frame);
            if let Some(order) = self.flows.get_mut(&flow) {
                order.retain(|other| *other != number);
            }
            self.lost.push_back(number);
            self.forget();
        }
        Some(before)
    }

    /// Returns the most bytes that were inside for a line while a frame waited that begins to leave
    /// now, including the frame: the bytes that have left by the line since it arrived. The value is
    /// exact if the line has a single FIFO queue.
    pub fn longest(&mut self, transit: &TransitFrame, begins: Time) -> u64 {
        let left = self.left.entry(transit.line).or_default();
        while let Some((_, bytes)) = left.frames.front().filter(|(at, _)| *at <= transit.came) {
            left.bytes -= bytes;
            left.frames.pop_front();
        }
        let bytes = u64::from(transit.frame.bytes);
        left.frames.push_back((begins, bytes));
        left.bytes += bytes;
        left.bytes
    }

    /// Whether a saved state is consistent and belongs to a chip with lines below `lines`; `frame`
    /// tells whether a frame could belong to the network.
    pub fn is_sound(&self, lines: usize, frame: impl Fn(&Frame) -> bool) -> bool {
        let frames_inside = self.frames_inside.values();
        let mut frames_inside =
            frames_inside.map(|transit| transit.line < lines && frame(&transit.frame));
        let left = self.left.iter().all(|(line, left)| {
            let sum = left
                .frames
                .iter()
                .try_fold(0_u64, |sum, (_, bytes)| sum.checked_add(*bytes));
            *line < lines && sum == Some(left.bytes)
        });
        frames_inside.all(|sound| sound) && left
    }

    fn forget(&mut self) {
        while self.lost.len() > REMEMBERED {
            if let Some(oldest) = self.lost.pop_front() {
                self.frames_inside.remove(&oldest);
            }
        }
    }
}
