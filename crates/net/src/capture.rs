//! Captures: classic pcap, pcapng and ERF, compressed or not, read frame by frame ([`CaptureReader`]) or whole
//! into memory ([`Capture`]).
//!
//! The readers accept both byte orders, microsecond and nanosecond files, pcapng with any number of sections
//! and interfaces, resolutions in powers of ten and of two (fractions of a nanosecond are cut off), time
//! offsets, and enhanced, simple and old packet blocks. Only Ethernet is accepted, unless packets of other link
//! types are to be framed ([`LinkTypes`]). Where a capture or a packet declares that its frames end with an
//! FCS, the FCS is removed. Flaws that affect no frame are counted ([`CaptureNotes`]) and do not make a capture
//! fail.

mod assembly;
mod classic;
mod clock;
pub(crate) mod data;
mod erf;
mod error;
pub(crate) mod fields;
mod link;
mod next_generation;
mod notes;
mod padding;
mod reader;
mod ticks;

use std::path::Path;

pub use error::CaptureError;
pub use link::LinkTypes;
pub use notes::CaptureNotes;
pub use padding::Padding;
pub use reader::CaptureReader;

use crate::Frame;

/// Longest captured frame that is accepted, in bytes. This is the limit of libpcap itself; a larger length in a
/// file means that the file is damaged.
pub const MAX_FRAME_BYTES: usize = 262_144;

/// A capture in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The frames, in file order.
    pub frames: Vec<Frame>,
    /// Time of the first frame in nanoseconds since 1970 (UTC); 0 for a capture without times.
    pub first_timestamp_ns: i128,
    /// Names of the interfaces, indexed by [`Frame::port`]; `interface N` where the file has no name. In
    /// pcapng, a later section's interface of the same name is the same interface.
    pub interfaces: Vec<String>,
    /// Irregularities found in the capture.
    pub notes: CaptureNotes,
}

/// How to read a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Treatment of link types other than Ethernet.
    pub links: LinkTypes,
    /// Treatment of frames of which the capture holds only the beginning.
    pub padding: Padding,
}

impl From<LinkTypes> for CaptureOptions {
    fn from(links: LinkTypes) -> Self {
        Self {
            links,
            ..Self::default()
        }
    }
}

impl Capture {
    /// Reads the capture file at `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a capture, is not Ethernet, ends inside a frame, or
    /// is damaged.
    pub fn open(path: &Path) -> Result<Capture, CaptureError> {
        Self::collect(CaptureReader::open(path)?)
    }

    /// Reads a capture from memory; `name` stands for the path in errors.
    ///
    /// # Errors
    /// See [`Capture::open`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Capture, CaptureError> {
        Self::collect(CaptureReader::from_bytes(name, bytes.to_vec())?)
    }

    fn collect(mut reader: CaptureReader) -> Result<Capture, CaptureError> {
        let frames = reader.by_ref().collect::<Result<_, _>>()?;
        Ok(Capture {
            frames,
            first_timestamp_ns: reader.first_timestamp_ns(),
            interfaces: reader.interfaces().to_vec(),
            notes: reader.notes(),
        })
    }
}
