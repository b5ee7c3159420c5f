//! Looks frames up among those that entered.

use std::collections::BTreeMap;

use etherparse::{LaxNetSlice, LaxSlicedPacket};

use super::{FlowId, FlowKey, Tuple};
use crate::ethernet::MIN_FRAME_BYTES;

/// Collects the frames that entered, to make [`EnteredFrames`] from them.
#[derive(Clone, Debug, Default)]
pub struct EnteredFramesBuilder {
    flows: Vec<(FlowId, u64)>,
    numbers: BTreeMap<Tuple, u32>,
    frames: Vec<EnteredFrame>,
}

/// The position of a frame among those that entered. Frames with equal contents are adjacent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EnteredFrame {
    contents: u128,
    frame: u64,
    flow: u32,
    sequence: u64,
}

impl EnteredFramesBuilder {
    /// Adds the next frame that entered.
    pub fn add(&mut self, frame: &[u8]) {
        let tuple = Tuple::of(frame);
        let next = self.flows.len() as u32;
        let number = *self.numbers.entry(tuple).or_insert(next);
        if number == next {
            let ends = FlowKey::Tuple(tuple);
            self.flows.push((FlowId { number, ends }, 0));
        }
        let (_, packets) = &mut self.flows[number as usize];
        self.frames.push(EnteredFrame {
            contents: contents(frame),
            frame: self.frames.len() as u64,
            flow: number,
            sequence: *packets,
        });
        *packets += 1;
    }

    /// Completes the list of frames that entered.
    #[must_use]
    pub fn finish(self) -> EnteredFrames {
        let mut frames = self.frames;
        frames.sort_unstable();
        EnteredFrames {
            left: vec![0; frames.len()],
            frames,
            flows: self.flows,
        }
    }
}

/// The frames that entered. A departing frame is matched by the fields that routers leave unchanged: for
/// IP, addresses, protocol, identification, fragment offset and payload; for other frames, everything but
/// the MAC addresses. Time to live, checksum, type of service and options may change.
///
/// If several frames entered with equal contents, they are matched in the order in which they entered;
/// any surplus frame matches the last one again.
#[derive(Clone, Debug)]
pub struct EnteredFrames {
    frames: Vec<EnteredFrame>,
    /// For the first frame of each run of equal contents: how many frames with these contents have left.
    left: Vec<usize>,
    flows: Vec<(FlowId, u64)>,
}

impl EnteredFrames {
    /// Returns the flow and the sequence number of the next frame that leaves; `None` if it did not
    /// enter.
    pub fn next(&mut self, frame: &[u8]) -> Option<(FlowId, u64)> {
        let contents = contents(frame);
        let first = self.frames.partition_point(|p| p.contents < contents);
        let after = self.frames.partition_point(|p| p.contents <= contents);
        let same = self.frames.get(first..after)?;
        let left = self.left.get_mut(first)?;
        let place = same.get(*left).or(same.last())?;
        *left += 1;
        let (flow, _) = &self.flows[place.flow as usize];
        Some((flow.clone(), place.sequence))
    }

    /// Returns the flows, with the number of frames of each that entered.
    pub fn flows(&self) -> impl Iterator<Item = &(FlowId, u64)> {
        self.flows.iter()
    }

    /// Returns the number of frames that entered.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames.len() as u64
    }
}

/// Returns a digest of the fields that routers leave unchanged.
fn contents(frame: &[u8]) -> u128 {
    let mut digest = Digest::new();
    let packet = LaxSlicedPacket::from_ethernet(frame).ok();
    match packet.as_ref().and_then(|packet| packet.net.as_ref()) {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            digest.add(&[4, header.protocol().0]);
            digest.add(&header.source());
            digest.add(&header.destination());
            digest.add(&header.identification().to_be_bytes());
            digest.add(&[u8::from(header.more_fragments())]);
            digest.add(&header.fragments_offset().value().to_be_bytes());
            digest.add(ip.payload().payload);
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            digest.add(&[6, ip.payload().ip_number.0]);
            digest.add(&header.source());
            digest.add(&header.destination());
            digest.add(ip.payload().payload);
        }
        _ => {
            digest.add(frame.get(12..).unwrap_or(frame));
            // Senders pad short frames; captured frames may not be padded yet.
            for _ in frame.len()..MIN_FRAME_BYTES as usize {
                digest.add(&[0]);
            }
        }
    }
    digest.0
}

/// FNV-1a with 128 bits.
struct Digest(u128);

impl Digest {
    const fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul((1 << 88) + 0x13b);
        }
    }
}
