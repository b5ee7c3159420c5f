//! The kinds of frames that a load makes.

/// The kind of a generated frame.
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
    /// A UDP datagram with a time to live of 1, which a router must not forward.
    Ttl = 4,
    /// A UDP datagram with a wrong IPv4 header checksum.
    Checksum = 5,
    /// The last fragment of a UDP datagram.
    Fragment = 6,
    /// An ARP request.
    Arp = 7,
    /// A UDP datagram over IPv6.
    Ipv6 = 8,
    /// A UDP datagram to the broadcast address of the link.
    Broadcast = 9,
    /// A UDP datagram to an IPv4 multicast group.
    Multicast = 10,
    /// A UDP datagram whose destination MAC address is not the port's.
    Stranger = 11,
}

impl FrameKind {
    /// All kinds, in order of their numbers.
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

    /// Returns the kind with this number.
    #[must_use]
    pub fn of_number(number: u8) -> Option<FrameKind> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
