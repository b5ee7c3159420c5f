//! Frames inside a chip, as far as its lines show: those that came in and have not left.
//!
//! A chip says which frame it is that leaves, and nothing of frames that its microcode drops. A
//! frame is taken for dropped when one of its flow that came later leaves before it.

use std::collections::{BTreeMap, VecDeque};

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::frame::{Content, Frame, PacketLabel};
use crate::line::DropReason;
use crate::topology::Topology;

/// Frames that are remembered after they were taken for dropped.
const REMEMBERED: usize = 1 << 16;

/// A frame inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransitFrame {
    /// As it came.
    pub frame: Frame,
    /// The line that it is to leave by.
    pub line: usize,
    /// When its last bit came.
    pub came: Time,
    /// Why it is taken for lost.
    pub lost: Option<DropReason>,
}

/// Frames that have left by a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct DepartedFrames {
    /// When they began to leave, and their bytes, the earliest first.
    frames: VecDeque<(Time, u64)>,
    bytes: u64,
}

/// What leaves a chip in the order in which it came: flow, destination, whether it is a packet of
/// the flow, and the open end that it is from. A message about one has a class of its own, and may
/// overtake packets.
type OrderKey = (Option<u32>, u32, bool, Option<u32>);

fn order_of(frame: &Frame) -> OrderKey {
    let from = match frame.content {
        Content::Ethernet { from, .. } => Some(from),
        _ => None,
    };
    (frame.flow, frame.to, frame.is_of_flow(), from)
}

/// What is inside a chip.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTransit {
    /// The number of the next frame that comes.
    next: u64,
    frames_inside: BTreeMap<u64, TransitFrame>,
    /// Numbers of those that are not taken for lost, in order.
    flows: BTreeMap<OrderKey, VecDeque<u64>>,
    /// Numbers of those that are.
    lost: VecDeque<u64>,
    /// By line.
    left: BTreeMap<usize, DepartedFrames>,
}

impl InTransit {
    /// A frame comes; its number.
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

    /// A frame leaves: itself, and those that are taken for lost since it did.
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

    /// The frame that a packet is which the chip's core sends on or quotes: the first with its label,
    /// of those that are not taken for lost if there is one.
    pub fn find(&self, label: &PacketLabel, topology: &Topology) -> Option<u64> {
        let like = |transit: &TransitFrame| transit.frame.label(topology).as_ref() == Some(label);
        let alike = self
            .frames_inside
            .iter()
            .filter(|(_, transit)| like(transit));
        let first = alike.min_by_key(|(number, transit)| (transit.lost.is_some(), **number));
        first.map(|(number, _)| *number)
    }

    /// A frame that is inside, or may be.
    pub fn get(&self, number: u64) -> Option<&TransitFrame> {
        self.frames_inside.get(&number)
    }

    /// The original of a frame that is lost for a reason that the chip reports.
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

    /// Most bytes for a line that were inside when a frame of so many came that begins to leave
    /// now, itself among them: what has left by the line since it came. It is exact where the
    /// line has one queue and that is a FIFO.
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

    /// Whether the numbers of a state fit each other, and are those of `lines` lines; `frame` says
    /// whether a frame could be one of the network's.
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
