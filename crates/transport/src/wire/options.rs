//! The options of a TCP header.

use serde::{Deserialize, Serialize};

use super::WireError;
use super::xcp_option::{self, XcpOption};

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const QUICK_START_RESPONSE: u8 = 27;

/// The header's name in errors.
const WHAT: &str = "the TCP header";
/// Most bytes of options: a data offset of 15 longwords.
const ROOM: usize = 40;
/// The largest shift that RFC 7323 allows.
pub(crate) const MAX_WINDOW_SCALE: u8 = 14;

/// Timestamps of RFC 7323, in the sender's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The peer's clock as received.
    pub echo: u32,
}

/// The answer to a rate request (RFC 4782, section 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartResponse {
    /// The approved rate code (4 bits).
    pub rate: u8,
    /// IP TTL minus Quick-Start TTL of the request, modulo 256.
    pub ttl_difference: u8,
    /// The nonce as received (30 bits).
    pub nonce: u32,
}

/// Up to four SACK blocks in the order of the option (RFC 2018), each with the first sequence number
/// and the one after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SackBlocks {
    blocks: [(u32, u32); Self::MAX_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Number of blocks that fit into a header without other options.
    pub const MAX_BLOCKS: usize = 4;

    /// Adds a block; returns false if there is no room for it.
    pub fn push(&mut self, first: u32, after: u32) -> bool {
        let free = self.blocks.get_mut(usize::from(self.count));
        let fits = free.is_some();
        if let Some(place) = free {
            *place = (first, after);
            self.count += 1;
        }
        fits
    }

    /// Returns the blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The options that endpoints use; others are skipped when a header is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpOptions {
    /// Largest segment that the sender of the option accepts, payload and options.
    pub mss: Option<u16>,
    /// Shift of the windows that the sender of the option announces.
    pub window_scale: Option<u8>,
    /// Whether SACK blocks are understood.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Quick-Start response.
    pub quick_start: Option<QuickStartResponse>,
    /// XCP as a TCP option.
    pub xcp: Option<XcpOption>,
}

impl TcpOptions {
    /// Returns the number of bytes on the wire, a multiple of 4. More than 40 do not fit into a header.
    #[must_use]
    pub fn length(&self) -> usize {
        let mut length = 0;
        length += if self.mss.is_some() { 4 } else { 0 };
        length += if self.window_scale.is_some() { 4 } else { 0 };
        length += if self.sack_permitted { 4 } else { 0 };
        length += if self.timestamps.is_some() { 12 } else { 0 };
        length += if self.quick_start.is_some() { 8 } else { 0 };
        length += self.xcp.map_or(0, XcpOption::length);
        if !self.sack.is_empty() {
            length += 4 + 8 * self.sack.as_slice().len();
        }
        length
    }

    /// Returns how many SACK blocks fit in addition to the present options.
    #[must_use]
    pub fn room_for_blocks(&self) -> usize {
        (ROOM.saturating_sub(self.length() + 4) / 8).min(SackBlocks::MAX_BLOCKS)
    }

    /// Appends the options. Each is padded to longwords by preceding no-operations, as is customary.
    pub(super) fn append(&self, bytes: &mut Vec<u8>) -> Result<(), WireError> {
        let needed = self.length();
        if needed > ROOM {
            return Err(WireError::OptionsTooLong { needed });
        }
        if let Some(mss) = self.mss {
            bytes.extend([MSS, 4]);
            bytes.extend(mss.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            bytes.extend([NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        if self.sack_permitted {
            bytes.extend([NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
        }
        if let Some(timestamps) = self.timestamps {
            bytes.extend([NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10]);
            bytes.extend(timestamps.value.to_be_bytes());
            bytes.extend(timestamps.echo.to_be_bytes());
        }
        if let Some(response) = self.quick_start {
            bytes.extend([QUICK_START_RESPONSE, 8]);
            bytes.extend([response.rate & 0xf, response.ttl_difference]);
            bytes.extend((response.nonce << 2).to_be_bytes());
        }
        if let Some(option) = self.xcp {
            option.append(bytes);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            bytes.extend([NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * blocks.len() as u8]);
            for (first, after) in blocks {
                bytes.extend(first.to_be_bytes());
                bytes.extend(after.to_be_bytes());
            }
        }
        Ok(())
    }

    /// Parses the options of a header.
    ///
    /// # Errors
    ///
    /// Returns an error if an option runs past the end, has an invalid length, or occurs twice.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Result<Self, WireError> {
        let mut options = Self::default();
        while let Some((&kind, rest)) = bytes.split_first() {
            match kind {
                END => break,
                NO_OPERATION => bytes = rest,
                _ => {
                    let overrun = WireError::OptionOverrun { what: WHAT, kind };
                    let &length = rest.first().ok_or(overrun)?;
                    let data = bytes.get(2..usize::from(length)).ok_or(overrun)?;
                    options.take(kind, data)?;
                    bytes = &bytes[usize::from(length)..];
                }
            }
        }
        Ok(options)
    }

    fn take(&mut self, kind: u8, data: &[u8]) -> Result<(), WireError> {
        let wrong = WireError::OptionLength {
            what: WHAT,
            kind,
            length: data.len() as u8 + 2,
        };
        let word =
            |at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        let twice = match (kind, data) {
            (MSS, &[a, b]) => self.mss.replace(u16::from_be_bytes([a, b])).is_some(),
            // RFC 7323, section 2.3: a larger shift is treated as 14.
            (WINDOW_SCALE, &[shift]) => {
                let shift = shift.min(MAX_WINDOW_SCALE);
                self.window_scale.replace(shift).is_some()
            }
            (SACK_PERMITTED, []) => std::mem::replace(&mut self.sack_permitted, true),
            (TIMESTAMPS, data) if data.len() == 8 => {
                let (value, echo) = (word(0), word(4));
                self.timestamps
                    .replace(Timestamps { value, echo })
                    .is_some()
            }
            (QUICK_START_RESPONSE, data) if data.len() == 6 => {
                let response = QuickStartResponse {
                    rate: data[0] & 0xf,
                    ttl_difference: data[1],
                    nonce: word(2) >> 2,
                };
                self.quick_start.replace(response).is_some()
            }
            (SACK, data) if matches!(data.len(), 8 | 16 | 24 | 32) => {
                let twice = !self.sack.is_empty();
                for at in (0..data.len()).step_by(8) {
                    self.sack.push(word(at), word(at + 4));
                }
                twice
            }
            (xcp_option::KIND, data) => {
                let option = XcpOption::from_data(data).ok_or(wrong)?;
                self.xcp.replace(option).is_some()
            }
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | QUICK_START_RESPONSE | SACK, _) => {
                return Err(wrong);
            }
            _ => false,
        };
        if twice {
            return Err(WireError::DuplicateOption { what: WHAT, kind });
        }
        Ok(())
    }
}
