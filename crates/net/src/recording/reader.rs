//! Reads a recording packet by packet.

use std::io::Read;
use std::path::Path;

use byteorder_slice::{BigEndian, LittleEndian};
use pcap_file::Endianness;
use pcap_file::pcapng::blocks::{
    ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, SECTION_HEADER_BLOCK,
};
use pcap_file::pcapng::{RawBlock, RawBlockParseError};

use super::{CONTROL, PICOSECONDS, RecordingHead, is_control};
use crate::capture::data::Data;
use crate::capture::fields::Fields;
use crate::capture::{CaptureError, MAX_FRAME_BYTES};
use crate::egress::CapturePort;
use crate::option_codes::{COMMENT, IF_NAME, IF_SPEED, IF_TSOFFSET, IF_TSRESOL};

/// More bytes than the longest block that is written.
const MAX_BLOCK_BYTES: usize = 2 * MAX_FRAME_BYTES;

/// An entry of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// A frame that arrived.
    Frame {
        /// When the first bit of its preamble arrived, in picoseconds since cycle 0.
        at_ps: u64,
        /// The port.
        port: u32,
        /// The frame without its FCS.
        bytes: Vec<u8>,
    },
    /// A command from outside.
    Control {
        /// When it takes effect, in picoseconds since cycle 0.
        at_ps: u64,
        /// The command.
        text: String,
    },
}

/// Reads a recording. A recording that ends inside a block, because the run was killed or the file
/// was copied during the run, is read up to that block.
#[derive(Debug)]
pub struct RecordingReader {
    data: Data,
    order: Endianness,
    head: RecordingHead,
    /// Number of the command interface, once known.
    control: Option<u32>,
    frames: u64,
    cut: u64,
    done: bool,
}

/// The kind of a block.
enum Found {
    /// Part of the header, or irrelevant.
    Other,
    Packet(Recorded),
    End,
}

impl RecordingReader {
    /// Opens a recording; `path` is used in errors.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a recording.
    pub fn new(path: &Path, input: Box<dyn Read + Send>) -> Result<Self, CaptureError> {
        let mut data = Data::new(path, input)?;
        let foreign = |reason: &str| CaptureError::NotARecording {
            path: path.to_path_buf(),
            reason: reason.to_owned(),
        };
        let begins = [0x0a, 0x0d, 0x0d, 0x0a];
        data.fill(begins.len())?;
        if !data.rest().starts_with(&begins) {
            return Err(foreign("it is not in pcapng"));
        }
        let (order, comment) = loop {
            match RawBlock::from_slice::<LittleEndian>(data.rest()) {
                Ok((after, raw)) => {
                    let bytes = data.rest().len() - after.len();
                    let read = section(&raw.body);
                    data.advance(bytes);
                    break read.map_err(|reason| data.malformed(0, reason))?;
                }
                Err(RawBlockParseError::IncompleteBuffer(needed, _))
                    if needed <= MAX_BLOCK_BYTES => {}
                Err(_) => return Err(foreign("its header is damaged")),
            }
            if !data.more()? {
                return Err(foreign("its header is not whole"));
            }
        };
        if !comment
            .as_deref()
            .is_some_and(RecordingHead::is_recording_comment)
        {
            return Err(foreign("its header does not say so"));
        }
        let head = { RecordingHead::read(&comment.unwrap_or_default()) }
            .map_err(|reason| foreign(&reason))?;
        let mut reader = Self {
            data,
            order,
            head,
            control: None,
            frames: 0,
            cut: 0,
            done: false,
        };
        // The command interface is the last one.
        while reader.control.is_none() {
            match reader.block()? {
                Found::Other => {}
                Found::Packet(_) | Found::End => {
                    return Err(foreign("not all of its interfaces are described"));
                }
            }
        }
        Ok(reader)
    }

    /// Returns the description of the run.
    #[must_use]
    pub fn head(&self) -> &RecordingHead {
        &self.head
    }

    /// Returns the number of frames read so far.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the bytes of the incomplete block at the end of the file; 0 if the file ends with a
    /// whole one.
    #[must_use]
    pub fn incomplete_bytes(&self) -> u64 {
        self.cut
    }

    fn foreign(&self, reason: String) -> CaptureError {
        CaptureError::NotARecording {
            path: self.data.path().to_path_buf(),
            reason,
        }
    }

    /// Reads the next block.
    fn block(&mut self) -> Result<Found, CaptureError> {
        loop {
            if self.data.rest().is_empty() && !self.data.more()? {
                return Ok(Found::End);
            }
            let found = match self.order {
                Endianness::Big => RawBlock::from_slice::<BigEndian>(self.data.rest()),
                Endianness::Little => RawBlock::from_slice::<LittleEndian>(self.data.rest()),
            };
            let frames = self.frames;
            match found {
                Ok((after, raw)) => {
                    let bytes = self.data.rest().len() - after.len();
                    let (kind, body) = (raw.type_, raw.body.into_owned());
                    let found = match kind {
                        SECTION_HEADER_BLOCK => {
                            let reason = "it has several sections, as joined captures have";
                            return Err(self.foreign(reason.to_owned()));
                        }
                        INTERFACE_DESCRIPTION_BLOCK => {
                            let described = self.describe(&body);
                            described.map_err(|reason| self.foreign(reason))?;
                            Found::Other
                        }
                        ENHANCED_PACKET_BLOCK => {
                            let packet = self.packet(&body);
                            Found::Packet(
                                packet.map_err(|reason| self.data.malformed(frames, reason))?,
                            )
                        }
                        _ => Found::Other,
                    };
                    self.data.advance(bytes);
                    return Ok(found);
                }
                Err(RawBlockParseError::IncompleteBuffer(needed, _)) => {
                    if needed > MAX_BLOCK_BYTES {
                        let reason = format!("a block of about {needed} bytes");
                        return Err(self.data.malformed(frames, reason));
                    }
                    if !self.data.more()? {
                        self.cut = self.data.rest().len() as u64;
                        return Ok(Found::End);
                    }
                }
                Err(RawBlockParseError::InvalidFormat(error)) => {
                    return Err(self.data.malformed(frames, error.to_string()));
                }
            }
        }
    }

    /// Processes an interface description.
    fn describe(&mut self, body: &[u8]) -> Result<(), String> {
        let mut fields = Fields::new(body, self.order);
        let link = fields.u16()?;
        fields.u16()?;
        fields.u32()?;
        let (mut name, mut speed) = (String::new(), 0);
        let (mut unit, mut offset) = (0, 0);
        for option in fields.options() {
            let flaw = |_| "an option of an interface is damaged".to_owned();
            let option = option.map_err(flaw)?;
            match option.code {
                IF_NAME => name = String::from_utf8_lossy(option.value).into_owned(),
                IF_SPEED => speed = option.i64().map_err(flaw)?.cast_unsigned(),
                IF_TSRESOL => unit = option.u8().map_err(flaw)?,
                IF_TSOFFSET => offset = option.i64().map_err(flaw)?.cast_unsigned(),
                _ => {}
            }
        }
        if unit != PICOSECONDS || offset != self.head.start_seconds {
            return Err(format!(
                "the times of its interface `{name}` are not picoseconds of simulated time; another program has rewritten it"
            ));
        }
        if self.control.is_some() {
            return Err(format!("it has an interface `{name}` behind `{CONTROL}`"));
        }
        let number = self.head.ports.len() as u32;
        if is_control(u32::from(link), &name) {
            self.control = Some(number);
        } else {
            let bits_per_second = speed;
            self.head.ports.push(CapturePort {
                name,
                bits_per_second,
            });
        }
        Ok(())
    }

    fn packet(&mut self, body: &[u8]) -> Result<Recorded, String> {
        let mut fields = Fields::new(body, self.order);
        let interface = fields.u32()?;
        let high = u64::from(fields.u32()?);
        let at_ps = high << 32 | u64::from(fields.u32()?);
        let captured = fields.u32()?;
        let whole = fields.u32()?;
        let bytes = fields.padded(captured)?;
        if self.control == Some(interface) {
            let text = String::from_utf8_lossy(bytes).into_owned();
            return Ok(Recorded::Control { at_ps, text });
        }
        if interface as usize >= self.head.ports.len() {
            return Err(format!(
                "it names interface {interface}, and there are {}",
                self.head.ports.len() + 1
            ));
        }
        if whole != captured {
            return Err(format!(
                "{captured} bytes of a frame of {whole}, so the frame is incomplete"
            ));
        }
        self.frames += 1;
        Ok(Recorded::Frame {
            at_ps,
            port: interface,
            bytes: bytes.to_vec(),
        })
    }
}

impl Iterator for RecordingReader {
    type Item = Result<Recorded, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            match self.block() {
                Ok(Found::Other) => {}
                Ok(Found::Packet(packet)) => return Some(Ok(packet)),
                Ok(Found::End) => self.done = true,
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// Reads the byte order and the comment of a section.
fn section(body: &[u8]) -> Result<(Endianness, Option<String>), String> {
    let order = match body.first_chunk() {
        Some([0x1a, 0x2b, 0x3c, 0x4d]) => Endianness::Big,
        _ => Endianness::Little,
    };
    let mut fields = Fields::new(body, order);
    for _ in 0..4 {
        fields.u32()?;
    }
    let mut options = fields.options().filter_map(Result::ok);
    let comment = options.find(|option| option.code == COMMENT);
    let text = comment.map(|option| String::from_utf8_lossy(option.value).into_owned());
    Ok((order, text))
}
