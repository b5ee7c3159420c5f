//! The data of a capture, of which only a window is in memory.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::CaptureError;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// What gzip data begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A capture's data, decompressed, and where in it a reader is; makes the errors.
pub(super) struct Data {
    path: PathBuf,
    input: Box<dyn Read + Send>,
    pub(super) compressed: bool,
    window: Vec<u8>,
    /// What of the window has been read.
    start: usize,
    /// Place of the window's start in the data.
    offset: u64,
    ended: bool,
    /// Whether compressed data came to their proper end.
    pub(super) complete: bool,
}

impl fmt::Debug for Data {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Data")
            .field("path", &self.path)
            .field("compressed", &self.compressed)
            .field("offset", &(self.offset + self.start as u64))
            .finish_non_exhaustive()
    }
}

impl Data {
    /// Finds out whether the data are compressed.
    pub(super) fn new(path: &Path, input: Box<dyn Read + Send>) -> Result<Self, CaptureError> {
        let mut data = Self {
            path: path.to_path_buf(),
            input,
            compressed: false,
            window: Vec::new(),
            start: 0,
            offset: 0,
            ended: false,
            complete: true,
        };
        data.fill(GZIP.len())?;
        if data.rest().starts_with(&GZIP) {
            let head = std::mem::take(&mut data.window);
            let input = std::mem::replace(&mut data.input, Box::new(std::io::empty()));
            let whole = std::io::Cursor::new(head).chain(input);
            data.input = Box::new(MultiGzDecoder::new(whole));
            data.compressed = true;
            data.ended = false;
        }
        Ok(data)
    }

    /// What is in memory and not yet read.
    pub(super) fn rest(&self) -> &[u8] {
        &self.window[self.start..]
    }

    /// Notes that these bytes have been read.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Gets more into memory; `false` at the end of the data.
    pub(super) fn more(&mut self) -> Result<bool, CaptureError> {
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
            Err(error) if self.compressed && error.kind() == ErrorKind::UnexpectedEof => {
                (self.ended, self.complete) = (true, false);
            }
            Err(error) if self.compressed && error.raw_os_error().is_none() => {
                return Err(CaptureError::Compression {
                    path: self.path.clone(),
                    reason: error.to_string(),
                });
            }
            Err(source) => {
                return Err(CaptureError::Io {
                    path: self.path.clone(),
                    source,
                });
            }
        }
        Ok(count > 0)
    }

    /// Gets at least so many bytes into memory, if there are as many.
    pub(super) fn fill(&mut self, bytes: usize) -> Result<(), CaptureError> {
        while self.rest().len() < bytes && self.more()? {}
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The data end inside the record that begins here.
    pub(super) fn ends_early(&self, frames_before: u64) -> CaptureError {
        CaptureError::Truncated {
            path: self.path.clone(),
            frames_before,
            offset: self.offset + self.start as u64,
            length: self.offset + self.window.len() as u64,
            compressed: self.compressed,
        }
    }

    /// The record that begins here contradicts the format.
    pub(super) fn malformed(&self, frames_before: u64, reason: impl Into<String>) -> CaptureError {
        CaptureError::Malformed {
            path: self.path.clone(),
            frame: frames_before + 1,
            offset: self.offset + self.start as u64,
            reason: reason.into(),
        }
    }
}
