//! pcapng.

use std::error::Error;
use std::time::Duration;

use pcap_file::DataLink;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::{
    ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, PACKET_BLOCK, SECTION_HEADER_BLOCK,
    SIMPLE_PACKET_BLOCK,
};
use pcap_file::pcapng::{Block, PcapNgParseError, PcapNgParser, RawBlock};

use super::assembly::{CaptureState, Record};
use super::data::Data;
use super::link::Framing;
use super::{CaptureError, TOO_LATE};
use crate::Frame;

/// A block that claims more than this is taken for damage: nothing that matters here is as long.
const MAX_BLOCK_BYTES: usize = 16 << 20;

/// An interface of the current section.
#[derive(Debug)]
struct SectionInterface {
    /// Index in the capture, assigned when the interface is described.
    port: u32,
    link: DataLink,
    /// `Err` holds an `if_fcslen` that makes no sense; it matters only if a packet comes.
    fcs_bytes: Result<u32, u8>,
}

/// The reader of a pcapng file, whose first section header has been read.
#[derive(Debug)]
pub(super) struct NextGeneration {
    parser: PcapNgParser,
    section: Vec<SectionInterface>,
}

impl NextGeneration {
    pub(super) fn open(data: &mut Data) -> Result<Self, CaptureError> {
        loop {
            match PcapNgParser::new(data.rest()) {
                Ok((after, parser)) => {
                    data.advance(data.rest().len() - after.len());
                    return Ok(Self {
                        parser,
                        section: Vec::new(),
                    });
                }
                Err(error) => more(data, 0, &error)?,
            }
        }
    }

    /// The next frame; `None` at the end of the data.
    pub(super) fn next(
        &mut self,
        data: &mut Data,
        assembly: &mut CaptureState,
    ) -> Result<Option<Frame>, CaptureError> {
        loop {
            if data.rest().is_empty() && !data.more()? {
                return Ok(None);
            }
            // Raw blocks, so that only blocks that matter are decoded: a damaged name resolution block
            // or comment is no reason to refuse the frames.
            let mut frame = None;
            let bytes = match self.parser.next_raw_block(data.rest()) {
                Ok((after, raw)) => {
                    let bytes = data.rest().len() - after.len();
                    match raw.type_ {
                        SECTION_HEADER_BLOCK => self.section.clear(),
                        INTERFACE_DESCRIPTION_BLOCK => {
                            if let Some(described) = self.parser.interfaces().last() {
                                let interface = describe(described, &self.section, assembly);
                                self.section.push(interface);
                            }
                        }
                        PACKET_BLOCK | ENHANCED_PACKET_BLOCK | SIMPLE_PACKET_BLOCK => {
                            frame = packet(data, &self.parser, raw, &self.section, assembly)?;
                        }
                        _ => {}
                    }
                    bytes
                }
                Err(error) => {
                    more(data, assembly.frames, &error)?;
                    continue;
                }
            };
            data.advance(bytes);
            if frame.is_some() {
                return Ok(frame);
            }
        }
    }
}

/// Finds or makes the interface's place in the capture.
///
/// A file may have several sections, each of which describes its interfaces anew. One of a name
/// that an earlier section had is that port again, unless this section has the name twice:
/// then they are two ports. `section` has the section's interfaces before this one.
fn describe(
    described: &InterfaceDescriptionBlock<'_>,
    section: &[SectionInterface],
    assembly: &mut CaptureState,
) -> SectionInterface {
    let mut name = format!("interface {}", section.len());
    let mut fcs_bytes = Ok(0);
    for option in &described.options {
        match option {
            InterfaceDescriptionOption::IfName(given) => name = given.to_string(),
            InterfaceDescriptionOption::IfFcsLen(length) => fcs_bytes = fcs_length(*length),
            _ => {}
        }
    }
    let taken = |port: usize| {
        section
            .iter()
            .any(|interface| interface.port as usize == port)
    };
    let known = (0..assembly.interfaces.len())
        .find(|&port| assembly.interfaces[port] == name && !taken(port));
    let port = match known {
        Some(port) => port as u32,
        None => assembly.interface(name),
    };
    SectionInterface {
        port,
        link: described.linktype,
        fcs_bytes,
    }
}

/// The format's text says bits, its example and most readers say bytes; Ethernet's FCS is unmistakable in either.
fn fcs_length(field: u8) -> Result<u32, u8> {
    match field {
        0 => Ok(0),
        4 | 32 => Ok(4),
        other => Err(other),
    }
}

fn packet(
    data: &Data,
    parser: &PcapNgParser,
    raw: RawBlock<'_>,
    section: &[SectionInterface],
    assembly: &mut CaptureState,
) -> Result<Option<Frame>, CaptureError> {
    let frames_before = assembly.frames;
    let malformed = |reason: String| data.malformed(frames_before, reason);
    let block = raw
        .try_into_block(parser.state())
        .map_err(|error| malformed(chain(&error)))?;
    let (id, timestamp, bytes, original_len) = match &block {
        Block::EnhancedPacket(packet) => (
            packet.interface_id,
            Some(packet.timestamp),
            &packet.data,
            packet.original_len,
        ),
        Block::Packet(packet) => (
            u32::from(packet.interface_id),
            Some(packet.timestamp),
            &packet.data,
            packet.original_len,
        ),
        // A simple packet belongs to the first interface and has no time: it gets that of the frame before.
        Block::SimplePacket(packet) => (0, None, &packet.data, packet.original_len),
        _ => return Ok(None),
    };
    let interface = section.get(id as usize).ok_or_else(|| {
        malformed(format!(
            "it names interface {id}, and its section has {}",
            section.len()
        ))
    })?;
    let Some(framing) = Framing::of(interface.link, assembly.links) else {
        let name = format!(
            "interface `{}`",
            assembly.interfaces[interface.port as usize]
        );
        let (link, links) = (interface.link, assembly.links);
        return Err(super::link::refusal(data, &name, link, links));
    };
    let fcs_bytes = interface.fcs_bytes.map_err(|length| {
        malformed(format!(
            "its interface has an FCS of length {length} (if_fcslen)"
        ))
    })?;
    let time_ns = timestamp.map(nanoseconds).transpose().map_err(malformed)?;
    let Some((bytes, original_len)) = assembly.framed(framing, bytes, original_len) else {
        return Ok(None);
    };
    let record = Record {
        time_ns,
        port: interface.port,
        bytes: &bytes,
        original_len,
        fcs_bytes,
    };
    assembly.frame(&record).map(Some).map_err(malformed)
}

fn nanoseconds(time: Duration) -> Result<u64, String> {
    u64::try_from(time.as_nanos()).map_err(|_| TOO_LATE.to_string())
}

/// Gets more data if that is what the error is about.
fn more(data: &mut Data, frames_before: u64, error: &PcapNgParseError) -> Result<(), CaptureError> {
    match error {
        PcapNgParseError::IncompleteBuffer(needed, _) if *needed > MAX_BLOCK_BYTES => {
            Err(data.malformed(frames_before, format!("a block of about {needed} bytes")))
        }
        PcapNgParseError::IncompleteBuffer(..) if data.more()? => Ok(()),
        PcapNgParseError::IncompleteBuffer(..) => Err(data.ends_early(frames_before)),
        other => Err(data.malformed(frames_before, chain(other))),
    }
}

/// An error with its causes, on one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}
