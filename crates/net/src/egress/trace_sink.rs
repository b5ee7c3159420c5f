//! Frames of several ports or links as a capture file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::{DataLink, Endianness};

use super::resume::{begin, reopen};
use super::{CountedFile, OutputFile, Position, classic_header, into_io, invalid, write_record};
use crate::capture::MAX_FRAME_BYTES;

/// The form of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureForm {
    /// Classic pcap with nanoseconds, which does not know ports.
    Pcap,
    /// pcapng with nanoseconds and an interface for each port or end of a link.
    PcapNg,
}

impl CaptureForm {
    /// The format by a file's name, and whether it is gzipped: `.pcap`, `.cap`, `.pcapng`, and these
    /// with `.gz`.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<(CaptureForm, bool)> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, gzipped) = match name.strip_suffix(".gz") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let form = match name.rsplit_once('.')?.1 {
            "pcap" | "cap" => CaptureForm::Pcap,
            "pcapng" | "ntar" => CaptureForm::PcapNg,
            _ => return None,
        };
        Some((form, gzipped))
    }
}

/// Where frames of a capture were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePort {
    /// What it is called.
    pub name: String,
    /// Speed of its line.
    pub bits_per_second: u64,
}

impl CapturePort {
    /// A chip's port.
    #[must_use]
    pub fn port(number: usize, bits_per_second: u64) -> Self {
        let name = format!("port{number}");
        Self {
            name,
            bits_per_second,
        }
    }
}

/// Bytes on their way to the file.
#[derive(Debug)]
enum SinkFile {
    Plain(CountedFile),
    Gzipped(Box<GzEncoder<BufWriter<File>>>),
}

impl SinkFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Gzipped(file) => file.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut file) => file.flush(),
            Self::Gzipped(encoder) => encoder.finish()?.flush(),
        }
    }
}

/// Writes frames of several interfaces, with nanoseconds. As with [`PcapSink`](super::PcapSink), the file gets
/// its name when it is whole, it may be [kept](Self::create_kept) to be gone on with, and the same frames
/// give the same bytes.
pub struct TraceSink {
    /// Makes blocks of pcapng; none for a classic file.
    blocks: Option<PcapNgWriter<Vec<u8>>>,
    output: SinkFile,
    target: OutputFile,
    frames: u64,
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
    /// Begins the file that is to be at `path`; a classic file does not name its interfaces.
    ///
    /// # Errors
    /// If no file can be made beside `path`, or `path` is a directory.
    pub fn create(
        path: &Path,
        form: CaptureForm,
        gzipped: bool,
        seen_at: &[CapturePort],
    ) -> io::Result<Self> {
        let (file, target) = OutputFile::create(path)?;
        let output = if gzipped {
            let file = BufWriter::new(file);
            SinkFile::Gzipped(Box::new(GzEncoder::new(file, Compression::default())))
        } else {
            SinkFile::Plain(CountedFile::new(file, Crc::new(), 0))
        };
        Self::begin(output, target, form, seen_at)
    }

    /// Begins a file that is not gzipped and that [`resume`](Self::resume) can go on with, as
    /// [`PcapSink::create_kept`](super::PcapSink::create_kept) does.
    ///
    /// # Errors
    /// As there.
    pub fn create_kept(
        path: &Path,
        form: CaptureForm,
        seen_at: &[CapturePort],
    ) -> io::Result<Self> {
        let (file, target) = begin(path)?;
        Self::begin(SinkFile::Plain(file), target, form, seen_at)
    }

    /// Goes on with a file of [`create_kept`](Self::create_kept), as
    /// [`PcapSink::resume`](super::PcapSink::resume) does.
    ///
    /// # Errors
    /// As there.
    pub fn resume(
        path: &Path,
        form: CaptureForm,
        seen_at: &[CapturePort],
        position: &Position,
    ) -> io::Result<Self> {
        let (file, target) = reopen(path, position)?;
        let mut blocks = with_interfaces(form, seen_at)?;
        // The blocks stand in the file already.
        if let Some(blocks) = &mut blocks {
            blocks.get_mut().clear();
        }
        Ok(Self {
            blocks,
            output: SinkFile::Plain(file),
            target,
            frames: position.frames,
        })
    }

    fn begin(
        mut output: SinkFile,
        target: OutputFile,
        form: CaptureForm,
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
        })
    }

    /// Adds a frame (without FCS) that an interface saw at `time_ns` nanoseconds after 1970, or after the
    /// start of what has no date. A classic file does not tell the interface.
    ///
    /// # Errors
    /// If the file cannot be written, the frame is longer than [`MAX_FRAME_BYTES`], or the time does not
    /// fit the format.
    pub fn write(&mut self, interface: u32, time_ns: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_commented(interface, time_ns, bytes, None)
    }

    /// Writes a frame with a remark on it, for which a classic file has no place.
    ///
    /// # Errors
    /// As [`write`](Self::write).
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

    /// Where a file of [`create_kept`](Self::create_kept) stands; none for a gzipped one. Everything up to
    /// there is on the disk then, as far as the system knows.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn position(&mut self) -> io::Result<Option<Position>> {
        let SinkFile::Plain(file) = &mut self.output else {
            return Ok(None);
        };
        file.position(self.frames).map(Some)
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the rest of the data cannot be written or the file cannot be renamed; the file is removed then.
    pub fn finish(self) -> io::Result<()> {
        self.output.finish()?;
        self.target.finish()
    }
}

/// A section with its interfaces, if the form has such.
fn with_interfaces(
    form: CaptureForm,
    seen_at: &[CapturePort],
) -> io::Result<Option<PcapNgWriter<Vec<u8>>>> {
    if form == CaptureForm::Pcap {
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

/// The operating system's error if it was one.
fn next_into_io(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    match cause.map(io::Error::kind) {
        Some(kind) => io::Error::new(kind, error),
        None => invalid(error),
    }
}
