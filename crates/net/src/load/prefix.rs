//! Ranges of IPv4 addresses and the hosts of flows in them.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::number;

/// A range of IPv4 addresses, such as `10.2.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    address: u32,
    length: u8,
}

/// Why a text is not a prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// It is not an address and a length.
    #[error("`{0}` is not a range of IPv4 addresses; write for example 10.2.0.0/16")]
    Unknown(String),
    /// It has address bits beyond the length.
    #[error("`{text}` has address bits beyond its length; the range is {meant}")]
    HostBits {
        /// The text.
        text: String,
        /// The prefix without those bits.
        meant: Prefix,
    },
}

impl Prefix {
    /// Returns the prefix of the first `length` bits (32 at most) of `address`.
    #[must_use]
    pub fn new(address: Ipv4Addr, length: u8) -> Self {
        let length = length.min(32);
        Self {
            address: u32::from(address) & mask(length),
            length,
        }
    }

    /// Whether the address is in the range.
    #[must_use]
    pub fn contains(self, address: Ipv4Addr) -> bool {
        u32::from(address) & mask(self.length) == self.address
    }

    /// Returns the first address of the range.
    #[must_use]
    pub fn first(self) -> Ipv4Addr {
        Ipv4Addr::from(self.address)
    }

    /// Whether some address is in both ranges.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.contains(other.first()) || other.contains(self.first())
    }

    /// Whether the range covers all addresses.
    #[must_use]
    pub fn covers_all_addresses(self) -> bool {
        self.length == 0
    }

    /// Returns an address in the range that is usable by a host, chosen by `number`. With 8 or more host
    /// bits, the last octet is 2 to 254: 1 is often the router itself.
    pub(super) fn host(self, number: u64) -> Ipv4Addr {
        let bits = 32 - u32::from(self.length);
        let host = match bits {
            0 => 0,
            1 => number & 1,
            2..=7 => 1 + number % ((1 << bits) - 2),
            _ => {
                let (network, host) = (number / 253, 2 + number % 253);
                (network << 8 | host) & ((1 << bits) - 1)
            }
        };
        Ipv4Addr::from(self.address | host as u32)
    }
}

fn mask(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0)
}

impl FromStr for Prefix {
    type Err = PrefixError;

    /// Parses `10.2.0.0/16`, or `10.2.3.4` for a single address.
    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let unknown = || PrefixError::Unknown(text.to_string());
        let (address, length) = text.split_once('/').unwrap_or((text, "32"));
        let address: Ipv4Addr = address.parse().map_err(|_| unknown())?;
        let length = length
            .parse()
            .ok()
            .filter(|&length| length <= 32)
            .ok_or_else(unknown)?;
        let prefix = Self::new(address, length);
        if prefix.address != u32::from(address) {
            return Err(PrefixError::HostBits {
                text: text.to_string(),
                meant: prefix,
            });
        }
        Ok(prefix)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", Ipv4Addr::from(self.address), self.length)
    }
}

impl Serialize for Prefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Expected input, for error messages.
const EXPECTED: &str = "a range of IPv4 addresses such as \"10.2.0.0/16\"";

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number::deserialize(deserializer, EXPECTED)
    }
}

impl JsonSchema for Prefix {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Prefix".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        number::schema(EXPECTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_parse_and_print() {
        for text in ["10.2.0.0/16", "0.0.0.0/0", "192.0.2.7/32"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("192.0.2.7".parse::<Prefix>(), "192.0.2.7/32".parse());
        let error = "10.2.0.1/16".parse::<Prefix>().unwrap_err();
        assert!(error.to_string().contains("10.2.0.0/16"), "{error}");
        for text in ["", "10.2/16", "10.2.0.0/33", "10.2.0.0/", "host"] {
            assert_eq!(
                text.parse::<Prefix>(),
                Err(PrefixError::Unknown(text.into()))
            );
        }
    }

    #[test]
    fn hosts_are_within_the_prefix_and_valid() {
        for length in 0..=32u8 {
            let prefix = Prefix::new(Ipv4Addr::new(10, 2, 128, 129), length);
            for number in (0..3000).chain([u64::MAX, u64::MAX / 3]) {
                let host = prefix.host(number);
                assert!(prefix.contains(host), "{prefix} {host}");
                if length <= 24 {
                    assert!((2..=254).contains(&host.octets()[3]), "{prefix} {host}");
                }
            }
        }
    }
}
