//! Classic pcap.

use pcap_file::pcap::{PcapParseError, PcapParser, PcapTsResolution};
use pcap_file::{DataLink, Endianness};

use super::assembly::{Assembly, Record};
use super::{CaptureError, MAX_FRAME_BYTES, Source};

/// Set in the link type field when bits 28 to 31 hold the length of the FCS in units of 16 bits.
const FCS_LENGTH_PRESENT: u32 = 0x0400_0000;

pub(super) fn read(source: &Source<'_>) -> Result<Assembly, CaptureError> {
    let mut assembly = Assembly::default();
    let Ok((mut rest, parser)) = PcapParser::new(source.bytes) else {
        // The magic number is known, so only a short header is left as a cause.
        return Err(source.ends_early(0, 0));
    };
    let header = parser.header();
    let field = u32::from(header.datalink);
    let link = DataLink::from(field & 0xffff);
    let fcs_bytes = if field & FCS_LENGTH_PRESENT == 0 {
        0
    } else {
        (field >> 28) * 2
    };
    if link != DataLink::ETHERNET {
        return Err(super::link::refusal(source, "its interface", link));
    }
    let ticks_per_second = match header.ts_resolution {
        PcapTsResolution::MicroSecond => 1_000_000,
        PcapTsResolution::NanoSecond => 1_000_000_000,
    };
    let port = assembly.interface("interface 0".to_string());

    while !rest.is_empty() {
        let offset = source.bytes.len() - rest.len();
        let malformed = |reason: String| source.malformed(assembly.len(), offset, reason);
        // The raw form: the checked one also refuses frames longer than the snap length in the
        // header, which real writers leave at 0 or too low.
        let packet = match parser.next_raw_packet(rest) {
            Ok((after, packet)) => {
                rest = after;
                packet
            }
            Err(PcapParseError::IncompleteBuffer(..)) => {
                return Err(match claimed_length(rest, header.endianness) {
                    Some(length) if length as usize > MAX_FRAME_BYTES => malformed(format!(
                        "a frame of {length} bytes, more than the {MAX_FRAME_BYTES} that a capture can hold"
                    )),
                    _ => source.ends_early(assembly.len(), offset),
                });
            }
            Err(error) => return Err(malformed(error.to_string())),
        };
        if packet.ts_frac >= ticks_per_second {
            return Err(malformed(format!(
                "the time has {} of {ticks_per_second} parts of a second",
                packet.ts_frac
            )));
        }
        let fraction_ns = u64::from(packet.ts_frac) * (1_000_000_000 / u64::from(ticks_per_second));
        let record = Record {
            time_ns: Some(u64::from(packet.ts_sec) * 1_000_000_000 + fraction_ns),
            port,
            bytes: &packet.data,
            original_len: packet.orig_len,
            fcs_bytes,
        };
        let frames_before = assembly.len();
        assembly
            .push(&record)
            .map_err(|reason| source.malformed(frames_before, offset, reason))?;
    }
    Ok(assembly)
}

/// The captured length that a record header at the start of `rest` states.
fn claimed_length(rest: &[u8], order: Endianness) -> Option<u32> {
    let field = rest.get(8..12)?.try_into().ok()?;
    Some(match order {
        Endianness::Big => u32::from_be_bytes(field),
        Endianness::Little => u32::from_le_bytes(field),
    })
}
