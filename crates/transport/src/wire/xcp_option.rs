//! XCP as a TCP option, as in Linux experiments of 2005 (Zhang and Henderson).
//!
//! The slides give three 16-bit fields forward and one back, window and feedback in packets "split
//! mantissa-exponent", the round-trip time in milliseconds. They do not give the split: here bit 15 is
//! the sign, bits 14 to 4 a mantissa and bits 3 to 0 an exponent e, for mantissa x 2^(e - 10) packets.
//! Nor do they give the option's kind: 253, one of RFC 4727's for experiments.

use serde::{Deserialize, Serialize};

/// Kind of the option.
pub(crate) const KIND: u8 = 253;
/// Length with the fields of the forward direction.
const FORWARD: u8 = 8;
/// Length with the field of the backward direction.
const REVERSE: u8 = 4;

/// Bits of the fraction in numbers of packets, which [`PacketFormat`] reads and writes in units
/// of 2^-10.
pub const FRACTION_BITS: u32 = 10;
/// The greatest mantissa.
const LARGEST_MANTISSA: u64 = 2_047;

/// How a number of packets stands in 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketFormat {
    /// A signed integer; fractions of a packet are lost.
    Integer,
    /// Sign, 11 bits of mantissa, 4 bits of exponent: 2^-10 to 65 504 packets.
    MantissaExponent,
}

impl PacketFormat {
    /// The field for a number of packets in units of 2^-10: the nearest that the format has (an
    /// integer towards zero), and its largest for what is larger.
    #[must_use]
    pub fn encode(self, packets: i64) -> u16 {
        match self {
            Self::Integer => {
                let whole = packets / (1 << FRACTION_BITS);
                whole.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as u16
            }
            Self::MantissaExponent => {
                let sign = if packets < 0 { 1 << 15 } else { 0 };
                let magnitude = packets.unsigned_abs().min(LARGEST_MANTISSA << 15);
                let rounded = |exponent: u32| (magnitude + (1 << exponent >> 1)) >> exponent;
                let exponent = (0..16)
                    .find(|&e| rounded(e) <= LARGEST_MANTISSA)
                    .unwrap_or(15);
                sign | (rounded(exponent) as u16) << 4 | exponent as u16
            }
        }
    }

    /// The number of packets of a field in units of 2^-10.
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

/// The option; the fields are as they stand on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum XcpOption {
    /// From the sender of data; routers lower `feedback`.
    Forward {
        /// The congestion window, packets.
        window: u16,
        /// The round-trip time in units of the host (a millisecond), 0 if unknown.
        rtt: u16,
        /// The change of window that is asked for, packets.
        feedback: u16,
    },
    /// From the receiver: what the routers left of the request.
    Reverse {
        /// Packets.
        feedback: u16,
    },
}

impl XcpOption {
    /// Bytes on the wire.
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

    /// Reads what follows kind and length; `None` for another length.
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
    fn the_range_is_a_thousandth_to_65504_packets() {
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
        fn a_number_comes_back_within_half_a_step(packets in -(65_504_i64 << 10)..65_504_i64 << 10) {
            let format = PacketFormat::MantissaExponent;
            let field = format.encode(packets);
            let step = 1_u64 << (field & 0xf);
            prop_assert!(format.decode(field).abs_diff(packets) * 2 <= step);
            prop_assert_eq!(format.decode(format.encode(format.decode(field))), format.decode(field));
        }
    }
}
