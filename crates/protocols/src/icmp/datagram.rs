//! An IPv4 packet in an Ethernet frame of which only the first bytes may be known.

use std::net::Ipv4Addr;

/// Bytes of an Ethernet header.
pub const LINK_HEADER: usize = 14;
/// The Ethernet type of IPv4.
pub const IPV4: [u8; 2] = [8, 0];
/// Bytes of an IPv4 header without options.
pub(super) const HEADER: usize = 20;
/// Protocol number of ICMP.
pub const ICMP: u8 = 1;
/// Protocol number of UDP.
pub const UDP: u8 = 17;

/// A packet of which at least the fixed part of the IPv4 header is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    link: &'a [u8],
    packet: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// Returns the packet in a frame; `None` if it is not IPv4 or its header is invalid.
    #[must_use]
    pub fn from_frame(frame: &'a [u8]) -> Option<Self> {
        let (link, packet) = frame.split_at_checked(LINK_HEADER)?;
        let datagram = Self::of(packet).filter(|_| link.ends_with(&IPV4))?;
        Some(Self { link, ..datagram })
    }

    /// Returns a packet that begins with its IPv4 header, such as one quoted by an error
    /// message; `None` if its header is invalid.
    #[must_use]
    pub fn of(packet: &'a [u8]) -> Option<Self> {
        let datagram = Self { link: &[], packet };
        let sound = packet.len() >= HEADER
            && packet[0] >> 4 == 4
            && datagram.header_length() >= HEADER
            && datagram.length() >= datagram.header_length();
        sound.then_some(datagram)
    }

    fn half(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.packet[at], self.packet[at + 1]])
    }

    fn address(&self, at: usize) -> Ipv4Addr {
        let bytes = &self.packet[at..at + 4];
        Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])
    }

    /// Length of the IPv4 header in bytes.
    #[must_use]
    pub fn header_length(&self) -> usize {
        usize::from(self.packet[0] & 0xf) * 4
    }

    /// Length of the packet in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        usize::from(self.half(2))
    }

    /// Type of service.
    #[must_use]
    pub fn service(&self) -> u8 {
        self.packet[1]
    }

    /// Whether it must not be fragmented.
    #[must_use]
    pub fn dont_fragment(&self) -> bool {
        self.half(6) & 0x4000 != 0
    }

    /// Whether it is a fragment other than the first.
    #[must_use]
    pub fn is_later_fragment(&self) -> bool {
        self.half(6) & 0x1fff != 0
    }

    /// Whether it is a fragment.
    #[must_use]
    pub fn is_fragment(&self) -> bool {
        self.half(6) & 0x3fff != 0
    }

    /// Identification field.
    #[must_use]
    pub fn identification(&self) -> u16 {
        self.half(4)
    }

    /// Protocol number.
    #[must_use]
    pub fn protocol(&self) -> u8 {
        self.packet[9]
    }

    /// Source address.
    #[must_use]
    pub fn source(&self) -> Ipv4Addr {
        self.address(12)
    }

    /// Destination address.
    #[must_use]
    pub fn destination(&self) -> Ipv4Addr {
        self.address(16)
    }

    /// Whether the frame was addressed to a group of stations.
    #[must_use]
    pub fn is_group_addressed(&self) -> bool {
        self.link.first().is_some_and(|first| first & 1 != 0)
    }

    /// The known bytes of the packet, without padding of the frame.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        &self.packet[..self.packet.len().min(self.length())]
    }

    /// The known bytes after the header.
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        self.bytes().get(self.header_length()..).unwrap_or_default()
    }
}
