//! Frames of several ports or links as a capture file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use pcap_file::pcap::{PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::{DataLink, Endianness};

use super::{Target, classic_header, into_io, invalid};
use crate::capture::MAX_FRAME_BYTES;

/// The form of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Classic pcap with nanoseconds, which does not know ports.
    Pcap,
    /// pcapng with nanoseconds and an interface for each port or end of a link.
    PcapNg,
}

impl Form {
    /// The form that a file's name tells, and whether it is gzipped: `.pcap`, `.cap`, `.pcapng`, and these
    /// with `.gz`.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<(Form, bool)> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, gzipped) = match name.strip_suffix(".gz") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let form = match name.rsplit_once('.')?.1 {
            "pcap" | "cap" => Form::Pcap,
            "pcapng" | "ntar" => Form::PcapNg,
            _ => return None,
        };
        Some((form, gzipped))
    }
}

/// Where frames of a capture were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// What it is called.
    pub name: String,
    /// Speed of its line.
    pub bits_per_second: u64,
}

impl Interface {
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
enum Output {
    Plain(BufWriter<File>),
    Gzipped(Box<GzEncoder<BufWriter<File>>>),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gzipped(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzipped(file) => file.flush(),
        }
    }
}

impl Output {
    fn finish(self) -> io::Result<()> {
        let mut file = match self {
            Self::Plain(file) => file,
            Self::Gzipped(encoder) => encoder.finish()?,
        };
        file.flush()
    }
}

enum Writer {
    Pcap(PcapWriter<Output>),
    PcapNg(PcapNgWriter<Output>),
}

/// Writes frames of several interfaces, with nanoseconds. As with [`PcapSink`](super::PcapSink), the file gets
/// its name when it is whole; the same frames give the same bytes.
pub struct TraceSink {
    writer: Writer,
    target: Target,
}

impl std::fmt::Debug for TraceSink {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("TraceSink")
            .field("target", &self.target)
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
        form: Form,
        gzipped: bool,
        seen_at: &[Interface],
    ) -> io::Result<Self> {
        let (file, target) = Target::create(path)?;
        let file = BufWriter::new(file);
        let output = if gzipped {
            Output::Gzipped(Box::new(GzEncoder::new(file, Compression::default())))
        } else {
            Output::Plain(file)
        };
        let writer = match form {
            Form::Pcap => {
                Writer::Pcap(PcapWriter::with_header(output, classic_header()).map_err(into_io)?)
            }
            Form::PcapNg => Writer::PcapNg(with_interfaces(output, seen_at)?),
        };
        Ok(Self { writer, target })
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

    /// The same with a remark on the frame, for which a classic file has no place.
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
        let timestamp = Duration::from_nanos(time_ns);
        let original_len = bytes.len() as u32;
        match &mut self.writer {
            Writer::Pcap(writer) => {
                let packet = PcapPacket::new(timestamp, original_len, Cow::Borrowed(bytes))
                    .map_err(invalid)?;
                writer.write_packet(&packet).map_err(into_io)?;
            }
            Writer::PcapNg(writer) => {
                let block = EnhancedPacketBlock {
                    interface_id: interface,
                    timestamp,
                    original_len,
                    data: Cow::Borrowed(bytes),
                    options: { comment.into_iter() }
                        .map(|text| {
                            EnhancedPacketOption::Common(CommonOption::Comment(text.into()))
                        })
                        .collect(),
                };
                writer.write_pcapng_block(block).map_err(next_into_io)?;
            }
        }
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the rest of the data cannot be written or the file cannot be renamed; the file is removed then.
    pub fn finish(self) -> io::Result<()> {
        match self.writer {
            Writer::Pcap(writer) => writer.into_inner().finish()?,
            Writer::PcapNg(writer) => writer.into_inner().finish()?,
        }
        self.target.finish()
    }
}

fn with_interfaces(output: Output, seen_at: &[Interface]) -> io::Result<PcapNgWriter<Output>> {
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        ..SectionHeaderBlock::default()
    };
    let mut writer = PcapNgWriter::with_section_header(output, section).map_err(next_into_io)?;
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
    Ok(writer)
}

/// The operating system's error if it was one.
fn next_into_io(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    match cause.map(io::Error::kind) {
        Some(kind) => io::Error::new(kind, error),
        None => invalid(error),
    }
}
