//! Turns records into frames: relative times, order, FCS.

use std::borrow::Cow;

use super::clock::Clocks;
use super::link::Framing;
use super::padding::{Padding, padded};
use super::{CaptureNotes, CaptureOptions, LinkTypes, MAX_FRAME_BYTES};
use crate::Frame;

/// A frame as stored in the file.
pub(super) struct Record<'a> {
    /// Nanoseconds since 1970; `None` where the format has no time (simple packet block).
    pub(super) time_ns: Option<i128>,
    pub(super) port: u32,
    pub(super) bytes: &'a [u8],
    /// Length on the wire, in bytes; 0 if the file does not state it.
    pub(super) original_len: u32,
    /// Bytes of FCS at the end of the original frame.
    pub(super) fcs_bytes: u32,
}

/// State carried from one frame to the next.
#[derive(Debug, Default)]
pub(super) struct CaptureState {
    pub(super) frames: u64,
    pub(super) interfaces: Vec<String>,
    /// Treatment of link types other than Ethernet.
    pub(super) links: LinkTypes,
    padding: Padding,
    pub(super) notes: CaptureNotes,
    clocks: Clocks,
}

impl CaptureState {
    pub(super) fn new(options: CaptureOptions) -> Self {
        Self {
            links: options.links,
            padding: options.padding,
            ..Self::default()
        }
    }

    /// Returns the time of the first frame, in nanoseconds since 1970.
    pub(super) fn first_timestamp_ns(&self) -> i128 {
        self.clocks.first_ns()
    }

    /// Adds an interface and returns its index.
    pub(super) fn interface(&mut self, name: String) -> u32 {
        self.interfaces.push(name);
        self.interfaces.len() as u32 - 1
    }

    /// Returns a packet as an Ethernet frame with its original length, and counts it; `None` if the
    /// packet is left out.
    pub(super) fn framed<'a>(
        &mut self,
        framing: Framing,
        bytes: &'a [u8],
        original_len: u32,
    ) -> Option<(Cow<'a, [u8]>, u32)> {
        let frame = framing.ethernet(bytes, original_len);
        if framing != Framing::Ethernet {
            self.notes.framed += u64::from(frame.is_some());
            self.notes.left_out += u64::from(frame.is_none());
        }
        frame
    }

    /// Returns the frame of a record, or a reason if its length or time is impossible.
    pub(super) fn frame(&mut self, record: &Record<'_>) -> Result<Frame, String> {
        let captured = record.bytes.len();
        if captured > MAX_FRAME_BYTES {
            return Err(format!(
                "a frame of {captured} bytes, more than the {MAX_FRAME_BYTES} that a capture can hold"
            ));
        }
        let on_wire = match record.original_len {
            0 => captured as u32,
            length => length,
        };
        let original_len = on_wire.saturating_sub(record.fcs_bytes);
        let kept = captured.min(original_len as usize);
        let notes = &mut self.notes;
        let time_ns = self.clocks.relative(record.port, record.time_ns, notes)?;
        notes.overlong_frames += u64::from(captured > record.original_len as usize);
        let mut frame = Frame {
            time_ns,
            port: record.port,
            bytes: record.bytes[..kept].to_vec(),
            original_len,
        };
        notes.truncated_frames += u64::from(frame.is_truncated());
        if self.padding != Padding::None && frame.is_truncated() {
            notes.padded_frames += u64::from(padded(&mut frame, self.padding));
        }
        self.frames += 1;
        Ok(frame)
    }
}
