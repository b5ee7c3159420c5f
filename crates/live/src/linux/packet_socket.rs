//! Interfaces that exist, read and written below the host's stack by a packet socket.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, bind, recv, socket,
};

use super::ioctl;
use crate::offload::{PartialChecksum, VlanTag};

/// Bytes of the header of a virtual network card, which stands before each frame: flags, the kind of
/// segment that is to be cut, two numbers about it, where the checksum begins, and where its field is.
/// All zeros say that nothing is left to be done.
const HEADER: usize = 10;
/// A flag of it: the checksum is that of the pseudo-header alone.
const NEEDS_CHECKSUM: u8 = 1;
/// The type of a tag whose type is not said.
const VLAN: u16 = 0x8100;

/// A packet socket on one interface.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    /// The interface's number.
    index: usize,
}

impl PacketSocket {
    /// Binds a socket to the interface of a name, which has to be in the thread's network
    /// namespace.
    pub fn open(name: &str) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let all = SockProtocol::EthAll;
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, all)?;
        let link = { getifaddrs()?.filter(|it| it.interface_name == name) }
            .find_map(|it| it.address?.as_link_addr().copied());
        let link = link.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))?;
        // Its address names no protocol, so that of the socket stays.
        bind(socket.as_raw_fd(), &link)?;
        ioctl::see_all_that_comes(socket.as_fd(), link.ifindex() as i32)?;
        // What came by other interfaces before the socket was bound to this one is none of it. An
        // interface that is down says so once, before what is there.
        let mut rest = [0; 1];
        while let Ok(_) | Err(Errno::ENETDOWN) =
            recv(socket.as_raw_fd(), &mut rest, MsgFlags::MSG_DONTWAIT)
        {}
        ioctl::tell_what_is_left(socket.as_fd())?;
        Ok(Self {
            socket,
            index: link.ifindex(),
        })
    }

    /// Whether the interface still exists.
    pub fn is_bound(&self) -> bool {
        let bound = ioctl::bound_interface(self.socket.as_fd());
        bound.is_ok_and(|index| usize::try_from(index) == Ok(self.index))
    }

    /// Reads a frame and does what its sender left to the interface: completes the checksum, inserts
    /// the tag. A segment that was left to be cut is no frame.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut header = [0; HEADER];
        let received = ioctl::receive(self.socket.as_fd(), &mut header, buffer);
        let (length, said) = match received {
            // The kernel cannot describe the segment in such a header.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Ok(None),
            received => received?,
        };
        let [flags, segment, .., start, start_high, offset, offset_high] = header;
        if segment != 0 {
            return Ok(None);
        }
        if flags & NEEDS_CHECKSUM != 0 {
            let number = |low, high| usize::from(u16::from_ne_bytes([low, high]));
            let partial = PartialChecksum {
                start: number(start, start_high),
                offset: number(offset, offset_high),
            };
            partial.complete(&mut buffer[..length]);
        }
        let tag = said.filter(|it| it.tp_status & libc::TP_STATUS_VLAN_VALID != 0);
        Ok(Some(tag.map_or(length, |said| {
            let named = said.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
            let tag = VlanTag {
                protocol: if named { said.tp_vlan_tpid } else { VLAN },
                control: said.tp_vlan_tci,
            };
            tag.insert(buffer, length)
        })))
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
