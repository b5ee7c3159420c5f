//! Captures as a whole in memory: classic pcap and pcapng, also gzipped.
//!
//! Read are both byte orders, microsecond and nanosecond files, pcapng with any number of sections
//! and interfaces, resolutions down to the nanosecond in powers of ten and of two, time offsets, and
//! enhanced, simple and the old packet blocks. Only Ethernet is accepted. Where a capture says that
//! its frames end with an FCS, the FCS is removed.

mod assembly;
mod classic;
mod error;
mod gzip;
mod link;
mod next_generation;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use error::CaptureError;

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
        let bytes = whole(path).map_err(|source| CaptureError::Io {
            path: path.to_path_buf(),
            source,
        })?;
        read(path, &bytes)
    }

    /// Reads a capture from memory; `name` stands for the path in errors.
    ///
    /// # Errors
    /// As [`Capture::open`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Capture, CaptureError> {
        read(Path::new(name), bytes)
    }
}

/// Reads a file, but of what is no capture (`/dev/zero`) only the beginning.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut bytes)?;
    if gzip::is_gzip(&bytes) || begins_as_capture(&bytes) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn begins_as_capture(bytes: &[u8]) -> bool {
    bytes.starts_with(&NEXT_GENERATION) || CLASSIC.iter().any(|magic| bytes.starts_with(magic))
}

/// What a pcapng file begins with.
const NEXT_GENERATION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// What a pcap file begins with: either byte order, microseconds or nanoseconds.
const CLASSIC: [[u8; 4]; 4] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0x4d, 0x3c, 0xb2, 0xa1],
];

/// Where in which data a reader is; makes the errors.
struct Source<'a> {
    path: &'a Path,
    /// The capture itself, decompressed.
    bytes: &'a [u8],
    compressed: bool,
}

impl Source<'_> {
    fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }

    /// The data ends inside the record that begins at `offset`.
    fn ends_early(&self, frames_before: usize, offset: usize) -> CaptureError {
        CaptureError::Truncated {
            path: self.path(),
            frames_before: frames_before as u64,
            offset: offset as u64,
            length: self.bytes.len() as u64,
            compressed: self.compressed,
        }
    }

    fn malformed(
        &self,
        frames_before: usize,
        offset: usize,
        reason: impl Into<String>,
    ) -> CaptureError {
        CaptureError::Malformed {
            path: self.path(),
            frame: frames_before as u64 + 1,
            offset: offset as u64,
            reason: reason.into(),
        }
    }
}

fn read(path: &Path, file: &[u8]) -> Result<Capture, CaptureError> {
    let (inflated, complete) = match gzip::inflate(file) {
        None => (None, true),
        Some(Ok(inflated)) => (Some(inflated.bytes), inflated.complete),
        Some(Err(reason)) => {
            return Err(CaptureError::Compression {
                path: path.to_path_buf(),
                reason,
            });
        }
    };
    let bytes = inflated.as_deref().unwrap_or(file);
    let source = Source {
        path,
        bytes,
        compressed: inflated.is_some(),
    };
    let capture = match bytes.first_chunk() {
        Some(&NEXT_GENERATION) => next_generation::read(&source)?,
        Some(magic) if CLASSIC.contains(magic) => classic::read(&source)?,
        None if !complete => return Err(source.ends_early(0, 0)),
        _ => {
            return Err(CaptureError::NotACapture {
                path: path.to_path_buf(),
                hint: error::foreign_format(bytes),
            });
        }
    };
    // The decompressed part may happen to end between two frames; the file is cut all the same.
    if complete {
        Ok(capture.finish())
    } else {
        Err(source.ends_early(capture.len(), bytes.len()))
    }
}

/// Nanoseconds since 1970 fit 64 bits until the year 2554.
const TOO_LATE: &str = "the time lies beyond the year 2554";
