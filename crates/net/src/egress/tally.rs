//! A buffered file that counts the bytes written to it and computes their checksum.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Crc;
use serde::{Deserialize, Serialize};

/// A position in a capture or other file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Bytes in the file.
    pub bytes: u64,
    /// The CRC-32 of those bytes.
    pub checksum: u32,
    /// Frames; 0 if the file is not a capture.
    pub frames: u64,
}

/// A file in memory that can be read while it is written.
#[derive(Clone, Debug, Default)]
pub struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl SharedBytes {
    /// Returns the bytes written so far.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Where the data are written to.
#[derive(Debug)]
enum Destination {
    File(BufWriter<File>),
    Memory(SharedBytes),
}

/// A writer that counts bytes and computes their checksum.
#[derive(Debug)]
pub struct CountedFile {
    file: Destination,
    /// Checksum of everything in the file.
    sum: Crc,
    bytes: u64,
    /// Bytes that are known to be on the disk.
    synced: u64,
}

impl CountedFile {
    /// Continues a file that already holds `bytes` bytes with this checksum.
    pub fn new(file: File, sum: Crc, bytes: u64) -> Self {
        Self::to(Destination::File(BufWriter::new(file)), sum, bytes)
    }

    /// Creates a writer to a file in memory.
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

    /// Returns the position after this many frames. Everything before it would survive a power
    /// failure.
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
