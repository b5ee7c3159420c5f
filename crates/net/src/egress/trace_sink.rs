//! Writes the frames of several ports or links to a capture file.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use flate2::Crc;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::{DataLink, Endianness};

use super::resume::{begin, reopen};
use super::{
    CountedFile, OutputFile, Position, SharedBytes, classic_header, into_io, invalid, write_record,
};
use crate::capture::MAX_FRAME_BYTES;
use crate::compression::{Compression, Compressor};

/// The format of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFormat {
    /// Classic pcap with nanosecond times, which does not record ports.
    Pcap,
    /// pcapng with nanosecond times and an interface for each port or end of a link.
    PcapNg,
}

impl CaptureFormat {
    /// Returns the format that a file's name stands for, compressed or not: `.pcap`, `.cap`, `.pcapng`,
    /// `.ntar`.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<CaptureFormat> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let mut endings = name.rsplit('.');
        let mut ending = endings.next()?;
        if Compression::ALL.iter().any(|it| it.ending() == ending) {
            ending = endings.next()?;
        }
        // A name that is only an extension has none.
        endings.next()?;
        match ending {
            "pcap" | "cap" => Some(CaptureFormat::Pcap),
            "pcapng" | "ntar" => Some(CaptureFormat::PcapNg),
            _ => None,
        }
    }
}

impl CaptureFormat {
    /// Returns the latest time that a file can hold, in nanoseconds since 1970.
    #[must_use]
    pub const fn latest_ns(self) -> u64 {
        match self {
            // 32 bits of seconds.
            CaptureFormat::Pcap => (1 << 32) * 1_000_000_000 - 1,
            // 64 bits of nanoseconds.
            CaptureFormat::PcapNg => u64::MAX,
        }
    }
}

/// A port or link end at which frames of a capture were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePort {
    /// Its name.
    pub name: String,
    /// Rate of its line.
    pub bits_per_second: u64,
}

impl CapturePort {
    /// Creates the entry of a chip's port.
    #[must_use]
    pub fn port(number: usize, bits_per_second: u64) -> Self {
        let name = format!("port{number}");
        Self {
            name,
            bits_per_second,
        }
    }
}

/// Writes a capture of frames seen at one or several interfaces: nanoseconds, Ethernet, little-endian;
/// compressed if the file's name says so. The same frames always give the same bytes.
///
/// The data go to a temporary file beside the target, which gets the target's name in
/// [`finish`](TraceSink::finish). A sink that is dropped leaves nothing behind, and an existing target
/// stays as it was. Where the system has files without a name (Linux), a killed process leaves nothing
/// either. A target that exists and is not a regular file (a pipe, `/dev/null`) is written to directly,
/// and so is standard output, named `-`.
///
/// A sink from [`create_resumable`](TraceSink::create_resumable) leaves its temporary file behind, so that
/// [`resume`](TraceSink::resume) can continue it.
pub struct TraceSink {
    /// Builds the blocks of pcapng; `None` for a classic file.
    blocks: Option<PcapNgWriter<Vec<u8>>>,
    output: Compressor<CountedFile>,
    target: OutputFile,
    frames: u64,
    comments: bool,
}

impl std::fmt::Debug for TraceSink {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("TraceSink")
            .field("target", &self.target)
            .field("frames", &self.frames)
            .finish_non_exhaustive()
    }
}

impl TraceSink {
    /// Creates the capture whose final name is `path`; a classic file does not name its interfaces.
    ///
    /// # Errors
    /// Returns an error if no file can be created beside `path`, or `path` is a directory.
    pub fn create(path: &Path, form: CaptureFormat, seen_at: &[CapturePort]) -> io::Result<Self> {
        let (file, target) = OutputFile::create(path)?;
        let file = CountedFile::new(file, Crc::new(), 0);
        let output = Compressor::new(Compression::of_name(path), file);
        Self::begin(output, target, form, seen_at)
    }

    /// Creates an uncompressed capture in memory.
    ///
    /// # Errors
    /// See [`write`](Self::write).
    pub fn in_memory(
        bytes: SharedBytes,
        form: CaptureFormat,
        seen_at: &[CapturePort],
    ) -> io::Result<Self> {
        let output = Compressor::new(None, CountedFile::in_memory(bytes));
        Self::begin(output, OutputFile::direct(), form, seen_at)
    }

    /// Creates a capture that [`resume`](Self::resume) can continue, under a temporary name that depends
    /// only on `path`. The file survives when the sink is dropped or the process is killed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created or would be compressed, `path` is something other
    /// than a regular file, or another process writes the same capture.
    pub fn create_resumable(
        path: &Path,
        form: CaptureFormat,
        seen_at: &[CapturePort],
    ) -> io::Result<Self> {
        let (file, target) = begin(path)?;
        Self::begin(Compressor::new(None, file), target, form, seen_at)
    }

    /// Continues a capture from [`create_resumable`](Self::create_resumable) at `position`; anything after that is
    /// dropped. If the capture was completed in the meantime, a copy of its beginning is continued, and
    /// `path` keeps its content until [`finish`](Self::finish).
    ///
    /// # Errors
    /// Returns an error if neither file begins with the data written up to `position`, a file cannot be
    /// read or written, or another process writes the same capture.
    pub fn resume(
        path: &Path,
        form: CaptureFormat,
        seen_at: &[CapturePort],
        position: &Position,
    ) -> io::Result<Self> {
        let (file, target) = reopen(path, position)?;
        let mut blocks = with_interfaces(form, seen_at)?;
        // The blocks are already in the file.
        if let Some(blocks) = &mut blocks {
            blocks.get_mut().clear();
        }
        Ok(Self {
            blocks,
            output: Compressor::new(None, file),
            target,
            frames: position.frames,
            comments: false,
        })
    }

    fn begin(
        mut output: Compressor<CountedFile>,
        target: OutputFile,
        form: CaptureFormat,
        seen_at: &[CapturePort],
    ) -> io::Result<Self> {
        let mut blocks = with_interfaces(form, seen_at)?;
        let mut header = Vec::new();
        if let Some(blocks) = &mut blocks {
            std::mem::swap(&mut header, blocks.get_mut());
        } else {
            classic_header().write_to(&mut header).map_err(into_io)?;
        }
        output.write_all(&header)?;
        Ok(Self {
            blocks,
            output,
            target,
            frames: 0,
            comments: false,
        })
    }

    /// Writes a frame (without FCS) that an interface saw at `time_ns` nanoseconds after 1970, or after
    /// the start if the capture has no date. A classic file does not record the interface.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, the frame is longer than [`MAX_FRAME_BYTES`], or
    /// the time does not fit the format.
    pub fn write(&mut self, interface: u32, time_ns: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_commented(interface, time_ns, bytes, None)
    }

    /// Writes a frame with a comment, which a classic file omits.
    ///
    /// # Errors
    /// See [`write`](Self::write).
    pub fn write_commented(
        &mut self,
        interface: u32,
        time_ns: u64,
        bytes: &[u8],
        comment: Option<&str>,
    ) -> io::Result<()> {
        match &mut self.blocks {
            None => {
                let mut record = Vec::with_capacity(bytes.len() + 16);
                write_record(&mut record, time_ns, bytes)?;
                self.output.write_all(&record)?;
            }
            Some(blocks) => {
                let block = EnhancedPacketBlock {
                    interface_id: interface,
                    timestamp: Duration::from_nanos(time_ns),
                    original_len: bytes.len() as u32,
                    data: Cow::Borrowed(bytes),
                    options: { comment.into_iter() }
                        .map(|text| {
                            EnhancedPacketOption::Common(CommonOption::Comment(text.into()))
                        })
                        .collect(),
                };
                blocks.write_pcapng_block(block).map_err(next_into_io)?;
                self.output.write_all(blocks.get_ref())?;
                blocks.get_mut().clear();
            }
        }
        self.frames += 1;
        Ok(())
    }

    /// Sets whether the caller should supply a comment for each frame.
    #[must_use]
    pub fn with_comments(self, comments: bool) -> Self {
        Self { comments, ..self }
    }

    /// Whether the caller should supply a comment for each frame.
    #[must_use]
    pub fn wants_comments(&self) -> bool {
        self.comments
    }

    /// Returns the number of frames written so far.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the current position; `None` for a compressed capture. Everything before it is then on the
    /// disk, as far as the system reports.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn position(&mut self) -> io::Result<Option<Position>> {
        let Some(file) = self.output.plain() else {
            return Ok(None);
        };
        file.position(self.frames).map(Some)
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// Returns an error if the rest of the data cannot be written or the file cannot be renamed; the file
    /// is then removed.
    pub fn finish(self) -> io::Result<()> {
        self.output.finish()?.flush()?;
        self.target.finish()
    }
}

/// Builds a section with its interfaces, if the format has them.
fn with_interfaces(
    form: CaptureFormat,
    seen_at: &[CapturePort],
) -> io::Result<Option<PcapNgWriter<Vec<u8>>>> {
    if form == CaptureFormat::Pcap {
        return Ok(None);
    }
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        ..SectionHeaderBlock::default()
    };
    let mut writer =
        PcapNgWriter::with_section_header(Vec::new(), section).map_err(next_into_io)?;
    for interface in seen_at {
        let block = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: MAX_FRAME_BYTES as u32,
            options: vec![
                InterfaceDescriptionOption::IfName(interface.name.as_str().into()),
                InterfaceDescriptionOption::IfSpeed(interface.bits_per_second),
                InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
            ],
        };
        writer.write_pcapng_block(block).map_err(next_into_io)?;
    }
    Ok(Some(writer))
}

/// Converts an error to the I/O error that caused it, if any.
fn next_into_io(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    match cause.map(io::Error::kind) {
        Some(kind) => io::Error::new(kind, error),
        None => invalid(error),
    }
}
