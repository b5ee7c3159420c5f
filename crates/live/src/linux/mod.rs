//! Interfaces of a Linux host.

pub mod control;
mod host;
mod ioctl;
mod namespace;
mod packet_socket;
mod privileges;
mod tap;
mod wait;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use npsim_project::problem::Problem;

use crate::live_run::WriteOutcome;
use crate::offload::VlanTag;
use crate::port_option::{InterfaceKind, InterfaceName};
use namespace::NamespaceId;
use packet_socket::PacketSocket;
use tap::Tap;

pub use host::LinuxHost;
pub use privileges::drop_privileges;

/// The size of a read buffer that holds anything an interface returns: segments left to the card for
/// cutting are longer than any frame.
const BUFFER_SIZE: usize = 65_536 + 18;
/// The largest payload of a frame, in bytes.
const MTU: usize = 1_500;
/// The maximum size of an Ethernet header, with two tags, in bytes.
const HEADERS: usize = 14 + 2 * VlanTag::BYTES;

/// An open interface.
#[derive(Debug)]
enum Device {
    Tap(Tap),
    Socket(PacketSocket),
}

/// An interface from which frames are read and to which they are written, without blocking.
#[derive(Debug)]
pub struct Interface {
    name: InterfaceName,
    /// The namespace that it is in, if one was named.
    namespace: Option<NamespaceId>,
    device: Device,
    buffer: Vec<u8>,
    /// The number of segments that could not be cut into frames.
    refused: u64,
}

impl Interface {
    /// Opens an interface, in its network namespace; a TAP is created if there is none with its
    /// name.
    ///
    /// # Errors
    /// Returns an error if the interface or the namespace does not exist, is in use or is of another
    /// kind, or the caller may not open it, each with a suggestion.
    pub fn open(name: &InterfaceName) -> Result<Self, Problem> {
        let open = || match name.kind {
            InterfaceKind::Tap => Tap::open(&name.name).map(Device::Tap),
            InterfaceKind::Existing => PacketSocket::open(&name.name).map(Device::Socket),
        };
        let (device, mtu) = namespace::in_namespace(name.namespace.as_deref(), || {
            let device = open().map_err(|error| refused(name, &error))?;
            let mtu = ioctl::mtu(&name.name);
            Ok((device, mtu.map_err(|error| refused(name, &error))?))
        })?;
        if mtu != MTU {
            let at = name
                .namespace
                .as_ref()
                .map_or_else(String::new, |it| format!("-n {it} "));
            return Err(Problem::new(format!(
                "`{name}` has an MTU of {mtu}, and the line of a port has one of {MTU}"
            ))
            .help(format!("`ip {at}link set {} mtu {MTU}`", name.name)));
        }
        Ok(Self {
            name: name.clone(),
            namespace: name.namespace.as_deref().and_then(NamespaceId::of),
            device,
            buffer: vec![0; BUFFER_SIZE],
            refused: 0,
        })
    }

    /// The name with which it was opened.
    #[must_use]
    pub fn name(&self) -> &InterfaceName {
        &self.name
    }

    /// Whether it still exists, in the namespace with its name. A TAP that has vanished reports that
    /// when it is read.
    pub(crate) fn still_exists(&self) -> bool {
        let named = self.name.namespace.as_deref();
        let bound = match &self.device {
            Device::Tap(_) => true,
            Device::Socket(socket) => socket.is_bound(),
        };
        bound && named.and_then(NamespaceId::of) == self.namespace
    }

    /// Reads a frame from the host, without a frame check sequence and with complete checksums, if
    /// there is one. Segments that cannot be cut into frames are dropped and counted.
    ///
    /// # Errors
    /// Returns an error if the interface has vanished.
    pub fn read(&mut self) -> io::Result<Option<&[u8]>> {
        let read = match &mut self.device {
            Device::Tap(tap) => tap.read(&mut self.buffer).map(Some),
            Device::Socket(socket) => socket.read(&mut self.buffer),
        };
        match read {
            Ok(Some(length)) if length <= MTU + HEADERS => Ok(Some(&self.buffer[..length])),
            Ok(_) => {
                self.refused += 1;
                Ok(None)
            }
            Err(error) if has_code(&error, &WOULD_BLOCK) || has_code(&error, &DOWN) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a frame can be read that the kernel's poll does not report.
    pub(crate) fn has_frames(&self) -> bool {
        match &self.device {
            Device::Tap(_) => false,
            Device::Socket(socket) => socket.has_pending_segments(),
        }
    }

    /// The number of segments that could not be cut.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// Sends a frame to the host.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn write(&self, frame: &[u8]) -> io::Result<WriteOutcome> {
        let written = match &self.device {
            Device::Tap(tap) => tap.write(frame),
            Device::Socket(socket) => socket.write(frame),
        };
        match written {
            Ok(()) => Ok(WriteOutcome::Accepted),
            Err(error) if has_code(&error, &WOULD_BLOCK) => Ok(WriteOutcome::Full),
            Err(error) if has_code(&error, &DOWN) || has_code(&error, &[libc::EMSGSIZE]) => {
                Ok(WriteOutcome::Lost)
            }
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Interface {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.device {
            Device::Tap(tap) => tap.as_fd(),
            Device::Socket(socket) => socket.as_fd(),
        }
    }
}

/// There is nothing to read, or no room to write.
const WOULD_BLOCK: [i32; 3] = [libc::EAGAIN, libc::ENOBUFS, libc::EINTR];
/// The interface is down: a socket reports the first code, a TAP the second.
const DOWN: [i32; 2] = [libc::ENETDOWN, libc::EIO];

fn has_code(error: &io::Error, codes: &[i32]) -> bool {
    error
        .raw_os_error()
        .is_some_and(|code| codes.contains(&code))
}

/// The error for an interface that cannot be opened.
fn refused(name: &InterfaceName, error: &io::Error) -> Problem {
    let problem = |why: &str| Problem::new(format!("`{name}` cannot be opened: {why}"));
    match (name.kind, error.raw_os_error()) {
        (InterfaceKind::Tap, Some(libc::EACCES)) => problem("this user may not open /dev/net/tun")
            .help("`ls -l /dev/net/tun` shows who may open it; `chmod 666 /dev/net/tun` allows every user, and a container needs the device (`--device /dev/net/tun`)"),
        (_, Some(libc::EPERM | libc::EACCES)) => problem("that takes the capability CAP_NET_ADMIN (and CAP_NET_RAW for `if:`)")
            .help("run it as root, or give the program the capabilities with `setcap cap_net_admin,cap_net_raw,cap_sys_admin+ep`; a TAP that `ip tuntap add NAME mode tap user USER` has made needs none"),
        (InterfaceKind::Tap, Some(libc::EBUSY)) => {
            problem("another program has it open").help("end that program, or choose another name")
        }
        (InterfaceKind::Tap, Some(libc::EINVAL)) => {
            problem("there is an interface of this name that is not a TAP")
                .help(format!("choose another name, or write `if:{}` for the interface that exists", name.name))
        }
        (InterfaceKind::Tap, Some(libc::ENOENT)) => problem("this host has no /dev/net/tun")
            .help("load the module with `modprobe tun`"),
        (InterfaceKind::Existing, Some(libc::ENODEV | libc::ENXIO)) => problem("there is no such interface")
            .help("`ip link` lists those that exist; `tap:NAME` makes one"),
        _ => problem(&error.to_string()),
    }
}
