//! Reads captures frame by frame.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use super::assembly::CaptureState;
use super::classic::Classic;
use super::data::Data;
use super::erf::Erf;
use super::next_generation::NextGeneration;
use super::{CaptureError, CaptureNotes, CaptureOptions, error};
use crate::Frame;
use crate::compression::Compression;
use crate::inputs;
use crate::standard_output::is_standard_output;

/// First bytes of a pcapng file.
const NEXT_GENERATION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// First bytes of a classic pcap file: either byte order, microseconds or nanoseconds.
const CLASSIC: [[u8; 4]; 4] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0x4d, 0x3c, 0xb2, 0xa1],
];

/// Number of bytes that suffice to recognise a format.
const DETECTION_BYTES: usize = 4096;

#[derive(Debug)]
enum FileFormat {
    Classic(Classic),
    NextGeneration(NextGeneration),
    Erf,
}

/// Reads a capture frame by frame. Only a window of a few frames is held in memory.
///
/// After an error there are no more frames.
#[derive(Debug)]
pub struct CaptureReader {
    data: Data,
    format: FileFormat,
    assembly: CaptureState,
    done: bool,
}

impl CaptureReader {
    /// Opens the capture file at `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or does not begin like a capture of Ethernet frames.
    pub fn open(path: &Path) -> Result<CaptureReader, CaptureError> {
        Self::open_with(path, CaptureOptions::default())
    }

    /// Opens the capture file at `path` and reads it according to `options`.
    ///
    /// # Errors
    /// See [`CaptureReader::open`].
    pub fn open_with(
        path: &Path,
        options: impl Into<CaptureOptions>,
    ) -> Result<CaptureReader, CaptureError> {
        let file = if is_standard_output(path) {
            let only = if cfg!(unix) {
                "`-` is only for outputs; use `/dev/stdin` to read from a pipe"
            } else {
                "`-` is only for outputs; name a file"
            };
            Err(io::Error::other(only))
        } else {
            inputs::note_read(path);
            File::open(path)
        };
        let file = file.map_err(|source| CaptureError::Io {
            path: path.to_path_buf(),
            source,
        })?;
        Self::new(path, Box::new(file), options)
    }

    /// Opens a capture in memory; `name` stands for the path in errors.
    ///
    /// # Errors
    /// See [`CaptureReader::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<CaptureReader, CaptureError> {
        Self::new(
            Path::new(name),
            Box::new(Cursor::new(bytes)),
            CaptureOptions::default(),
        )
    }

    /// Opens a capture from any source; `path` is used in errors.
    ///
    /// # Errors
    /// See [`CaptureReader::open`].
    pub fn new(
        path: &Path,
        input: Box<dyn Read + Send>,
        options: impl Into<CaptureOptions>,
    ) -> Result<CaptureReader, CaptureError> {
        let mut data = Data::new(path, input)?;
        data.fill(DETECTION_BYTES)?;
        let mut assembly = CaptureState::new(options.into());
        let format = match data.rest().first_chunk() {
            Some(&NEXT_GENERATION) => FileFormat::NextGeneration(NextGeneration::new()),
            Some(magic) if CLASSIC.contains(magic) => {
                FileFormat::Classic(Classic::open(&mut data, &mut assembly)?)
            }
            _ if Erf::recognises(path, data.rest()) => FileFormat::Erf,
            None if !data.complete => return Err(data.ends_early(0)),
            _ => {
                return Err(CaptureError::NotACapture {
                    path: path.to_path_buf(),
                    hint: error::foreign_format(data.rest()),
                });
            }
        };
        Ok(CaptureReader {
            data,
            format,
            assembly,
            done: false,
        })
    }

    /// Returns a description of the file format, such as `pcap, nanoseconds, gzipped`.
    #[must_use]
    pub fn format(&self) -> String {
        let format = match &self.format {
            FileFormat::Classic(classic) => classic.name(),
            FileFormat::NextGeneration(_) => "pcapng",
            FileFormat::Erf => "ERF",
        };
        match self.data.compression() {
            None => format.to_owned(),
            Some(Compression::Gzip) => format!("{format}, gzipped"),
            Some(Compression::Zstd) => format!("{format}, zstd"),
        }
    }

    /// Returns the number of frames read so far.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.assembly.frames
    }

    /// Returns the time of the first frame in nanoseconds since 1970 (UTC); 0 for a capture without
    /// times, and before the first frame.
    #[must_use]
    pub fn first_timestamp_ns(&self) -> i128 {
        self.assembly.first_timestamp_ns()
    }

    /// Returns the names of the interfaces so far, indexed by [`Frame::port`]; `interface N` where the
    /// file has no name. In pcapng, a later section's interface of the same name is the same interface.
    #[must_use]
    pub fn interfaces(&self) -> &[String] {
        &self.assembly.interfaces
    }

    /// Returns the irregularities found so far.
    #[must_use]
    pub fn notes(&self) -> CaptureNotes {
        CaptureNotes {
            bytes_behind: self.data.bytes_behind(),
            ..self.assembly.notes
        }
    }

    fn read(&mut self) -> Result<Option<Frame>, CaptureError> {
        let frame = match &mut self.format {
            FileFormat::Classic(classic) => classic.next(&mut self.data, &mut self.assembly)?,
            FileFormat::NextGeneration(next) => next.next(&mut self.data, &mut self.assembly)?,
            FileFormat::Erf => Erf::next(&mut self.data, &mut self.assembly)?,
        };
        // The decompressed part may happen to end between two frames; the file is truncated nevertheless.
        if frame.is_none() && !self.data.complete {
            return Err(self.data.ends_early(self.assembly.frames));
        }
        Ok(frame)
    }
}

impl Iterator for CaptureReader {
    type Item = Result<Frame, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.read().transpose();
        self.done = !matches!(item, Some(Ok(_)));
        item
    }
}
