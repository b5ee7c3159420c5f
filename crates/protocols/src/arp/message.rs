//! ARP frames (RFC 826), for IPv4 over Ethernet.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// An Ethernet address.
pub type Mac = [u8; 6];

/// Bytes of a frame with a message, padded to the Ethernet minimum.
pub const FRAME: usize = 60;
/// The broadcast address.
pub const BROADCAST: Mac = [0xff; 6];
/// The Ethernet type of ARP, followed by the hardware type, protocol and address lengths.
const FIXED: [u8; 8] = [8, 6, 0, 1, 8, 0, 6, 4];
/// Offset of [`FIXED`] in a frame.
const TYPE: usize = 12;

/// The operation of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Asks for the hardware address of the target.
    Request,
    /// Gives the hardware address of the sender.
    Reply,
}

/// An ARP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArpMessage {
    /// The operation.
    pub operation: Operation,
    /// The sender's addresses.
    pub sender: (Mac, Ipv4Addr),
    /// The target's addresses; the first is unknown in a request.
    pub target: (Mac, Ipv4Addr),
}

impl ArpMessage {
    /// Reads the message in a frame. `None` if there is none or it cannot be used: it
    /// belongs to another link type or protocol, or its sender's hardware address is not
    /// that of a single station.
    #[must_use]
    pub fn from_frame(frame: &[u8]) -> Option<Self> {
        let rest = frame.get(TYPE..)?.strip_prefix(&FIXED)?;
        let (operation, rest) = rest.split_first_chunk::<2>()?;
        let (sender_mac, rest) = rest.split_first_chunk::<6>()?;
        let (sender, rest) = rest.split_first_chunk::<4>()?;
        let (target_mac, rest) = rest.split_first_chunk::<6>()?;
        let (target, _) = rest.split_first_chunk::<4>()?;
        let operation = match operation {
            [0, 1] => Operation::Request,
            [0, 2] => Operation::Reply,
            _ => return None,
        };
        let station = sender_mac[0] & 1 == 0 && *sender_mac != [0; 6];
        station.then_some(Self {
            operation,
            sender: (*sender_mac, Ipv4Addr::from(*sender)),
            target: (*target_mac, Ipv4Addr::from(*target)),
        })
    }

    /// Creates a request for an address, to be broadcast.
    #[must_use]
    pub const fn request(sender: (Mac, Ipv4Addr), wanted: Ipv4Addr) -> Self {
        Self {
            operation: Operation::Request,
            sender,
            target: ([0; 6], wanted),
        }
    }

    /// Creates the reply to a request, from the station that has the requested address.
    #[must_use]
    pub const fn reply(&self, mac: Mac) -> Self {
        Self {
            operation: Operation::Reply,
            sender: (mac, self.target.1),
            target: self.sender,
        }
    }

    /// Builds the frame: a request is broadcast, a reply goes to its target.
    #[must_use]
    pub fn to_frame(&self) -> Vec<u8> {
        let (to, operation) = match self.operation {
            Operation::Request => (BROADCAST, 1),
            Operation::Reply => (self.target.0, 2),
        };
        let mut frame = Vec::with_capacity(FRAME);
        frame.extend_from_slice(&to);
        frame.extend_from_slice(&self.sender.0);
        frame.extend_from_slice(&FIXED);
        frame.extend_from_slice(&[0, operation]);
        for (mac, address) in [self.sender, self.target] {
            frame.extend_from_slice(&mac);
            frame.extend_from_slice(&address.octets());
        }
        frame.resize(FRAME, 0);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{ArpOperation, NetSlice, SlicedPacket};

    const HOST: (Mac, Ipv4Addr) = ([2, 0, 0, 0, 0, 9], Ipv4Addr::new(10, 1, 7, 7));
    const OWN: Mac = [2, 0, 0x5e, 0, 0, 1];
    const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);

    #[test]
    fn arp_frames_parse_with_an_independent_parser() {
        let request = ArpMessage::request(HOST, ADDRESS);
        let reply = request.reply(OWN);
        let rows = [
            (
                request,
                ArpOperation::REQUEST,
                BROADCAST,
                HOST,
                ([0; 6], ADDRESS),
            ),
            (reply, ArpOperation::REPLY, HOST.0, (OWN, ADDRESS), HOST),
        ];
        for (message, operation, to, sender, target) in rows {
            let frame = message.to_frame();
            assert_eq!(frame.len(), 60);
            assert_eq!(frame[..12], [to, sender.0].concat());
            let packet = SlicedPacket::from_ethernet(&frame).unwrap();
            let Some(NetSlice::Arp(arp)) = packet.net else {
                panic!("no ARP")
            };
            assert_eq!(arp.operation(), operation);
            assert_eq!(arp.sender_hw_addr(), sender.0);
            assert_eq!(arp.sender_protocol_addr(), sender.1.octets());
            assert_eq!(arp.target_hw_addr(), target.0);
            assert_eq!(arp.target_protocol_addr(), target.1.octets());
            assert_eq!(ArpMessage::from_frame(&frame), Some(message));
        }
    }

    #[test]
    fn malformed_arp_frames_are_ignored() {
        let good = ArpMessage::request(HOST, ADDRESS).to_frame();
        // Type, hardware, protocol, lengths, operation, a group address as sender.
        for (at, byte) in [
            (13, 0),
            (15, 6),
            (16, 0x86),
            (18, 8),
            (19, 16),
            (21, 3),
            (22, 3),
        ] {
            let mut frame = good.clone();
            frame[at] = byte;
            assert_eq!(ArpMessage::from_frame(&frame), None, "{at}");
        }
        for length in 0..42 {
            assert_eq!(ArpMessage::from_frame(&good[..length]), None, "{length}");
        }
        assert!(ArpMessage::from_frame(&good[..42]).is_some());
    }
}
