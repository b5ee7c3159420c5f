//! XCP as a TCP option, as in Linux experiments of 2005 (Zhang and Henderson).
//!
//! The slides show three 16-bit fields forward and one back, window and feedback in packets "split
//! mantissa-exponent", the round-trip time in milliseconds. They do not specify the split: here bit 15
//! is the sign, bits 14 to 4 are a mantissa and bits 3 to 0 an exponent e, for mantissa x 2^(e - 10)
//! packets. Nor do they specify the option's kind: 253 is one of those that RFC 4727 reserves for
//! experiments.

use serde::{Deserialize, Serialize};

/// Kind of the option.
pub(crate) const KIND: u8 = 253;
/// Length with the fields of the forward direction.
const FORWARD: u8 = 8;
/// Length with the field of the reverse direction.
const REVERSE: u8 = 4;

/// Fraction bits of packet counts, which [`PacketFormat`] reads and writes in units of 2^-10.
pub const FRACTION_BITS: u32 = 10;
/// The largest mantissa.
const MAX_MANTISSA: u64 = 2_047;

/// The 16-bit encoding of a number of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketFormat {
    /// A signed integer; fractions of a packet are lost.
    Integer,
    /// Sign, 11 bits of mantissa, 4 bits of exponent: 2^-10 to 65 504 packets.
    MantissaExponent,
}

impl PacketFormat {
    /// Encodes a number of packets in units of 2^-10 as the nearest representable value (an integer
    /// rounds towards zero), or the largest for numbers beyond it.
    #[must_use]
    pub fn encode(self, packets: i64) -> u16 {
        match self {
            Self::Integer => {
                let whole = packets / (1 << FRACTION_BITS);
                whole.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as u16
            }
            Self::MantissaExponent => {
                let sign = if packets < 0 { 1 << 15 } else { 0 };
                let magnitude = packets.unsigned_abs().min(MAX_MANTISSA << 15);
                let rounded = |exponent: u32| (magnitude + (1 << exponent >> 1)) >> exponent;
                let exponent = (0..16).find(|&e| rounded(e) <= MAX_MANTISSA).unwrap_or(15);
                sign | (rounded(exponent) as u16) << 4 | exponent as u16
            }
        }
    }

    /// Decodes a field to a number of packets in units of 2^-10.
    #[must_use]
    pub fn decode(self, field: u16) -> i64 {
        match self {
            Self::Integer => i64::from(field.cast_signed()) << FRACTION_BITS,
            Self::MantissaExponent => {
                let magnitude = i64::from(field >> 4 & 0x7ff) << (field & 0xf);
                if field >> 15 == 1 {
                    -magnitude
                } else {
                    magnitude
                }
            }
        }
    }
}

/// The option; the fields are encoded as on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum XcpOption {
    /// From the sender of data; routers lower `feedback`.
    Forward {
        /// The congestion window, packets.
        window: u16,
        /// The round-trip time in units of the host (a millisecond), 0 if unknown.
        rtt: u16,
        /// The requested change of the window, in packets.
        feedback: u16,
    },
    /// From the receiver: the request as reduced by the routers.
    Reverse {
        /// Packets.
        feedback: u16,
    },
}

impl XcpOption {
    /// Returns the number of bytes on the wire.
    pub(super) fn length(self) -> usize {
        usize::from(match self {
            Self::Forward { .. } => FORWARD,
            Self::Reverse { .. } => REVERSE,
        })
    }

    pub(super) fn append(self, bytes: &mut Vec<u8>) {
        bytes.extend([KIND, self.length() as u8]);
        match self {
            Self::Forward {
                window,
                rtt,
                feedback,
            } => {
                for field in [window, rtt, feedback] {
                    bytes.extend(field.to_be_bytes());
                }
            }
            Self::Reverse { feedback } => bytes.extend(feedback.to_be_bytes()),
        }
    }

    /// Parses the data after kind and length; `None` for an unknown length.
    pub(super) fn from_data(data: &[u8]) -> Option<Self> {
        match *data {
            [a, b, c, d, e, f] => Some(Self::Forward {
                window: u16::from_be_bytes([a, b]),
                rtt: u16::from_be_bytes([c, d]),
                feedback: u16::from_be_bytes([e, f]),
            }),
            [a, b] => Some(Self::Reverse {
                feedback: u16::from_be_bytes([a, b]),
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packet_formats_saturate_at_their_range() {
        let format = PacketFormat::MantissaExponent;
        assert_eq!(format.decode(format.encode(1)), 1);
        assert_eq!(format.decode(format.encode(-1)), -1);
        assert_eq!(format.decode(format.encode(i64::MAX)), 65_504 << 10);
        assert_eq!(format.decode(format.encode(i64::MIN)), -(65_504 << 10));
        assert_eq!(format.encode(1 << 10), 0x4000, "one packet");
        let integer = PacketFormat::Integer;
        assert_eq!(integer.encode(1_535), 1);
        assert_eq!(integer.encode(-1_535), 0xffff);
        assert_eq!(integer.decode(0xffff), -1_024);
        assert_eq!(integer.encode(i64::MAX), 0x7fff);
    }

    proptest! {
        #[test]
        fn encoding_error_is_at_most_half_a_step(packets in -(65_504_i64 << 10)..65_504_i64 << 10) {
            let format = PacketFormat::MantissaExponent;
            let field = format.encode(packets);
            let step = 1_u64 << (field & 0xf);
            prop_assert!(format.decode(field).abs_diff(packets) * 2 <= step);
            prop_assert_eq!(format.decode(format.encode(format.decode(field))), format.decode(field));
        }
    }
}
