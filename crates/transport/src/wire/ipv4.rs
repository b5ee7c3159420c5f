//! The IPv4 header of hosts: no fragments, no options except Quick-Start.

use std::net::Ipv4Addr;

use npsim_protocols::checksum;
use npsim_protocols::quick_start::{QuickStartOption, option};

use super::{IPV4, WireError};

const WHAT: &str = "the IPv4 header";
/// "Do not fragment".
const DONT_FRAGMENT: u16 = 0x4000;
/// Bits of the flags and offset field of which at least one is set in a fragment.
const FRAGMENT: u16 = 0x3fff;

/// The fields that a host writes and reads.
pub(super) struct Ipv4 {
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub identification: u16,
    pub ttl: u8,
    pub protocol: u8,
    pub quick_start: Option<QuickStartOption>,
}

impl Ipv4 {
    /// Returns the number of bytes of the header.
    pub fn length(&self) -> usize {
        IPV4 + self.quick_start.map_or(0, |_| option::LENGTH)
    }

    /// Returns the folded sum of the addresses, for the pseudo header.
    pub fn addresses(&self) -> u16 {
        let sum = |address: Ipv4Addr| u32::from(checksum::sum(&address.octets()));
        checksum::fold(sum(self.source) + sum(self.destination))
    }

    /// Appends the header of a packet of `total` bytes.
    pub fn append(&self, bytes: &mut Vec<u8>, total: usize) -> Result<(), WireError> {
        let too_long = |_| WireError::TooLong { needed: total };
        let total = u16::try_from(total).map_err(too_long)?;
        let start = bytes.len();
        bytes.extend([0x40 | (self.length() / 4) as u8, 0]);
        bytes.extend(total.to_be_bytes());
        bytes.extend(self.identification.to_be_bytes());
        bytes.extend(DONT_FRAGMENT.to_be_bytes());
        bytes.extend([self.ttl, self.protocol, 0, 0]);
        bytes.extend(self.source.octets());
        bytes.extend(self.destination.octets());
        if let Some(option) = self.quick_start {
            bytes.extend(option.to_bytes());
        }
        let sum = checksum::of_ipv4(&bytes[start..]);
        bytes[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
        Ok(())
    }

    /// Parses a header; the remaining bytes are the packet's payload, without the padding of a
    /// frame.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let short = |needed| WireError::Short {
            what: WHAT,
            needed,
            have: bytes.len(),
        };
        let fixed: &[u8; IPV4] = bytes.first_chunk().ok_or(short(IPV4))?;
        if fixed[0] >> 4 != 4 {
            return Err(WireError::Version(fixed[0] >> 4));
        }
        let length = usize::from(fixed[0] & 0xf) * 4;
        if length < IPV4 {
            return Err(WireError::Length { what: WHAT, length });
        }
        let header = bytes.get(..length).ok_or(short(length))?;
        if checksum::sum(header) != 0xffff {
            return Err(WireError::Checksum(WHAT));
        }
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let total = usize::from(half(2));
        if total < length {
            let what = "the IPv4 packet";
            return Err(WireError::Length {
                what,
                length: total,
            });
        }
        let rest = bytes.get(length..total).ok_or(WireError::Short {
            what: "the IPv4 packet",
            needed: total,
            have: bytes.len(),
        })?;
        if half(6) & FRAGMENT != 0 {
            return Err(WireError::Fragment);
        }
        let kind = option::KIND;
        let overrun = |_| WireError::OptionOverrun { what: WHAT, kind };
        let quick_start = match option::find(header).map_err(overrun)? {
            None => None,
            Some(place) => {
                let wrong = WireError::OptionLength {
                    what: WHAT,
                    kind,
                    length: place.len() as u8,
                };
                Some(QuickStartOption::from_bytes(&header[place]).ok_or(wrong)?)
            }
        };
        let address =
            |at: usize| Ipv4Addr::from([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let packet = Self {
            source: address(12),
            destination: address(16),
            identification: half(4),
            ttl: fixed[8],
            protocol: fixed[9],
            quick_start,
        };
        Ok((packet, rest))
    }
}
