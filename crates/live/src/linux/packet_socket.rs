//! Interfaces that exist, read and written below the host's stack by a packet socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, bind, recv, send, socket,
};

use super::ioctl;
use crate::offload;

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

    /// Reads a frame and completes the checksum that its sender left to the interface.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = recv(self.socket.as_raw_fd(), buffer, MsgFlags::empty())?;
        offload::complete_checksum(&mut buffer[..length]);
        Ok(length)
    }

    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        send(self.socket.as_raw_fd(), frame, MsgFlags::empty())?;
        Ok(())
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
