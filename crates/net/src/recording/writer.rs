//! Writes a recording while a run is in progress.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use pcap_file::pcapng::blocks::{
    ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, SECTION_HEADER_BLOCK,
};

use super::block::Block;
use super::{CONTROL, CONTROL_LINK, END, PICOSECONDS, RecordingHead};
use crate::capture::MAX_FRAME_BYTES;
use crate::compression::Compression;
use crate::egress::CaptureFormat;
use crate::option_codes::{COMMENT, IF_NAME, IF_SPEED, IF_TSOFFSET, IF_TSRESOL, USER_APPLICATION};
use crate::standard_output::is_standard_output;

/// Blocks are written to the file once they add up to this many bytes.
const BUFFER: usize = 64 * 1024;

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const ETHERNET: u16 = 1;

/// Destination of a recording.
trait Medium: Write + Send {
    /// Truncates the file to this many bytes and continues writing there.
    fn truncate_to(&mut self, bytes: u64) -> io::Result<()>;
}

impl Medium for File {
    fn truncate_to(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)?;
        self.seek(SeekFrom::Start(bytes)).map(drop)
    }
}

/// Writes a recording.
///
/// The file holds only whole blocks: if the disk is full, the file is truncated after the last whole
/// one, and each later call returns the error again.
pub struct RecordingWriter {
    file: Box<dyn Medium>,
    ports: u32,
    /// Bytes in the file.
    written: u64,
    /// Whole blocks not yet in the file.
    pending: Vec<u8>,
    /// End of each of them.
    ends: Vec<usize>,
    /// The error that prevents further writing.
    failure: Option<(ErrorKind, String)>,
}

impl fmt::Debug for RecordingWriter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RecordingWriter")
            .field("written", &self.written)
            .field("pending", &self.pending.len())
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

impl RecordingWriter {
    /// Creates the recording at `path`, replacing any existing file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, is not a regular file, is being written by
    /// another run, or has a name that asks for compression or classic pcap.
    pub fn create(path: &Path, head: &RecordingHead) -> io::Result<Self> {
        let refuse = |reason: &str| Err(io::Error::new(ErrorKind::InvalidInput, reason));
        if is_standard_output(path) {
            return refuse("a recording has to be a file, not standard output");
        }
        if Compression::of_name(path).is_some() {
            return refuse(
                "a recording is not compressed, so that a run that is killed leaves it readable; let its name end in .pcapng",
            );
        }
        if CaptureFormat::of_name(path) == Some(CaptureFormat::Pcap) {
            return refuse("a recording is a pcapng file; let its name end in .pcapng");
        }
        if fs::metadata(path).is_ok_and(|existing| !existing.is_file()) {
            return refuse("a recording has to be a regular file");
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        // Some file systems have no locks; there, nothing keeps two runs apart.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let reason = "another run is recording to it";
            return Err(io::Error::new(ErrorKind::ResourceBusy, reason));
        }
        file.set_len(0)?;
        Self::begin(Box::new(file), head)
    }

    fn begin(file: Box<dyn Medium>, head: &RecordingHead) -> io::Result<Self> {
        let mut writer = Self {
            file,
            ports: head.ports.len() as u32,
            written: 0,
            pending: Vec::with_capacity(BUFFER),
            ends: Vec::new(),
            failure: None,
        };
        writer.push(section(head))?;
        for port in &head.ports {
            let speed = Some(port.bits_per_second);
            writer.push(interface(ETHERNET, &port.name, speed, head))?;
        }
        writer.push(interface(CONTROL_LINK, CONTROL, None, head))?;
        // A run that is killed at once still leaves a recording.
        writer.flush()?;
        Ok(writer)
    }

    /// Records a frame (without FCS) that arrives at a port, its first preamble bit at the
    /// [picosecond](super::picoseconds) of its cycle.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, now or earlier; there is no such port; or the
    /// frame is longer than [`MAX_FRAME_BYTES`].
    pub fn frame(&mut self, port: u32, start_ps: u64, bytes: &[u8]) -> io::Result<()> {
        if port >= self.ports || bytes.len() > MAX_FRAME_BYTES {
            let reason = format!(
                "a frame of {} bytes at port {port} of {}",
                bytes.len(),
                self.ports
            );
            return Err(io::Error::new(ErrorKind::InvalidInput, reason));
        }
        self.packet(port, start_ps, bytes)
    }

    /// Records a command that takes effect in the cycle at `at_ps`.
    ///
    /// # Errors
    /// See [`Self::frame`].
    pub fn control(&mut self, at_ps: u64, command: &str) -> io::Result<()> {
        self.packet(self.ports, at_ps, command.as_bytes())
    }

    /// Records that the run ended in the cycle at `at_ps`: nothing more happens before it.
    ///
    /// # Errors
    /// See [`Self::frame`].
    pub fn end(&mut self, at_ps: u64) -> io::Result<()> {
        self.control(at_ps, END)?;
        self.flush()
    }

    /// Writes all pending blocks to the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, now or earlier. It then ends with the last
    /// whole block.
    pub fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        let mut done = 0;
        let result = loop {
            if done == self.pending.len() {
                break Ok(());
            }
            match self.file.write(&self.pending[done..]) {
                Ok(0) => break Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => done += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        let whole = { self.ends.iter() }.take_while(|end| **end <= done);
        let whole = whole.last().copied().unwrap_or(0);
        self.written += whole as u64;
        self.pending.clear();
        self.ends.clear();
        let Err(error) = result else {
            return Ok(());
        };
        self.failure = Some((error.kind(), error.to_string()));
        self.file.truncate_to(self.written)?;
        Err(error)
    }

    fn check(&self) -> io::Result<()> {
        match &self.failure {
            Some((kind, reason)) => Err(io::Error::new(*kind, reason.clone())),
            None => Ok(()),
        }
    }

    fn packet(&mut self, interface: u32, ticks: u64, bytes: &[u8]) -> io::Result<()> {
        let mut block = Block::new(ENHANCED_PACKET_BLOCK);
        block.u32(interface);
        block.u32((ticks >> 32) as u32);
        block.u32(ticks as u32);
        block.u32(bytes.len() as u32);
        block.u32(bytes.len() as u32);
        block.padded(bytes);
        self.push(block)
    }

    fn push(&mut self, block: Block) -> io::Result<()> {
        self.check()?;
        self.pending.extend(block.finish());
        self.ends.push(self.pending.len());
        if self.pending.len() >= BUFFER {
            self.flush()?;
        }
        Ok(())
    }
}

impl Drop for RecordingWriter {
    /// Writes pending blocks even if a run ends with an error.
    fn drop(&mut self) {
        if self.failure.is_none() {
            // An error can no longer be reported.
            let _ = self.flush();
        }
    }
}

fn section(head: &RecordingHead) -> Block {
    let mut block = Block::new(SECTION_HEADER_BLOCK);
    block.u32(BYTE_ORDER);
    block.u16(1);
    block.u16(0);
    // The section has no end yet.
    block.u64(u64::MAX);
    block.option(COMMENT, head.comment().as_bytes());
    let application = format!("npsim {}", env!("CARGO_PKG_VERSION"));
    block.option(USER_APPLICATION, application.as_bytes());
    block.end_options();
    block
}

fn interface(link: u16, name: &str, speed: Option<u64>, head: &RecordingHead) -> Block {
    let mut block = Block::new(INTERFACE_DESCRIPTION_BLOCK);
    block.u16(link);
    block.u16(0);
    block.u32(MAX_FRAME_BYTES as u32);
    block.option(IF_NAME, name.as_bytes());
    if let Some(speed) = speed {
        block.option(IF_SPEED, &speed.to_le_bytes());
    }
    block.option(IF_TSRESOL, &[PICOSECONDS]);
    block.option(IF_TSOFFSET, &head.start_seconds.to_le_bytes());
    block.end_options();
    block
}

#[cfg(test)]
mod tests;
