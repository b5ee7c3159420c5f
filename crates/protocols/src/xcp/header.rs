//! The congestion header: twenty bytes between the IPv4 and transport headers.

use serde::{Deserialize, Serialize};

/// Bytes of the header.
pub const LENGTH: usize = 20;
/// The supported version.
pub const VERSION: u8 = 3;
/// Format of packets that carry a request.
pub const STANDARD: u8 = 1;
/// Format of packets that only return feedback; routers do not change them.
pub const MINIMAL: u8 = 2;
/// Offset of `delta_throughput` in the header, in bytes.
pub const DELTA_OFFSET: usize = 16;

/// The fields of a congestion header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpHeader {
    /// The protocol of the next header (6: TCP).
    pub protocol: u8,
    /// Length field; senders set it to 20.
    pub length: u8,
    /// Version, 3 (4 bits).
    pub version: u8,
    /// Format, 1 or 2 (4 bits).
    pub format: u8,
    /// Sent as 0.
    pub unused: u8,
    /// The sender's time between packets in 2^-28 s, 0 if unknown.
    pub x: u32,
    /// The sender's round-trip time in 2^-28 s, 0 if unknown.
    pub rtt: u32,
    /// Feedback on its way back to the sender, bytes per second.
    pub reverse_feedback: i32,
    /// The change of throughput that the sender requests and routers reduce, in bytes per
    /// second.
    pub delta_throughput: i32,
}

impl XcpHeader {
    /// Reads the first twenty bytes; `None` if there are fewer.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.first_chunk()?;
        let word = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Some(Self {
            protocol: bytes[0],
            length: bytes[1],
            version: bytes[2] >> 4,
            format: bytes[2] & 0xf,
            unused: bytes[3],
            x: word(4),
            rtt: word(8),
            reverse_feedback: word(12) as i32,
            delta_throughput: word(DELTA_OFFSET) as i32,
        })
    }

    /// Encodes the header as it appears in a packet.
    #[must_use]
    pub fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let kind = (self.version & 0xf) << 4 | self.format & 0xf;
        bytes[..4].copy_from_slice(&[self.protocol, self.length, kind, self.unused]);
        bytes[4..8].copy_from_slice(&self.x.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.rtt.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.reverse_feedback.to_be_bytes());
        bytes[16..].copy_from_slice(&self.delta_throughput.to_be_bytes());
        bytes
    }

    /// Whether a router gives feedback: version 3 in the standard format. All other packets are
    /// counted as traffic and not changed.
    #[must_use]
    pub fn accepts_feedback(self) -> bool {
        self.version == VERSION && self.format == STANDARD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick_start::tests::bytes;
    use proptest::prelude::*;

    #[test]
    fn headers_match_the_draft_byte_for_byte() {
        let request = XcpHeader {
            protocol: 6,
            length: 20,
            version: VERSION,
            format: STANDARD,
            unused: 0,
            x: 42_950,
            rtt: 26_843_546,
            reverse_feedback: 0,
            delta_throughput: 10_000,
        };
        let expected = bytes("061431000000a7c60199999a0000000000002710");
        assert_eq!(request.to_bytes()[..], expected);
        let answered = XcpHeader {
            delta_throughput: 3_999,
            ..request
        };
        let expected = bytes("061431000000a7c60199999a0000000000000f9f");
        assert_eq!(answered.to_bytes()[..], expected);
        let acknowledgement = XcpHeader {
            format: MINIMAL,
            x: 0,
            rtt: 0,
            reverse_feedback: -800,
            delta_throughput: 0,
            ..request
        };
        let expected = bytes("061432000000000000000000fffffce000000000");
        assert_eq!(acknowledgement.to_bytes()[..], expected);
        assert!(request.accepts_feedback() && !acknowledgement.accepts_feedback());
        assert_eq!(XcpHeader::from_bytes(&expected[..19]), None);
    }

    proptest! {
        #[test]
        fn header_round_trips_through_bytes(bytes: [u8; LENGTH]) {
            prop_assert_eq!(XcpHeader::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        }
    }
}
