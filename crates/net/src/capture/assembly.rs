//! Records become frames: relative times, order, FCS.

use std::borrow::Cow;

use super::link::Framing;
use super::{LinkTypes, MAX_FRAME_BYTES};
use crate::Frame;

/// A frame as a file has it.
pub(super) struct Record<'a> {
    /// Nanoseconds since 1970; `None` where the format has no time (simple packet block).
    pub(super) time_ns: Option<u64>,
    pub(super) port: u32,
    pub(super) bytes: &'a [u8],
    pub(super) original_len: u32,
    /// Bytes of FCS at the end of the original frame.
    pub(super) fcs_bytes: u32,
}

/// What frames have to know of those before them.
#[derive(Debug, Default)]
pub(super) struct CaptureState {
    pub(super) frames: u64,
    pub(super) first_timestamp_ns: u64,
    pub(super) interfaces: Vec<String>,
    pub(super) reordered: u64,
    pub(super) truncated_frames: u64,
    /// What is done with other link types.
    pub(super) links: LinkTypes,
    /// Frames that got a made-up header, and packets that were left out since
    /// nothing says what they carry.
    pub(super) framed: u64,
    pub(super) left_out: u64,
    /// Frames whose time has a second or more beside its seconds.
    pub(super) overflowing_times: u64,
    dated: bool,
    latest_ns: u64,
}

impl CaptureState {
    pub(super) fn new(links: LinkTypes) -> Self {
        Self {
            links,
            ..Self::default()
        }
    }

    /// Adds an interface and returns its index.
    pub(super) fn interface(&mut self, name: String) -> u32 {
        self.interfaces.push(name);
        self.interfaces.len() as u32 - 1
    }

    /// A packet as an Ethernet frame with its whole length, counted; `None` if it is
    /// left out.
    pub(super) fn framed<'a>(
        &mut self,
        framing: Framing,
        bytes: &'a [u8],
        original_len: u32,
    ) -> Option<(Cow<'a, [u8]>, u32)> {
        let frame = framing.ethernet(bytes, original_len);
        if framing != Framing::Ethernet {
            self.framed += u64::from(frame.is_some());
            self.left_out += u64::from(frame.is_none());
        }
        frame
    }

    /// The frame of a record; the reason if its lengths are impossible.
    pub(super) fn frame(&mut self, record: &Record<'_>) -> Result<Frame, String> {
        let captured = record.bytes.len();
        if captured > MAX_FRAME_BYTES {
            return Err(format!(
                "a frame of {captured} bytes, more than the {MAX_FRAME_BYTES} that a capture can hold"
            ));
        }
        if captured > record.original_len as usize {
            return Err(format!(
                "it holds {captured} bytes of a frame of {} bytes",
                record.original_len
            ));
        }
        let original_len = record.original_len.saturating_sub(record.fcs_bytes);
        let kept = captured.min(original_len as usize);
        let time_ns = self.relative(record.time_ns);
        self.truncated_frames += u64::from(kept < original_len as usize);
        self.frames += 1;
        Ok(Frame {
            time_ns,
            port: record.port,
            bytes: record.bytes[..kept].to_vec(),
            original_len,
        })
    }

    fn relative(&mut self, time_ns: Option<u64>) -> u64 {
        let Some(time_ns) = time_ns else {
            return self.latest_ns;
        };
        if !self.dated {
            self.dated = true;
            self.first_timestamp_ns = time_ns;
        }
        match time_ns.checked_sub(self.first_timestamp_ns) {
            Some(relative) if relative >= self.latest_ns => self.latest_ns = relative,
            _ => self.reordered += 1,
        }
        self.latest_ns
    }
}
