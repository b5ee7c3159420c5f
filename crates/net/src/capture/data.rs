//! The data of a capture, of which only a window is held in memory.

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::CaptureError;
use crate::compression::{Compression, Decompressor, MAGIC_BYTES};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// The decompressed data of a capture and the current read position; also builds the errors.
pub(crate) struct Data {
    path: PathBuf,
    input: Input,
    window: Vec<u8>,
    /// Bytes of the window that have been read.
    start: usize,
    /// Position of the window's start in the data.
    offset: u64,
    ended: bool,
    /// Whether compressed data reached their proper end.
    pub(crate) complete: bool,
}

/// Source of the data.
enum Input {
    Plain(Box<dyn Read + Send>),
    Compressed(Compression, Box<Decompressor>),
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(input) => input.read(buffer),
            Self::Compressed(_, input) => input.read(buffer),
        }
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Data")
            .field("path", &self.path)
            .field("compression", &self.compression())
            .field("offset", &(self.offset + self.start as u64))
            .finish_non_exhaustive()
    }
}

impl Data {
    /// Opens the data and detects whether they are compressed.
    pub(crate) fn new(path: &Path, input: Box<dyn Read + Send>) -> Result<Self, CaptureError> {
        let mut data = Self {
            path: path.to_path_buf(),
            input: Input::Plain(input),
            window: Vec::new(),
            start: 0,
            offset: 0,
            ended: false,
            complete: true,
        };
        data.fill(MAGIC_BYTES)?;
        if let Some(compression) = Compression::of_data(data.rest()) {
            let head = io::Cursor::new(std::mem::take(&mut data.window));
            data.input =
                match std::mem::replace(&mut data.input, Input::Plain(Box::new(io::empty()))) {
                    Input::Plain(input) => {
                        let whole = Box::new(head.chain(input));
                        Input::Compressed(
                            compression,
                            Box::new(Decompressor::new(compression, whole)),
                        )
                    }
                    compressed @ Input::Compressed(..) => compressed,
                };
            data.ended = false;
        }
        Ok(data)
    }

    /// Returns the compression of the data, if any.
    pub(crate) fn compression(&self) -> Option<Compression> {
        match &self.input {
            Input::Plain(_) => None,
            Input::Compressed(compression, _) => Some(*compression),
        }
    }

    /// Returns the number of bytes found so far after the end of the compressed data, which are
    /// ignored.
    pub(crate) fn bytes_behind(&self) -> u64 {
        match &self.input {
            Input::Plain(_) => 0,
            Input::Compressed(_, input) => input.bytes_behind(),
        }
    }

    /// Returns the bytes that are in memory and not yet read.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.window[self.start..]
    }

    /// Marks these bytes as read.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Reads more into memory; returns `false` at the end of the data.
    pub(crate) fn more(&mut self) -> Result<bool, CaptureError> {
        if self.ended {
            return Ok(false);
        }
        self.window.drain(..self.start);
        self.offset += self.start as u64;
        self.start = 0;
        let before = self.window.len();
        self.window.resize(before + CHUNK, 0);
        let result = loop {
            match self.input.read(&mut self.window[before..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let count = *result.as_ref().unwrap_or(&0);
        self.window.truncate(before + count);
        match result {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(source) => match self.compression() {
                Some(_) if source.kind() == ErrorKind::UnexpectedEof => {
                    (self.ended, self.complete) = (true, false);
                }
                Some(compression) if source.raw_os_error().is_none() => {
                    return Err(CaptureError::Compression {
                        path: self.path.clone(),
                        compression,
                        reason: source.to_string(),
                    });
                }
                _ => {
                    return Err(CaptureError::Io {
                        path: self.path.clone(),
                        source,
                    });
                }
            },
        }
        Ok(count > 0)
    }

    /// Reads until at least this many bytes are in memory, or the data end.
    pub(crate) fn fill(&mut self, bytes: usize) -> Result<(), CaptureError> {
        while self.rest().len() < bytes && self.more()? {}
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Builds the error for data that end inside the record that begins here.
    pub(crate) fn ends_early(&self, frames_before: u64) -> CaptureError {
        CaptureError::Truncated {
            path: self.path.clone(),
            frames_before,
            offset: self.offset + self.start as u64,
            length: self.offset + self.window.len() as u64,
            compressed: self.compression().is_some(),
        }
    }

    /// Builds the error for a record that begins here and contradicts the format.
    pub(crate) fn malformed(&self, frames_before: u64, reason: impl Into<String>) -> CaptureError {
        CaptureError::Malformed {
            path: self.path.clone(),
            frame: frames_before + 1,
            offset: self.offset + self.start as u64,
            reason: reason.into(),
        }
    }
}
