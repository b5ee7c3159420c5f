//! The numbers by which the client refers to threads, frames, instructions and memory.

use npsim_debug::names::Memory;
use npsim_debug::{DebugError, Thread};

/// The first reference of an instruction: above all of 32-bit memory.
const CODE_BASE: i64 = 0x1_0000_0000;
/// The distance between the instructions of consecutive microengines.
const ME_STRIDE: i64 = 0x10_0000;
/// The number of address units per instruction.
const INSTRUCTION_STRIDE: i64 = 8;
/// A bound above all references, far below where sums of them overflow.
const ADDRESS_LIMIT: u64 = 1 << 48;
/// The base of SRAM in the core's address space, and the distance between its channels.
const SRAM: u32 = 0x8000_0000;
const CHANNEL: u32 = 0x1000_0000;
/// The base of the scratchpad in the core's address space.
const SCRATCH: u32 = 0xca00_0000;

/// The number of a thread, from 1.
pub(super) fn thread_id(thread: Thread) -> i64 {
    i64::from(thread.me) * 8 + i64::from(thread.context) + 1
}

/// The thread with a number.
pub(super) fn thread(id: i64) -> Result<Thread, DebugError> {
    let number = id.saturating_sub(1);
    u8::try_from(number.div_euclid(8))
        .ok()
        .filter(|_| number >= 0)
        .map(|me| Thread {
            me,
            context: number.rem_euclid(8) as u8,
        })
        .ok_or_else(|| DebugError::new(format!("there is no thread {id}")))
}

/// The number of a stack frame of a thread; frame 0 is the innermost.
pub(super) fn frame_id(thread: Thread, frame: usize) -> i64 {
    thread_id(thread) << 8 | (frame as i64 & 0xff)
}

/// The thread of a frame.
pub(super) fn thread_of_frame(frame: i64) -> Result<Thread, DebugError> {
    thread(frame >> 8)
}

/// The reference to an instruction.
pub(super) fn code(me: u8, pc: i64) -> i64 {
    CODE_BASE + i64::from(me) * ME_STRIDE + pc * INSTRUCTION_STRIDE
}

/// The microengine and the address of the referenced instruction; the address may lie outside any
/// program.
pub(super) fn instruction(reference: i64) -> Result<(u8, i64), DebugError> {
    let offset = reference - CODE_BASE;
    let me = u8::try_from(offset.div_euclid(ME_STRIDE)).ok();
    me.map(|me| {
        (
            me,
            offset.rem_euclid(ME_STRIDE).div_euclid(INSTRUCTION_STRIDE),
        )
    })
    .ok_or_else(|| {
        DebugError::new(format!(
            "{reference:#x} is not the address of an instruction"
        ))
    })
}

/// The address at `offset` from one that a client sent, if that is in range.
pub(super) fn address_at(text: &str, offset: i64) -> Result<i64, DebugError> {
    let address = number(text)?.checked_add(offset);
    let address = address.filter(|it| it.unsigned_abs() <= ADDRESS_LIMIT);
    address.ok_or_else(|| DebugError::new(format!("there is no address {offset} after `{text}`")))
}

/// Parses a number sent by a client.
fn number(text: &str) -> Result<i64, DebugError> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| DebugError::new(format!("`{text}` is not an address")))
}

/// The memory at an address of the core, and the address within that memory.
pub(super) fn memory(address: i64) -> Result<(Memory, u32), DebugError> {
    let none = || DebugError::new(format!("there is no memory at {address:#x}"));
    let address = u32::try_from(address).map_err(|_| none())?;
    match address {
        ..SRAM => Ok((Memory::Dram, address)),
        SRAM..0xc000_0000 => {
            let offset = address - SRAM;
            Ok((Memory::Sram((offset / CHANNEL) as u8), offset % CHANNEL))
        }
        SCRATCH..0xcb00_0000 => Ok((Memory::Scratch, address - SCRATCH)),
        _ => Err(none()),
    }
}

/// The address at which the core sees a longword; `None` for local memory.
pub(super) fn memory_address(memory: Memory, address: u32) -> Option<i64> {
    let base = match memory {
        Memory::Dram => 0,
        Memory::Sram(channel) => SRAM + u32::from(channel) * CHANNEL,
        Memory::Scratch => SCRATCH,
        Memory::Local => return None,
    };
    Some(i64::from(base) + i64::from(address))
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes as base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let get = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = get(0) << 16 | get(1) << 8 | get(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() {
                digit as char
            } else {
                '='
            });
        }
    }
    text
}

/// Decodes base64 text.
pub(super) fn from_base64(text: &str) -> Result<Vec<u8>, DebugError> {
    let wrong = || DebugError::new("the data is not base64");
    let mut bytes = Vec::new();
    let plain = text.trim_end_matches('=').as_bytes();
    if plain.len() % 4 == 1 {
        return Err(wrong());
    }
    for chunk in plain.chunks(4) {
        let mut bits = 0;
        for at in 0..4 {
            let digit = match chunk.get(at) {
                Some(c) => DIGITS.iter().position(|it| it == c).ok_or_else(wrong)?,
                None => 0,
            };
            bits = bits << 6 | digit as u32;
        }
        let whole = bits.to_be_bytes();
        bytes.extend_from_slice(&whole[1..chunk.len()]);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_through_base64() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes), text);
            assert_eq!(from_base64(text).unwrap(), bytes);
        }
        assert!(from_base64("Z").is_err() && from_base64("Zg!=").is_err());
    }

    #[test]
    fn out_of_range_addresses_are_refused() {
        assert_eq!(address_at("0x100", -4), Ok(0xfc));
        for (text, offset) in [
            ("0x7fffffffffffffff", 1),
            ("0", i64::MIN),
            ("-9223372036854775808", -1),
            ("0x1000000000000", 1),
            ("12k", 0),
        ] {
            assert!(address_at(text, offset).is_err(), "{text} {offset}");
        }
        assert!(thread(i64::MIN).is_err() && thread(i64::MAX).is_err());
    }

    #[test]
    fn addresses_and_references_round_trip() {
        for memory_ in [
            Memory::Scratch,
            Memory::Sram(0),
            Memory::Sram(3),
            Memory::Dram,
        ] {
            let address = memory_address(memory_, 0x104).unwrap();
            assert_eq!(memory(address), Ok((memory_, 0x104)));
        }
        assert!(memory(0xd000_0000).is_err() && memory(-4).is_err());
        let thread_ = Thread { me: 4, context: 3 };
        assert_eq!(thread(thread_id(thread_)), Ok(thread_));
        assert!(thread(0).is_err());
        assert_eq!(instruction(code(3, 17)), Ok((3, 17)));
    }
}
