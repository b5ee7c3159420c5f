//! Link types other than Ethernet: refused, or, where they carry IP, framed with made-up Ethernet
//! headers.

use std::borrow::Cow;

use pcap_file::DataLink;

use super::CaptureError;
use super::data::Data;

/// Treatment of captures whose link type is not Ethernet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkTypes {
    /// Other link types are refused.
    #[default]
    Ethernet,
    /// IP packets get Ethernet headers with made-up addresses; packets that carry anything else are
    /// left out.
    Framed,
}

/// Made-up addresses, locally administered: the destination, then the source.
const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
/// Bytes of an Ethernet header.
const HEADER: usize = ADDRESSES.len() + 2;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Smaller numbers in the `EtherType` field are lengths or other protocols.
const MIN_ETHERTYPE: u16 = 0x0600;

/// How a link type indicates what a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// The packet already is an Ethernet frame.
    Ethernet,
    /// An `EtherType` at offset `at` of a header of `header` bytes.
    Typed { at: usize, header: usize },
    /// An address family of four bytes, in either byte order.
    Family,
    /// The bare packet.
    Raw,
    /// PPP, with or without its address and control bytes.
    Ppp,
}

impl Framing {
    /// Returns how packets of a link type are to be read; `None` if they are refused.
    pub(super) fn of(link: DataLink, links: LinkTypes) -> Option<Self> {
        if link == DataLink::ETHERNET {
            return Some(Self::Ethernet);
        }
        if links == LinkTypes::Ethernet {
            return None;
        }
        Self::of_ip(link)
    }

    /// Returns the framing of a link type that carries IP.
    fn of_ip(link: DataLink) -> Option<Self> {
        Some(match link {
            DataLink::LINUX_SLL => Self::Typed { at: 14, header: 16 },
            DataLink::LINUX_SLL2 => Self::Typed { at: 0, header: 20 },
            DataLink::NULL | DataLink::LOOP => Self::Family,
            // Some systems write their own numbers for raw packets into files.
            DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 | DataLink::Unknown(12 | 14) => {
                Self::Raw
            }
            DataLink::PPP | DataLink::PPP_HDLC => Self::Ppp,
            _ => return None,
        })
    }

    /// Returns the `EtherType` of a packet's payload and the offset of the payload; `None` if the
    /// type is unknown.
    fn payload_at(self, bytes: &[u8]) -> Option<(u16, usize)> {
        let pair = |at: usize| {
            let pair = bytes.get(at..at + 2)?;
            Some(u16::from_be_bytes([pair[0], pair[1]]))
        };
        match self {
            Self::Ethernet => None,
            Self::Typed { at, header } => {
                let kind = pair(at).filter(|kind| *kind >= MIN_ETHERTYPE)?;
                Some((kind, header))
            }
            Self::Family => {
                let family = bytes.first_chunk().map(|it| u32::from_le_bytes(*it))?;
                // In the capturing host's byte order, or in network order.
                let family = family.min(family.swap_bytes());
                let kind = match family {
                    2 => IPV4,
                    10 | 24 | 28 | 30 => IPV6,
                    _ => return None,
                };
                Some((kind, 4))
            }
            Self::Raw => {
                let kind = match bytes.first()? >> 4 {
                    4 => IPV4,
                    6 => IPV6,
                    _ => return None,
                };
                Some((kind, 0))
            }
            Self::Ppp => {
                let skipped = if bytes.starts_with(&[0xff, 3]) { 2 } else { 0 };
                // A single odd byte stands for a protocol whose first byte is 0.
                let short = bytes.get(skipped).is_some_and(|first| first & 1 == 1);
                let (protocol, length) = if short {
                    (u16::from(*bytes.get(skipped)?), 1)
                } else {
                    (pair(skipped)?, 2)
                };
                let kind = match protocol {
                    0x21 => IPV4,
                    0x57 => IPV6,
                    _ => return None,
                };
                Some((kind, skipped + length))
            }
        }
    }

    /// Returns a packet as an Ethernet frame, with its length before truncation; `None` for a
    /// packet that is left out.
    pub(super) fn ethernet(self, bytes: &[u8], original_len: u32) -> Option<(Cow<'_, [u8]>, u32)> {
        if self == Self::Ethernet {
            return Some((Cow::Borrowed(bytes), original_len));
        }
        let (kind, begins) = self.payload_at(bytes)?;
        let packet = bytes.get(begins..)?;
        let mut frame = Vec::with_capacity(HEADER + packet.len());
        frame.extend(ADDRESSES);
        frame.extend(kind.to_be_bytes());
        frame.extend(packet);
        let added = HEADER as u32;
        let original_len = original_len.saturating_sub(begins as u32);
        Some((Cow::Owned(frame), original_len.saturating_add(added)))
    }
}

pub(super) fn refusal(
    data: &Data,
    interface: &str,
    link: DataLink,
    links: LinkTypes,
) -> CaptureError {
    CaptureError::LinkType {
        path: data.path().to_path_buf(),
        interface: interface.to_string(),
        found: match link {
            // Numbers for raw packets that only some systems write into files.
            DataLink::Unknown(number @ (12 | 14)) => format!("RAW ({number}, as BSD writes it)"),
            DataLink::Unknown(number) => format!("{number} (without a name)"),
            named => format!("{named:?} ({})", u32::from(named)),
        },
        hint: hint(link, links).to_string(),
    }
}

fn hint(link: DataLink, links: LinkTypes) -> &'static str {
    match link {
        DataLink::LINUX_SLL | DataLink::LINUX_SLL2 if links == LinkTypes::Ethernet => {
            "the \"any\" device of Linux gives this: `--link` frames its packets with made-up Ethernet addresses, or capture again on one Ethernet interface (`tcpdump -i eth0`)"
        }
        DataLink::IEEE802_11
        | DataLink::IEEE802_11_RADIOTAP
        | DataLink::IEEE802_11_PRISM
        | DataLink::IEEE802_11_AVS => {
            "a wireless interface in monitor mode gives this: capture again without monitor mode or on a wired interface"
        }
        DataLink::NULL | DataLink::LOOP if links == LinkTypes::Ethernet => {
            "a loopback or tunnel interface gives this: `--link` frames its packets with made-up Ethernet addresses, or capture again on an Ethernet interface"
        }
        _ if links == LinkTypes::Ethernet && Framing::of_ip(link).is_some() => {
            "`--link` frames its packets with made-up Ethernet addresses"
        }
        _ => {
            "capture again on an Ethernet interface, or put Ethernet headers on with `tcprewrite --dlt=enet` (with --enet-dmac and --enet-smac)"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ADDRESSES, Framing, IPV4, IPV6};
    use pcap_file::DataLink;

    fn payload_at(link: DataLink, bytes: &[u8]) -> Option<(u16, usize)> {
        Framing::of_ip(link).unwrap().payload_at(bytes)
    }

    #[test]
    fn ip_offset_is_found_for_each_link_type() {
        let cooked = [&[0; 14][..], &[8, 0, 0x45]].concat();
        assert_eq!(payload_at(DataLink::LINUX_SLL, &cooked), Some((IPV4, 16)));
        let arp = [&[0; 14][..], &[8, 6]].concat();
        assert_eq!(payload_at(DataLink::LINUX_SLL, &arp), Some((0x0806, 16)));
        let spanning_tree = [&[0; 14][..], &[0, 4]].concat();
        assert_eq!(payload_at(DataLink::LINUX_SLL, &spanning_tree), None);
        let second = [&[0x86, 0xdd][..], &[0; 18]].concat();
        assert_eq!(payload_at(DataLink::LINUX_SLL2, &second), Some((IPV6, 20)));
        for (family, kind) in [(2u32, IPV4), (24, IPV6), (28, IPV6), (30, IPV6), (10, IPV6)] {
            assert_eq!(
                payload_at(DataLink::NULL, &family.to_le_bytes()),
                Some((kind, 4))
            );
            assert_eq!(
                payload_at(DataLink::NULL, &family.to_be_bytes()),
                Some((kind, 4))
            );
        }
        assert_eq!(payload_at(DataLink::LOOP, &[0, 0, 0, 7]), None);
        assert_eq!(payload_at(DataLink::NULL, &[2, 0]), None);
        for raw in [DataLink::RAW, DataLink::IPV4, DataLink::Unknown(12)] {
            assert_eq!(payload_at(raw, &[0x45]), Some((IPV4, 0)));
            assert_eq!(payload_at(raw, &[0x60]), Some((IPV6, 0)));
            assert_eq!(payload_at(raw, &[0x10]), None);
            assert_eq!(payload_at(raw, &[]), None);
        }
        assert_eq!(
            payload_at(DataLink::PPP, &[0xff, 3, 0, 0x21]),
            Some((IPV4, 4))
        );
        assert_eq!(payload_at(DataLink::PPP, &[0, 0x57]), Some((IPV6, 2)));
        assert_eq!(payload_at(DataLink::PPP, &[0xff, 3, 0x21]), Some((IPV4, 3)));
        assert_eq!(payload_at(DataLink::PPP, &[0xc0, 0x21]), None);
        assert_eq!(Framing::of_ip(DataLink::IEEE802_11), None);
    }

    #[test]
    fn framed_packet_gets_an_ethernet_header_and_length() {
        let framing = Framing::of_ip(DataLink::NULL).unwrap();
        let (frame, length) = framing.ethernet(&[2, 0, 0, 0, 0x45, 1], 104).unwrap();
        assert_eq!(*frame, [&ADDRESSES[..], &[8, 0, 0x45, 1]].concat());
        assert_eq!(length, 114);
    }
}
