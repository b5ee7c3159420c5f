//! The stamp that a load writes into each frame, so that reordering and loss can be observed where frames
//! leave.

use super::kind::FrameKind;

/// Size of a stamp, in bytes.
pub(super) const BYTES: usize = 16;

/// Protocol number for experiments (RFC 3692): such a packet carries nothing but the stamp.
pub(super) const EXPERIMENT: u8 = 253;

/// First bytes of a stamp.
pub(super) const MARK: [u8; 2] = *b"np";

/// The identity of a frame, at the start of its payload after the UDP, TCP or ICMP header, in network order:
/// the letters `np`, the kind and the port (1 byte each), the flow (4 bytes) and the sequence (8 bytes). In
/// a fragment and in a frame with options it follows the IP header directly; an ARP request has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Port at which it arrives.
    pub port: u8,
    /// Its flow. A flow arrives at a single port.
    pub flow: u32,
    /// Number of earlier frames of this kind and flow.
    pub sequence: u64,
}

impl Stamp {
    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..2].copy_from_slice(&MARK);
        bytes[2] = self.kind as u8;
        bytes[3] = self.port;
        bytes[4..8].copy_from_slice(&self.flow.to_be_bytes());
        bytes[8..].copy_from_slice(&self.sequence.to_be_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Stamp> {
        let bytes: &[u8; BYTES] = bytes.first_chunk()?;
        if bytes[..2] != MARK {
            return None;
        }
        Some(Stamp {
            kind: FrameKind::of_number(bytes[2])?,
            port: bytes[3],
            flow: u32::from_be_bytes(*bytes[4..].first_chunk()?),
            sequence: u64::from_be_bytes(*bytes[8..].first_chunk()?),
        })
    }

    /// Reads the stamp of an Ethernet frame, whatever routers have changed in its headers; `None` for a
    /// frame of other origin and for ARP.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Stamp> {
        let packet = frame.get(14..)?;
        let (payload, protocol) = match frame.get(12..14)? {
            [0x08, 0x00] => {
                let header = usize::from(packet.first()? & 0x0f) * 4;
                let offset = u16::from_be_bytes(*packet.get(6..)?.first_chunk()?) & 0x1fff;
                let protocol = *packet.get(9)?;
                (packet.get(header..)?, (offset == 0).then_some(protocol))
            }
            [0x86, 0xdd] => (packet.get(40..)?, Some(*packet.get(6)?)),
            _ => return None,
        };
        let header = match protocol {
            Some(EXPERIMENT) | None => 0,
            Some(6) => 20,
            Some(_) => 8,
        };
        Self::from_bytes(payload.get(header..)?)
    }
}
