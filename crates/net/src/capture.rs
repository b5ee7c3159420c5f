//! Captures: classic pcap and pcapng, also gzipped, frame by frame ([`CaptureReader`]) or as a whole in memory
//! ([`Capture`]).
//!
//! Read are both byte orders, microsecond and nanosecond files, pcapng with any number of sections
//! and interfaces, resolutions down to the nanosecond in powers of ten and of two, time offsets, and
//! enhanced, simple and the old packet blocks. Only Ethernet is accepted, unless packets of other link
//! types are to be framed ([`LinkTypes`]). Where a capture says that its frames end with an FCS, the FCS is
//! removed.

mod assembly;
mod classic;
mod data;
mod error;
mod link;
mod next_generation;
mod reader;

use std::path::Path;

pub use error::CaptureError;
pub use link::LinkTypes;
pub use reader::CaptureReader;

use crate::Frame;

/// Captured frames of at most this many bytes are accepted, the limit of libpcap itself; a larger
/// length in a file means that the file is damaged.
pub const MAX_FRAME_BYTES: usize = 262_144;

/// A capture in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The frames in the order of the file.
    pub frames: Vec<Frame>,
    /// Time of the first frame in nanoseconds since 1970 (UTC); 0 for a capture without times.
    pub first_timestamp_ns: u64,
    /// Names of the interfaces, indexed by [`Frame::port`]; `interface N` where the file has no name. In
    /// pcapng, a later section's interface of the same name is the same interface.
    pub interfaces: Vec<String>,
    /// Frames whose time was earlier than that of a frame before them, and was raised to it.
    pub reordered: u64,
    /// Frames of which the capture holds only the beginning (snap length).
    pub truncated_frames: u64,
}

impl Capture {
    /// Reads the capture file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, is no capture, is not Ethernet, ends inside a frame, or is damaged.
    pub fn open(path: &Path) -> Result<Capture, CaptureError> {
        Self::collect(CaptureReader::open(path)?)
    }

    /// Reads a capture from memory; `name` stands for the path in errors.
    ///
    /// # Errors
    /// As [`Capture::open`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Capture, CaptureError> {
        Self::collect(CaptureReader::from_bytes(name, bytes.to_vec())?)
    }

    fn collect(mut reader: CaptureReader) -> Result<Capture, CaptureError> {
        let frames = reader.by_ref().collect::<Result<_, _>>()?;
        Ok(Capture {
            frames,
            first_timestamp_ns: reader.first_timestamp_ns(),
            interfaces: reader.interfaces().to_vec(),
            reordered: reader.reordered(),
            truncated_frames: reader.truncated_frames(),
        })
    }
}

/// Nanoseconds since 1970 fit 64 bits until the year 2554.
const TOO_LATE: &str = "the time lies beyond the year 2554";
