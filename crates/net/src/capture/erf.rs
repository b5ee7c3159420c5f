//! ERF, the extensible record format of Endace's capture cards: a sequence of records without a
//! file header.
//!
//! A record has a time (32.32 bits of seconds, little-endian), type, flags, its length, a loss
//! count or a colour, and the length on the wire; then extension headers of eight bytes each, for
//! as long as bit 7 of the previous header is set; then, for Ethernet, two bytes of padding and the
//! frame, padded to a multiple of eight bytes. The length on the wire includes the FCS.

use std::path::Path;

use super::assembly::{CaptureState, Record};
use super::data::Data;
use super::link::Framing;
use super::{CaptureError, LinkTypes};
use crate::Frame;

/// Bytes of a record before its extension headers.
const HEADER: usize = 16;
/// Bytes of an extension header.
const EXTENSION: usize = 8;
/// Type flag: more headers follow.
const MORE_HEADERS: u8 = 0x80;
/// Number of records inspected to recognise the format.
const DETECTION_RECORDS: usize = 8;

/// Content of the records of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Ethernet frames; `losses` if the record has a loss count where others have a colour.
    Ethernet { losses: bool },
    /// Packets without a link header.
    Ip,
    /// Metadata of the capture, or padding.
    NoPacket,
    /// Frames of another link type.
    Other(&'static str),
}

impl Content {
    /// Returns the content of a record type; `None` if the type does not exist.
    fn of(kind: u8) -> Option<Self> {
        Some(match kind & !MORE_HEADERS {
            2 => Self::Ethernet { losses: true },
            11 | 16 | 20 => Self::Ethernet { losses: false },
            22 | 23 => Self::Ip,
            27 | 48 => Self::NoPacket,
            1 | 10 | 15 | 19 => Self::Other("HDLC or PPP over SONET"),
            3 | 4 | 7 | 9 | 12 | 18 => Self::Other("ATM"),
            5 | 6 | 8 | 17 => Self::Other("channels of a multiplexed link"),
            13 | 14 => Self::Other("counters"),
            21 | 25 => Self::Other("InfiniBand"),
            24 => Self::Other("a raw link"),
            _ => return None,
        })
    }

    /// Returns the number of bytes between the headers and the frame.
    const fn padding(self) -> usize {
        match self {
            Self::Ethernet { .. } => 2,
            _ => 0,
        }
    }
}

/// The fixed part of a record.
#[derive(Clone, Copy, Debug)]
struct Header {
    /// Units of 2^-32 seconds since 1970.
    ticks: u64,
    kind: u8,
    flags: u8,
    length: usize,
    /// Frames lost before this one, or a colour.
    lost: u16,
    on_wire: u16,
}

impl Header {
    fn of(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER] = bytes.first_chunk()?;
        let [
            t0,
            t1,
            t2,
            t3,
            t4,
            t5,
            t6,
            t7,
            kind,
            flags,
            r0,
            r1,
            l0,
            l1,
            w0,
            w1,
        ] = *bytes;
        Some(Self {
            ticks: u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]),
            kind,
            flags,
            length: usize::from(u16::from_be_bytes([r0, r1])),
            lost: u16::from_be_bytes([l0, l1]),
            on_wire: u16::from_be_bytes([w0, w1]),
        })
    }

    fn time_ns(self) -> i128 {
        (i128::from(self.ticks) * 1_000_000_000) >> 32
    }

    fn interface(self) -> u32 {
        u32::from(self.flags & 3)
    }
}

/// Returns the offset at which a record's headers end; `None` if the record ends before that.
fn headers_end(record: &[u8]) -> Option<usize> {
    let mut end = HEADER;
    let mut kind = *record.get(8)?;
    while kind & MORE_HEADERS != 0 {
        kind = *record.get(end)?;
        end += EXTENSION;
    }
    (end <= record.len()).then_some(end)
}

/// Reader of an ERF file.
#[derive(Debug)]
pub(super) struct Erf;

impl Erf {
    /// Whether a file is ERF. The format has no magic number, so a file counts as ERF if it parses
    /// as a sequence of records, or if its name ends in `.erf`.
    pub(super) fn recognises(path: &Path, bytes: &[u8]) -> bool {
        !bytes.is_empty() && (has_erf_name(path) || begins_with_records(bytes))
    }

    /// Returns the next frame; `None` at the end of the data.
    pub(super) fn next(
        data: &mut Data,
        assembly: &mut CaptureState,
    ) -> Result<Option<Frame>, CaptureError> {
        let before = assembly.frames;
        loop {
            data.fill(HEADER)?;
            if data.rest().is_empty() {
                return Ok(None);
            }
            let Some(header) = Header::of(data.rest()) else {
                return Err(data.ends_early(before));
            };
            let Some(content) = Content::of(header.kind) else {
                let kind = header.kind & !MORE_HEADERS;
                let reason = format!("{kind} is not a type of ERF records");
                return Err(data.malformed(before, reason));
            };
            if header.length < HEADER {
                let reason = format!(
                    "a record of {} bytes, shorter than its header of {HEADER}",
                    header.length
                );
                return Err(data.malformed(before, reason));
            }
            data.fill(header.length)?;
            let Some(record) = data.rest().get(..header.length) else {
                return Err(data.ends_early(before));
            };
            let framing = match content {
                Content::Ethernet { .. } => Some(Framing::Ethernet),
                Content::Ip if assembly.links == LinkTypes::Framed => Some(Framing::Raw),
                Content::NoPacket => None,
                Content::Ip | Content::Other(_) => {
                    return Err(refusal(data, header, content));
                }
            };
            let frame = match framing {
                None => Ok(None),
                Some(framing) => frame((header, record), content, framing, assembly),
            };
            let frame = frame.map_err(|reason| data.malformed(before, reason))?;
            data.advance(header.length);
            if frame.is_some() {
                return Ok(frame);
            }
        }
    }
}

/// Returns the frame of a record; `None` for a packet that cannot be framed.
fn frame(
    (header, record): (Header, &[u8]),
    content: Content,
    framing: Framing,
    assembly: &mut CaptureState,
) -> Result<Option<Frame>, String> {
    let carried = headers_end(record)
        .and_then(|end| record.get(end + content.padding()..))
        .ok_or_else(|| {
            format!(
                "a record of {} bytes, shorter than its headers",
                header.length
            )
        })?;
    // Up to seven bytes of padding follow the frame.
    let on_wire = usize::from(header.on_wire);
    let captured = if carried.len() < on_wire + EXTENSION {
        &carried[..carried.len().min(on_wire)]
    } else {
        carried
    };
    while assembly.interfaces.len() <= header.interface() as usize {
        let number = assembly.interfaces.len();
        assembly.interface(format!("interface {number}"));
    }
    if content == (Content::Ethernet { losses: true }) {
        assembly.notes.lost_before += u64::from(header.lost);
    }
    let framed = assembly.framed(framing, captured, u32::from(header.on_wire));
    let Some((bytes, original_len)) = framed else {
        return Ok(None);
    };
    let record = Record {
        time_ns: Some(header.time_ns()),
        port: header.interface(),
        bytes: &bytes,
        original_len,
        fcs_bytes: if framing == Framing::Ethernet { 4 } else { 0 },
    };
    assembly.frame(&record).map(Some)
}

fn refusal(data: &Data, header: Header, content: Content) -> CaptureError {
    let kind = header.kind & !MORE_HEADERS;
    let (what, hint) = match content {
        Content::Other(what) => (
            what,
            "capture again on an Ethernet port, or take the Ethernet records alone (`editcap -F pcap IN OUT`)",
        ),
        _ => (
            "IP packets",
            "`--link` frames its packets with made-up Ethernet addresses",
        ),
    };
    CaptureError::LinkType {
        path: data.path().to_path_buf(),
        interface: format!("interface {}", header.interface()),
        found: format!("ERF {kind} ({what})"),
        hint: hint.to_owned(),
    }
}

/// Whether a name ends in `.erf`, optionally followed by an extension of compressed files.
fn has_erf_name(path: &Path) -> bool {
    let ends = |path: &Path, ending: &str| {
        path.extension()
            .is_some_and(|it| it.eq_ignore_ascii_case(ending))
    };
    if ends(path, "gz") || ends(path, "zst") {
        return ends(&path.with_extension(""), "erf");
    }
    ends(path, "erf")
}

/// Whether the data begin with two plausible records, or are a single one: known types, consistent
/// lengths, and times that go back by no more than a second.
fn begins_with_records(bytes: &[u8]) -> bool {
    let (mut rest, mut records, mut last) = (bytes, 0, 0);
    while records < DETECTION_RECORDS
        && let Some(header) = Header::of(rest)
    {
        let (Some(content), second) = (Content::of(header.kind), 1 << 32) else {
            return false;
        };
        if header.ticks == 0 || header.ticks.saturating_add(second) < last {
            return false;
        }
        last = header.ticks;
        if header.length < HEADER {
            return false;
        }
        let Some(record) = rest.get(..header.length) else {
            break;
        };
        let Some(end) = headers_end(record) else {
            return false;
        };
        let room = usize::from(header.on_wire) + EXTENSION;
        let fits = record.len() < end + content.padding() + room;
        if content != Content::NoPacket && !fits {
            return false;
        }
        rest = &rest[header.length..];
        records += 1;
    }
    records > 1 || (records == 1 && rest.is_empty())
}
