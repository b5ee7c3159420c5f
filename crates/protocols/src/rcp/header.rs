//! The congestion header of RCP: twelve bytes between the IPv4 and transport headers.

use serde::{Deserialize, Serialize};

/// Bytes of the header.
pub const LENGTH: usize = 12;
/// The rate of a packet that no router has limited.
pub const UNLIMITED: u32 = u32::MAX;

/// Type of a packet that opens a flow.
pub const SYN: u8 = 1;
/// Type of the answer to [`SYN`].
pub const SYN_ACK: u8 = 2;
/// Type of a packet that only requests the rate.
pub const REF: u8 = 3;
/// Type of the answer to [`REF`].
pub const REF_ACK: u8 = 4;
/// Type of data.
pub const DATA: u8 = 5;
/// Type of the answer to [`DATA`].
pub const ACK: u8 = 6;
/// Type of the last packet of a flow.
pub const FIN: u8 = 7;
/// Type of the answer to [`FIN`].
pub const FIN_ACK: u8 = 8;

/// The fields of a congestion header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpHeader {
    /// The rate allowed to the flow, in bytes per second; initially [`UNLIMITED`].
    pub rate: u32,
    /// A rate on its way back to the sender.
    pub reverse_rate: u32,
    /// The sender's round-trip time in 2^-14 s, 0 if unknown.
    pub rtt: u16,
    /// The protocol of the next header.
    pub protocol: u8,
    /// The packet's type.
    pub kind: u8,
}

impl RcpHeader {
    /// Reads the first twelve bytes; `None` if there are fewer.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.first_chunk()?;
        let [a, b, c, d, e, f, g, h, i, j, protocol, kind] = *bytes;
        Some(Self {
            rate: u32::from_be_bytes([a, b, c, d]),
            reverse_rate: u32::from_be_bytes([e, f, g, h]),
            rtt: u16::from_be_bytes([i, j]),
            protocol,
            kind,
        })
    }

    /// Encodes the header as it appears in a packet.
    #[must_use]
    pub fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..4].copy_from_slice(&self.rate.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.reverse_rate.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.rtt.to_be_bytes());
        bytes[10..].copy_from_slice(&[self.protocol, self.kind]);
        bytes
    }

    /// Whether routers limit the rate of this packet: [`SYN`], [`REF`] and [`DATA`].
    #[must_use]
    pub fn accepts_rate(self) -> bool {
        matches!(self.kind, SYN | REF | DATA)
    }
}

/// The rate field of a packet after a router with rate `rate`.
#[must_use]
pub fn stamp(field: u32, rate: u32) -> u32 {
    field.min(rate)
}

/// Processes the departure of a packet with congestion header `header`: lowers its rate in place.
/// Returns whether the rate was lowered; `None` for a packet whose rate routers do not change.
pub fn process(header: &mut [u8], rate: u32) -> Option<bool> {
    let fields = RcpHeader::from_bytes(header).filter(|fields| fields.accepts_rate())?;
    header[..4].copy_from_slice(&stamp(fields.rate, rate).to_be_bytes());
    Some(rate < fields.rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rate_is_only_lowered() {
        assert_eq!(stamp(UNLIMITED, 6_500_000), 0x0063_2ea0);
        assert_eq!(stamp(5_000_000, 6_500_000), 5_000_000);
        assert_eq!(stamp(6_500_000, 6_500_000), 6_500_000);
    }

    #[test]
    fn requests_are_stamped_and_answers_are_not() {
        for kind in 0..=9 {
            let before = RcpHeader {
                rate: UNLIMITED,
                reverse_rate: 7,
                rtt: 1_638,
                protocol: 6,
                kind,
            };
            let mut bytes = before.to_bytes();
            let stamped = process(&mut bytes, 6_500_000);
            let expected = matches!(kind, SYN | REF | DATA).then_some(true);
            assert_eq!(stamped, expected, "type {kind}");
            let rate = if stamped.is_some() {
                6_500_000
            } else {
                UNLIMITED
            };
            assert_eq!(
                RcpHeader::from_bytes(&bytes),
                Some(RcpHeader { rate, ..before })
            );
        }
        assert_eq!(process(&mut [0; 11], 1), None);
    }

    proptest! {
        #[test]
        fn header_round_trips_through_bytes(bytes: [u8; LENGTH]) {
            prop_assert_eq!(RcpHeader::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        }
    }
}
