//! A buffered file that knows how much was written to it, and its check sum.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use flate2::Crc;
use serde::{Deserialize, Serialize};

/// How far a capture has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Bytes in the file.
    pub bytes: u64,
    /// The CRC-32 of these bytes.
    pub checksum: u32,
    /// Frames; 0 if it is no capture.
    pub frames: u64,
}

/// Writes to a file and counts.
#[derive(Debug)]
pub struct CountedFile {
    file: BufWriter<File>,
    /// Of everything in the file.
    sum: Crc,
    bytes: u64,
    /// How many of them are on the disk for sure.
    synced: u64,
}

impl CountedFile {
    /// Writes to a file that has `bytes` bytes of this sum already.
    pub fn new(file: File, sum: Crc, bytes: u64) -> Self {
        Self {
            file: BufWriter::new(file),
            sum,
            bytes,
            synced: 0,
        }
    }

    /// How far the file has come, with so many frames in it. All up to there would survive the end of
    /// the machine's power.
    pub fn position(&mut self, frames: u64) -> io::Result<Position> {
        if self.synced < self.bytes {
            self.file.flush()?;
            self.file.get_ref().sync_data()?;
            self.synced = self.bytes;
        }
        Ok(Position {
            bytes: self.bytes,
            checksum: self.sum.sum(),
            frames,
        })
    }
}

impl Write for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
