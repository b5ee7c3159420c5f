//! Classic pcap.

use pcap_file::pcap::{PcapParseError, PcapParser, PcapTsResolution, RawPcapPacket};
use pcap_file::{DataLink, Endianness};

use super::assembly::{CaptureState, Record};
use super::data::Data;
use super::link::Framing;
use super::{CaptureError, MAX_FRAME_BYTES};
use crate::Frame;

/// Set in the link type field when bits 28 to 31 hold the length of the FCS in units of 16 bits.
const FCS_LENGTH_PRESENT: u32 = 0x0400_0000;

/// Reader of a classic pcap file whose header has been read.
#[derive(Debug)]
pub(super) struct Classic {
    parser: PcapParser,
    port: u32,
    framing: Framing,
    fcs_bytes: u32,
    ticks_per_second: u32,
}

impl Classic {
    pub(super) fn open(data: &mut Data, assembly: &mut CaptureState) -> Result<Self, CaptureError> {
        let (header_bytes, parser) = loop {
            // The magic number has been recognised, so the only thing that can be wrong is a short
            // header.
            if let Ok((after, parser)) = PcapParser::new(data.rest()) {
                break (data.rest().len() - after.len(), parser);
            }
            if !data.more()? {
                return Err(data.ends_early(0));
            }
        };
        let header = parser.header();
        let field = u32::from(header.datalink);
        let link = DataLink::from(field & 0xffff);
        let Some(framing) = Framing::of(link, assembly.links) else {
            let links = assembly.links;
            return Err(super::link::refusal(data, "its interface", link, links));
        };
        data.advance(header_bytes);
        Ok(Self {
            parser,
            framing,
            port: assembly.interface("interface 0".to_string()),
            fcs_bytes: if field & FCS_LENGTH_PRESENT == 0 {
                0
            } else {
                (field >> 28) * 2
            },
            ticks_per_second: match header.ts_resolution {
                PcapTsResolution::MicroSecond => 1_000_000,
                PcapTsResolution::NanoSecond => 1_000_000_000,
            },
        })
    }

    pub(super) fn name(&self) -> &'static str {
        if self.ticks_per_second == 1_000_000 {
            "pcap, microseconds"
        } else {
            "pcap, nanoseconds"
        }
    }

    /// Returns the next frame; `None` at the end of the data.
    pub(super) fn next(
        &self,
        data: &mut Data,
        assembly: &mut CaptureState,
    ) -> Result<Option<Frame>, CaptureError> {
        let frames_before = assembly.frames;
        loop {
            if data.rest().is_empty() && !data.more()? {
                return Ok(None);
            }
            // Use the raw form: the checked one also refuses frames longer than the snap length in
            // the header, which real writers leave at 0 or set too low.
            match self.parser.next_raw_packet(data.rest()) {
                Ok((after, packet)) => {
                    let bytes = data.rest().len() - after.len();
                    let frame = self
                        .frame(&packet, assembly)
                        .map_err(|reason| data.malformed(frames_before, reason))?;
                    data.advance(bytes);
                    if frame.is_some() {
                        return Ok(frame);
                    }
                    continue;
                }
                Err(PcapParseError::IncompleteBuffer(..)) => {}
                Err(error) => return Err(data.malformed(frames_before, error.to_string())),
            }
            let order = self.parser.header().endianness;
            match claimed_length(data.rest(), order) {
                Some(length) if length as usize > MAX_FRAME_BYTES => {
                    return Err(data.malformed(
                        frames_before,
                        format!(
                            "a frame of {length} bytes, more than the {MAX_FRAME_BYTES} that a capture can hold"
                        ),
                    ));
                }
                _ => {}
            }
            if !data.more()? {
                return Err(data.ends_early(frames_before));
            }
        }
    }

    /// Returns the frame of a packet; `None` if it cannot be framed.
    fn frame(
        &self,
        packet: &RawPcapPacket<'_>,
        assembly: &mut CaptureState,
    ) -> Result<Option<Frame>, String> {
        let ticks_per_second = self.ticks_per_second;
        let framed = assembly.framed(self.framing, &packet.data, packet.orig_len);
        let Some((bytes, original_len)) = framed else {
            return Ok(None);
        };
        // As in all capture readers, anything beyond a second is carried over.
        assembly.notes.overflowing_times += u64::from(packet.ts_frac >= ticks_per_second);
        let fraction_ns =
            i128::from(packet.ts_frac) * (1_000_000_000 / i128::from(ticks_per_second));
        let frame = assembly.frame(&Record {
            time_ns: Some(i128::from(packet.ts_sec) * 1_000_000_000 + fraction_ns),
            port: self.port,
            bytes: &bytes,
            original_len,
            fcs_bytes: self.fcs_bytes,
        });
        frame.map(Some)
    }
}

/// Returns the captured length stated by the record header at the start of `rest`.
fn claimed_length(rest: &[u8], order: Endianness) -> Option<u32> {
    let field = rest.get(8..12)?.try_into().ok()?;
    Some(match order {
        Endianness::Big => u32::from_be_bytes(field),
        Endianness::Little => u32::from_le_bytes(field),
    })
}
