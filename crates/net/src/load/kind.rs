//! The kinds of frames that a load makes.

/// What a frame of a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum FrameKind {
    /// A UDP datagram to forward.
    Plain = 0,
    /// A TCP segment.
    Tcp = 1,
    /// An ICMP echo request.
    Icmp = 2,
    /// A UDP datagram with an IPv4 option.
    Options = 3,
    /// A UDP datagram whose time to live is 1, so that a router must not forward it.
    Ttl = 4,
    /// A UDP datagram with a wrong IPv4 header checksum.
    Checksum = 5,
    /// The last fragment of a UDP datagram.
    Fragment = 6,
    /// An ARP request.
    Arp = 7,
    /// A UDP datagram over IPv6.
    Ipv6 = 8,
    /// A UDP datagram to everybody on the link.
    Broadcast = 9,
    /// A UDP datagram to an IPv4 multicast group.
    Multicast = 10,
    /// A UDP datagram whose destination MAC address is not the port's.
    Stranger = 11,
}

impl FrameKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [FrameKind; 12] = [
        FrameKind::Plain,
        FrameKind::Tcp,
        FrameKind::Icmp,
        FrameKind::Options,
        FrameKind::Ttl,
        FrameKind::Checksum,
        FrameKind::Fragment,
        FrameKind::Arp,
        FrameKind::Ipv6,
        FrameKind::Broadcast,
        FrameKind::Multicast,
        FrameKind::Stranger,
    ];

    /// The kind of this number.
    #[must_use]
    pub fn of_number(number: u8) -> Option<FrameKind> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
