//! The TCP header.

use std::ops::BitOr;

use npsim_protocols::checksum;
use serde::{Deserialize, Serialize};

use super::{TCP, TcpOptions, WireError};

/// The protocol number of TCP in IPv4 headers.
pub(super) const TCP_PROTOCOL: u8 = 6;

/// The control bits of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Flags(u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(1);
    /// The sequence number is the sender's initial one.
    pub const SYN: Self = Self(2);
    /// The connection is reset.
    pub const RST: Self = Self(4);
    /// The sender has no more data ready.
    pub const PSH: Self = Self(8);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(16);

    /// Returns the flags in the lower eight bits.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns the flags as the lower eight bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A TCP segment: its header, and the number of bytes of the payload pattern that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Sequence number of the first byte, or of the SYN.
    pub sequence: u32,
    /// The next sequence number expected.
    pub acknowledgement: u32,
    /// Control bits.
    pub flags: Flags,
    /// The window as in the header, not yet shifted.
    pub window: u16,
    /// Options.
    pub options: TcpOptions,
    /// Bytes of payload.
    pub payload: u16,
}

impl Segment {
    /// Returns the number of bytes of the header with its options.
    #[must_use]
    pub fn header_length(&self) -> usize {
        TCP + self.options.length()
    }

    /// Appends header and payload. `pseudo` is the folded sum of the addresses.
    pub(super) fn append(&self, bytes: &mut Vec<u8>, pseudo: u16) -> Result<(), WireError> {
        let start = bytes.len();
        bytes.extend(self.source_port.to_be_bytes());
        bytes.extend(self.destination_port.to_be_bytes());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.acknowledgement.to_be_bytes());
        // Options too long for these four bits are refused below.
        bytes.extend([((self.header_length() / 4) as u8) << 4, self.flags.bits()]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        self.options.append(bytes)?;
        super::payload::append(bytes, self.sequence, self.payload);
        let sum = !segment_sum(&bytes[start..], pseudo);
        bytes[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
        Ok(())
    }

    /// Parses a segment; the remaining bytes are its payload, as received.
    pub(super) fn from_bytes(bytes: &[u8], pseudo: u16) -> Result<(Self, &[u8]), WireError> {
        let what = "the TCP header";
        let short = |needed| WireError::Short {
            what,
            needed,
            have: bytes.len(),
        };
        let fixed: &[u8; TCP] = bytes.first_chunk().ok_or(short(TCP))?;
        let length = usize::from(fixed[12] >> 4) * 4;
        if length < TCP {
            return Err(WireError::Length { what, length });
        }
        let options = bytes.get(TCP..length).ok_or(short(length))?;
        if segment_sum(bytes, pseudo) != 0xffff {
            return Err(WireError::Checksum("the TCP segment"));
        }
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let payload = &bytes[length..];
        let segment = Self {
            source_port: half(0),
            destination_port: half(2),
            sequence: word(4),
            acknowledgement: word(8),
            flags: Flags::from_bits(fixed[13]),
            window: half(14),
            options: TcpOptions::from_bytes(options)?,
            payload: payload.len() as u16,
        };
        Ok((segment, payload))
    }
}

/// Returns the sum of a segment with its pseudo header, whose addresses sum to `addresses`: 0xffff if
/// the checksum is right.
fn segment_sum(segment: &[u8], addresses: u16) -> u16 {
    let length = segment.len() as u32;
    let protocol = u32::from(TCP_PROTOCOL);
    let sum = u32::from(checksum::sum(segment)) + u32::from(addresses) + protocol + length;
    checksum::fold(sum)
}
