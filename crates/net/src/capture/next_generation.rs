//! pcapng.
//!
//! `pcap-file` splits the file into blocks. Their content is parsed here, since that crate refuses a whole block
//! for an option that affects no frame: a comment that is not UTF-8, an address of odd length, a resolution finer
//! than its own time type.

use std::collections::BTreeMap;

use byteorder_slice::{BigEndian, LittleEndian};
use pcap_file::pcapng::blocks::{
    ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, PACKET_BLOCK, SECTION_HEADER_BLOCK,
    SIMPLE_PACKET_BLOCK,
};
use pcap_file::pcapng::{RawBlock, RawBlockParseError};
use pcap_file::{DataLink, Endianness};

use super::CaptureError;
use super::assembly::{CaptureState, Record};
use super::data::Data;
use super::fields::{Fields, OptionFlaw};
use super::link::Framing;
use super::ticks::{MICROSECONDS, Ticks};
use crate::Frame;
use crate::option_codes::{COMMENT, IF_NAME, IF_TSOFFSET, IF_TSRESOL};
use crate::recording::is_control;

/// A block that claims more than this is taken for damage: no relevant block is as long.
const MAX_BLOCK_BYTES: usize = 16 << 20;
/// Version of the format that defines these blocks.
const MAJOR_VERSION: u16 = 1;

/// Option code for the length of the frame check sequence.
const IF_FCSLEN: u16 = 13;
/// Option code for the flags of a packet, in both kinds of packet blocks.
const PACKET_FLAGS: u16 = 2;
/// Option code for the number of packets lost before this one, and the value that the old block uses if it is
/// unknown.
const PACKET_DROPCOUNT: u16 = 4;
const DROPS_UNKNOWN: u16 = u16::MAX;

/// Interface description options that hold text, followed by those of a fixed length.
const INTERFACE_TEXTS: [u16; 5] = [COMMENT, IF_NAME, 3, 12, 15];
const INTERFACE_LENGTHS: [(u16, usize); 9] = [
    (4, 8),
    (5, 17),
    (6, 6),
    (7, 8),
    (8, 8),
    (IF_TSRESOL, 1),
    (10, 4),
    (IF_FCSLEN, 1),
    (IF_TSOFFSET, 8),
];
/// Packet options that hold text, followed by those of a fixed length.
const PACKET_TEXTS: [u16; 1] = [1];
const PACKET_LENGTHS: [(u16, usize); 2] = [(PACKET_FLAGS, 4), (PACKET_DROPCOUNT, 8)];

/// An interface of the current section.
#[derive(Debug)]
struct SectionInterface {
    /// Index in the capture, assigned when the interface is described.
    port: u32,
    link: DataLink,
    /// 0 if unlimited.
    snap_length: u32,
    ticks: Ticks,
    /// `Err` holds an invalid `if_fcslen`; it matters only for a packet that does not state its own FCS length.
    fcs_bytes: Result<u32, u8>,
    /// Whether its packets are commands of a recording rather than frames.
    is_control: bool,
}

/// Reader of a pcapng file.
#[derive(Debug)]
pub(super) struct NextGeneration {
    order: Endianness,
    section: Vec<SectionInterface>,
    names: BTreeMap<String, NamedPorts>,
    sections: u64,
}

/// The ports of the capture whose interfaces have the same name, in ascending order.
#[derive(Debug, Default)]
struct NamedPorts {
    ports: Vec<u32>,
    /// How many of them, from the first, belong to a section, and to which.
    taken: usize,
    section: u64,
}

impl NextGeneration {
    /// Creates the reader of a file that begins with a section header, which has not been read.
    pub(super) fn new() -> Self {
        Self {
            order: Endianness::Little,
            section: Vec::new(),
            names: BTreeMap::new(),
            sections: 0,
        }
    }

    /// Returns the next frame; `None` at the end of the data.
    pub(super) fn next(
        &mut self,
        data: &mut Data,
        assembly: &mut CaptureState,
    ) -> Result<Option<Frame>, CaptureError> {
        loop {
            if data.rest().is_empty() && !data.more()? {
                return Ok(None);
            }
            let found = match self.order {
                Endianness::Big => RawBlock::from_slice::<BigEndian>(data.rest()),
                Endianness::Little => RawBlock::from_slice::<LittleEndian>(data.rest()),
            };
            let (bytes, frame) = match found {
                Ok((after, raw)) => {
                    let bytes = data.rest().len() - after.len();
                    (bytes, self.block(data, &raw, assembly)?)
                }
                Err(RawBlockParseError::IncompleteBuffer(needed, _)) => {
                    let frames = assembly.frames;
                    if needed > MAX_BLOCK_BYTES {
                        let reason = format!("a block of about {needed} bytes");
                        return Err(data.malformed(frames, reason));
                    }
                    if !data.more()? {
                        return Err(data.ends_early(frames));
                    }
                    continue;
                }
                Err(RawBlockParseError::InvalidFormat(error)) => {
                    return Err(data.malformed(assembly.frames, error.to_string()));
                }
            };
            data.advance(bytes);
            if frame.is_some() {
                return Ok(frame);
            }
        }
    }

    /// Processes a block and returns its frame, if any. Irrelevant blocks are not parsed: a damaged name
    /// resolution block is no reason to refuse the frames.
    fn block(
        &mut self,
        data: &Data,
        raw: &RawBlock<'_>,
        assembly: &mut CaptureState,
    ) -> Result<Option<Frame>, CaptureError> {
        let frames_before = assembly.frames;
        let malformed = |reason: String| data.malformed(frames_before, reason);
        let body = raw.body.as_ref();
        match raw.type_ {
            SECTION_HEADER_BLOCK => self.begin_section(body).map_err(malformed)?,
            INTERFACE_DESCRIPTION_BLOCK => {
                let interface = self.describe(body, assembly).map_err(malformed)?;
                self.section.push(interface);
            }
            ENHANCED_PACKET_BLOCK | PACKET_BLOCK | SIMPLE_PACKET_BLOCK => {
                let packet = self.packet(raw.type_, body).map_err(malformed)?;
                return self.frame(data, &packet, assembly);
            }
            _ => {}
        }
        Ok(None)
    }

    fn begin_section(&mut self, body: &[u8]) -> Result<(), String> {
        // The section header states its own byte order.
        self.order = match body.first_chunk() {
            Some([0x1a, 0x2b, 0x3c, 0x4d]) => Endianness::Big,
            _ => Endianness::Little,
        };
        self.section.clear();
        self.sections += 1;
        let mut fields = Fields::new(body, self.order);
        fields.u32()?;
        match fields.u16()? {
            MAJOR_VERSION => Ok(()),
            version => Err(format!(
                "a section of version {version} of the format, of which only {MAJOR_VERSION} is known"
            )),
        }
    }

    /// Finds or creates the interface's index in the capture.
    ///
    /// A file may have several sections, each of which describes its interfaces anew. An interface with a name
    /// from an earlier section is the same port, unless this section uses the name twice: then they are two
    /// ports.
    fn describe(
        &mut self,
        body: &[u8],
        assembly: &mut CaptureState,
    ) -> Result<SectionInterface, String> {
        let section = &self.section;
        let mut fields = Fields::new(body, self.order);
        let link = DataLink::from(u32::from(fields.u16()?));
        fields.u16()?;
        let snap_length = fields.u32()?;
        let mut name = format!("interface {}", section.len());
        let mut fcs_bytes = Ok(0);
        let (mut unit, mut offset_seconds) = (MICROSECONDS, 0);
        for option in fields.options() {
            let read = option.and_then(|option| {
                match option.code {
                    IF_NAME => {
                        let text = String::from_utf8_lossy(option.value);
                        text.trim_end_matches('\0').clone_into(&mut name);
                    }
                    IF_TSRESOL => unit = option.u8()?,
                    IF_FCSLEN => fcs_bytes = fcs_length(option.u8()?),
                    IF_TSOFFSET => offset_seconds = option.i64()?,
                    _ => {}
                }
                option.check(&INTERFACE_TEXTS, &INTERFACE_LENGTHS)
            });
            assembly.notes.odd_options += u64::from(read == Err(OptionFlaw));
        }
        let is_control = is_control(u32::from(link), &name);
        // Frames do not come from a control interface.
        let port = if is_control {
            u32::MAX
        } else {
            self.port(name, assembly)
        };
        Ok(SectionInterface {
            port,
            link,
            snap_length,
            ticks: Ticks {
                unit,
                offset_seconds,
            },
            fcs_bytes,
            is_control,
        })
    }

    /// The first port of this name that the section has not taken yet.
    fn port(&mut self, name: String, assembly: &mut CaptureState) -> u32 {
        let named = self.names.entry(name.clone()).or_default();
        if named.section != self.sections {
            named.section = self.sections;
            named.taken = 0;
        }
        if named.taken == named.ports.len() {
            named.ports.push(assembly.interface(name));
        }
        named.taken += 1;
        named.ports[named.taken - 1]
    }

    fn packet<'a>(&self, kind: u32, body: &'a [u8]) -> Result<Packet<'a>, String> {
        let mut fields = Fields::new(body, self.order);
        if kind == SIMPLE_PACKET_BLOCK {
            // The packet belongs to the first interface and has no time, so it gets that of the frame before.
            let original_len = fields.u32()?;
            let snap_length = self.section.first().map_or(0, |it| it.snap_length);
            let captured = match snap_length {
                0 => original_len,
                limit => original_len.min(limit),
            };
            return Ok(Packet {
                interface: 0,
                ticks: None,
                bytes: fields.padded(captured)?,
                original_len,
                lost: 0,
                options: None,
            });
        }
        let (interface, lost) = if kind == PACKET_BLOCK {
            let (interface, drops) = (fields.u16()?, fields.u16()?);
            let lost = if drops == DROPS_UNKNOWN { 0 } else { drops };
            (u32::from(interface), u64::from(lost))
        } else {
            (fields.u32()?, 0)
        };
        let high = u64::from(fields.u32()?);
        let ticks = high << 32 | u64::from(fields.u32()?);
        let captured = fields.u32()?;
        let original_len = fields.u32()?;
        let bytes = fields.padded(captured)?;
        Ok(Packet {
            interface,
            ticks: Some(ticks),
            bytes,
            original_len,
            lost,
            options: Some(fields),
        })
    }

    /// Returns the frame of a packet; `None` if it cannot be framed.
    fn frame(
        &self,
        data: &Data,
        packet: &Packet<'_>,
        assembly: &mut CaptureState,
    ) -> Result<Option<Frame>, CaptureError> {
        let frames_before = assembly.frames;
        let malformed = |reason: String| data.malformed(frames_before, reason);
        let section = &self.section;
        let interface = section.get(packet.interface as usize).ok_or_else(|| {
            malformed(format!(
                "it names interface {}, and its section has {}",
                packet.interface,
                section.len()
            ))
        })?;
        if interface.is_control {
            assembly.notes.commands += 1;
            return Ok(None);
        }
        let Some(framing) = Framing::of(interface.link, assembly.links) else {
            let name = format!(
                "interface `{}`",
                assembly.interfaces[interface.port as usize]
            );
            let (link, links) = (interface.link, assembly.links);
            return Err(super::link::refusal(data, &name, link, links));
        };
        let (mut own_fcs, mut lost) = (0, packet.lost);
        for option in packet.options.into_iter().flat_map(Fields::options) {
            let read = option.and_then(|option| {
                if option.code == PACKET_FLAGS {
                    // Bits 5 to 8 hold the FCS length; 0 leaves it open.
                    own_fcs = option.u32()? >> 5 & 0xf;
                }
                if option.code == PACKET_DROPCOUNT {
                    lost = option.i64()?.cast_unsigned();
                }
                option.check(&PACKET_TEXTS, &PACKET_LENGTHS)
            });
            assembly.notes.odd_options += u64::from(read == Err(OptionFlaw));
        }
        assembly.notes.lost_before = assembly.notes.lost_before.saturating_add(lost);
        let fcs_bytes = match (own_fcs, interface.fcs_bytes) {
            (0, Err(length)) => {
                return Err(malformed(format!(
                    "its interface has an FCS of length {length} (if_fcslen)"
                )));
            }
            (0, Ok(length)) => length,
            (own, _) => own,
        };
        let Some((bytes, original_len)) =
            assembly.framed(framing, packet.bytes, packet.original_len)
        else {
            return Ok(None);
        };
        let record = Record {
            time_ns: packet.ticks.map(|ticks| interface.ticks.nanoseconds(ticks)),
            port: interface.port,
            bytes: &bytes,
            original_len,
            fcs_bytes,
        };
        assembly.frame(&record).map(Some).map_err(malformed)
    }
}

/// A packet as stored in its block.
struct Packet<'a> {
    interface: u32,
    ticks: Option<u64>,
    bytes: &'a [u8],
    original_len: u32,
    /// Packets lost before this one.
    lost: u64,
    options: Option<Fields<'a>>,
}

/// The specification says bits, its example and most readers use bytes; for Ethernet's FCS the two cannot be
/// confused.
fn fcs_length(field: u8) -> Result<u32, u8> {
    match field {
        0 => Ok(0),
        4 | 32 => Ok(4),
        other => Err(other),
    }
}
