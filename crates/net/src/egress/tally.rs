//! A buffered file that knows how much was written to it, and its check sum.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

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

/// A file in memory, which others read.
#[derive(Clone, Debug, Default)]
pub struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl SharedBytes {
    /// What was written so far.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// What is written to.
#[derive(Debug)]
enum Destination {
    File(BufWriter<File>),
    Memory(SharedBytes),
}

/// Writes to a file and counts.
#[derive(Debug)]
pub struct CountedFile {
    file: Destination,
    /// Of everything in the file.
    sum: Crc,
    bytes: u64,
    /// How many of them are on the disk for sure.
    synced: u64,
}

impl CountedFile {
    /// Writes to a file that has `bytes` bytes of this sum already.
    pub fn new(file: File, sum: Crc, bytes: u64) -> Self {
        Self::to(Destination::File(BufWriter::new(file)), sum, bytes)
    }

    /// Writes to a file in memory.
    pub fn in_memory(bytes: SharedBytes) -> Self {
        Self::to(Destination::Memory(bytes), Crc::new(), 0)
    }

    fn to(file: Destination, sum: Crc, bytes: u64) -> Self {
        Self {
            file,
            sum,
            bytes,
            synced: 0,
        }
    }

    /// How far the file has come, with so many frames in it. All up to there would survive the end of
    /// the machine's power.
    pub fn position(&mut self, frames: u64) -> io::Result<Position> {
        if self.synced < self.bytes {
            if let Destination::File(file) = &mut self.file {
                file.flush()?;
                file.get_ref().sync_data()?;
            }
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
        let written = match &mut self.file {
            Destination::File(file) => file.write(bytes)?,
            Destination::Memory(file) => {
                let mut file = file.0.lock().unwrap_or_else(PoisonError::into_inner);
                file.extend_from_slice(bytes);
                bytes.len()
            }
        };
        self.sum.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Destination::File(file) => file.flush(),
            Destination::Memory(_) => Ok(()),
        }
    }
}
