//! The few kernel requests for which no library has a safe call: each takes a kernel structure, which the
//! kernel reads or fills in.

#![allow(unsafe_code, reason = "ioctl, getsockname, setsockopt and recvmsg")]

use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

nix::ioctl_write_ptr_bad!(tun_set_interface, libc::TUNSETIFF, libc::ifreq);
nix::ioctl_read_bad!(read_flags, libc::SIOCGIFFLAGS, libc::ifreq);
nix::ioctl_write_ptr_bad!(write_flags, libc::SIOCSIFFLAGS, libc::ifreq);
nix::ioctl_read_bad!(read_mtu, libc::SIOCGIFMTU, libc::ifreq);

/// A request about an interface, with a zeroed value. The name is known to fit ([`crate::port_option`]).
fn request(name: &str) -> libc::ifreq {
    // SAFETY: integers, a union of integers and addresses, for which zeros are valid values.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

/// Makes an open `/dev/net/tun` the TAP with a name, which is created if necessary. Frames have no kernel
/// header, and offloads are off.
pub fn become_tap(device: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let mut request = request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: an open file and a structure of the request's form, both alive throughout the call.
    unsafe { tun_set_interface(device.as_raw_fd(), &raw const request) }?;
    Ok(())
}

/// Brings an interface up, if it is not.
pub fn set_up(name: &str) -> io::Result<()> {
    let socket = any_socket()?;
    let mut request = request(name);
    // SAFETY: as above; the kernel fills in the flags, which are then the valid member of the union.
    let flags = unsafe {
        read_flags(socket.as_raw_fd(), &raw mut request)?;
        request.ifr_ifru.ifru_flags
    };
    let up = libc::IFF_UP as libc::c_short;
    if flags & up != 0 {
        return Ok(());
    }
    request.ifr_ifru.ifru_flags = flags | up;
    // SAFETY: as above.
    unsafe { write_flags(socket.as_raw_fd(), &raw const request) }?;
    Ok(())
}

/// The largest payload of an interface's frames, in bytes.
pub fn mtu(name: &str) -> io::Result<usize> {
    let socket = any_socket()?;
    let mut request = request(name);
    // SAFETY: as above; the kernel fills in the MTU, which is then the valid member of the union.
    let mtu = unsafe {
        read_mtu(socket.as_raw_fd(), &raw mut request)?;
        request.ifr_ifru.ifru_mtu
    };
    Ok(usize::try_from(mtu).unwrap_or(0))
}

/// The number of the interface that a packet socket is bound to; -1 once that is gone. The address returned
/// by the kernel is shorter than its structure, for which reason libraries reject it.
pub fn bound_interface(socket: BorrowedFd<'_>) -> io::Result<i32> {
    // SAFETY: integers and an array of them.
    let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
    let mut length = mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel writes no more than `length` bytes, the size of the structure.
    let done = unsafe {
        libc::getsockname(
            socket.as_raw_fd(),
            (&raw mut address).cast(),
            &raw mut length,
        )
    };
    if done == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(address.sll_ifindex)
}

/// Lets a packet socket receive frames for other stations (promiscuous mode), but not the frames that the
/// host itself sends on the interface.
pub fn enable_promiscuous_mode(socket: BorrowedFd<'_>, index: i32) -> io::Result<()> {
    // SAFETY: integers and an array of them.
    let mut membership: libc::packet_mreq = unsafe { mem::zeroed() };
    membership.mr_ifindex = index;
    membership.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
    set(socket, libc::PACKET_ADD_MEMBERSHIP, &membership)?;
    set(socket, libc::PACKET_IGNORE_OUTGOING, &1_i32)
}

/// Lets a packet socket report the pending offloads of each frame, as [`receive`] returns them, and expect a
/// header before each frame sent.
pub fn enable_offload_reports(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::PACKET_AUXDATA, &1_i32)?;
    set(socket, libc::PACKET_VNET_HDR, &1_i32)
}

/// Receives a frame from a packet socket that [reports offloads](enable_offload_reports). Returns its length, and
/// the kernel's auxiliary data. The header of a virtual network card is stored in `header`.
pub fn receive(
    socket: BorrowedFd<'_>,
    header: &mut [u8],
    frame: &mut [u8],
) -> io::Result<(usize, Option<libc::tpacket_auxdata>)> {
    let before = header.len();
    let mut parts = [header, frame].map(|part| libc::iovec {
        iov_base: part.as_mut_ptr().cast(),
        iov_len: part.len(),
    });
    let mut control = [0_u64; 8];
    // SAFETY: integers and pointers, for which zeros are valid values.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len();
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = mem::size_of_val(&control);
    // SAFETY: an open socket, and a message whose parts are alive throughout the call and have the given
    // lengths.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    let received = nix::errno::Errno::result(received)? as usize;
    let mut said = None;
    // SAFETY: the kernel has filled in the message; the macros stay within its control data, in which a note
    // of this type is such a structure.
    unsafe {
        let mut note = libc::CMSG_FIRSTHDR(&raw const message);
        while let Some(found) = note.as_ref() {
            if (found.cmsg_level, found.cmsg_type) == (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
                said = Some(
                    libc::CMSG_DATA(note)
                        .cast::<libc::tpacket_auxdata>()
                        .read_unaligned(),
                );
            }
            note = libc::CMSG_NXTHDR(&raw const message, note);
        }
    }
    Ok((received.saturating_sub(before), said))
}

fn set<T>(socket: BorrowedFd<'_>, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = mem::size_of::<T>() as libc::socklen_t;
    let pointer = std::ptr::from_ref(value).cast();
    // SAFETY: an open socket, and a value of the given length, alive throughout the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            pointer,
            length,
        )
    };
    nix::errno::Errno::result(done)?;
    Ok(())
}

/// A socket for requests about interfaces in the thread's network namespace.
fn any_socket() -> io::Result<std::os::fd::OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    Ok(socket(
        AddressFamily::Inet,
        SockType::Datagram,
        flags,
        None,
    )?)
}
