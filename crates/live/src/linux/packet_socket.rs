//! Existing interfaces, accessed below the host's stack through a packet socket.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, bind, recv, socket,
};

use super::ioctl;
use crate::offload::{LongSegment, PartialChecksum, SegmentKind, VlanTag};

/// The size of the header of a virtual network card, which precedes each frame, in bytes: flags, the
/// kind of segment to be cut, the length of its headers, the payload of each frame, where the checksum
/// begins, and where its field is. A header of zeros means that no offload is pending.
const HEADER: usize = 10;
/// Kinds of segments: TCP over IPv4 and IPv6, and UDP.
const SEGMENTS: [(u8, SegmentKind); 3] = [
    (1, SegmentKind::Tcp),
    (4, SegmentKind::Tcp),
    (5, SegmentKind::Udp),
];
/// A bit beside the kind: only the first frame reports that the window was reduced.
const WINDOW_REDUCED: u8 = 0x80;
/// A flag in the header: the checksum covers only the pseudo-header.
const NEEDS_CHECKSUM: u8 = 1;
/// The Ethernet type of a tag whose type is not reported.
const VLAN: u16 = 0x8100;

/// A packet socket on one interface.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    /// The interface's number.
    index: usize,
    /// Frames of the last segment that have not been read yet.
    cut: VecDeque<Vec<u8>>,
}

impl PacketSocket {
    /// Binds a socket to the interface with a name, which must be in the thread's network namespace.
    pub fn open(name: &str) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let all = SockProtocol::EthAll;
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, all)?;
        let link = { getifaddrs()?.filter(|it| it.interface_name == name) }
            .find_map(|it| it.address?.as_link_addr().copied());
        let link = link.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))?;
        // The address contains no protocol, so that the socket's own remains.
        bind(socket.as_raw_fd(), &link)?;
        ioctl::enable_promiscuous_mode(socket.as_fd(), link.ifindex() as i32)?;
        // Discards frames that arrived from other interfaces before the socket was bound to this one.
        // An interface that is down reports so once, before any frames.
        let mut rest = [0; 1];
        while let Ok(_) | Err(Errno::ENETDOWN) =
            recv(socket.as_raw_fd(), &mut rest, MsgFlags::MSG_DONTWAIT)
        {}
        ioctl::enable_offload_reports(socket.as_fd())?;
        Ok(Self {
            socket,
            index: link.ifindex(),
            cut: VecDeque::new(),
        })
    }

    /// Whether the interface still exists.
    pub fn is_bound(&self) -> bool {
        let bound = ioctl::bound_interface(self.socket.as_fd());
        bound.is_ok_and(|index| usize::try_from(index) == Ok(self.index))
    }

    /// Whether a frame is available that the kernel's poll does not report.
    pub fn has_pending_segments(&self) -> bool {
        !self.cut.is_empty()
    }

    /// Reads a frame and performs its pending offloads: completes the checksum, inserts the tag, cuts
    /// a long segment. `None` if a segment arrived that cannot be cut.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if let Some(frame) = self.cut.pop_front() {
            let length = frame.len().min(buffer.len());
            buffer[..length].copy_from_slice(&frame[..length]);
            return Ok(Some(length));
        }
        let mut header = [0; HEADER];
        let received = ioctl::receive(self.socket.as_fd(), &mut header, buffer);
        let (length, said) = match received {
            // The kernel cannot describe the segment in such a header.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Ok(None),
            received => received?,
        };
        let tag = said.filter(|it| it.tp_status & libc::TP_STATUS_VLAN_VALID != 0);
        let tag = tag.map(|said| {
            let named = said.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
            VlanTag {
                protocol: if named { said.tp_vlan_tpid } else { VLAN },
                control: said.tp_vlan_tci,
            }
        });
        let number = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let checksum = PartialChecksum {
            start: number(6),
            offset: number(8),
        };
        let partial = header[0] & NEEDS_CHECKSUM != 0;
        match header[1] & !WINDOW_REDUCED {
            0 if partial => checksum.complete(&mut buffer[..length]),
            0 => {}
            kind => {
                let kind = SEGMENTS.iter().find(|it| it.0 == kind && partial);
                let long = kind.map(|(_, kind)| LongSegment {
                    kind: *kind,
                    checksum,
                    payload: number(4),
                });
                let whole = said.is_some_and(|it| it.tp_len as usize == length);
                let long = long.filter(|_| whole);
                let Some(frames) = long.and_then(|it| it.cut(&buffer[..length])) else {
                    return Ok(None);
                };
                self.cut.extend(frames.into_iter().map(|mut frame| {
                    if let Some(tag) = tag {
                        let length = frame.len();
                        frame.resize(length + VlanTag::BYTES, 0);
                        tag.insert(&mut frame, length);
                    }
                    frame
                }));
                return self.read(buffer);
            }
        }
        Ok(Some(tag.map_or(length, |tag| tag.insert(buffer, length))))
    }

    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        let parts = [&[0; HEADER], frame].map(IoSlice::new);
        rustix::io::writev(&self.socket, &parts)?;
        Ok(())
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
