//! Frames become a capture: relative times, order, FCS.

use super::{Capture, MAX_FRAME_BYTES};
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

/// A capture in the making.
#[derive(Default)]
pub(super) struct Assembly {
    capture: Capture,
    dated: bool,
    latest_ns: u64,
}

impl Assembly {
    /// Frames so far.
    pub(super) fn len(&self) -> usize {
        self.capture.frames.len()
    }

    /// Adds an interface and returns its index.
    pub(super) fn interface(&mut self, name: String) -> u32 {
        self.capture.interfaces.push(name);
        self.capture.interfaces.len() as u32 - 1
    }

    /// Names of the interfaces so far.
    pub(super) fn interfaces(&self) -> &[String] {
        &self.capture.interfaces
    }

    /// Adds a frame; the reason if its lengths are impossible.
    pub(super) fn push(&mut self, record: &Record<'_>) -> Result<(), String> {
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
        self.capture.truncated_frames += u64::from(kept < original_len as usize);
        self.capture.frames.push(Frame {
            time_ns,
            port: record.port,
            bytes: record.bytes[..kept].to_vec(),
            original_len,
        });
        Ok(())
    }

    fn relative(&mut self, time_ns: Option<u64>) -> u64 {
        let Some(time_ns) = time_ns else {
            return self.latest_ns;
        };
        if !self.dated {
            self.dated = true;
            self.capture.first_timestamp_ns = time_ns;
        }
        match time_ns.checked_sub(self.capture.first_timestamp_ns) {
            Some(relative) if relative >= self.latest_ns => self.latest_ns = relative,
            _ => self.capture.reordered += 1,
        }
        self.latest_ns
    }

    pub(super) fn finish(self) -> Capture {
        self.capture
    }
}
