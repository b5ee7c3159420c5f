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

use crate::port_option::{InterfaceKind, InterfaceName};
use namespace::NamespaceId;
use packet_socket::PacketSocket;
use tap::Tap;

pub use host::LinuxHost;
pub use privileges::drop_privileges;

/// The longest frame that fits an Ethernet of the usual payload with a VLAN tag, without check
/// sequence, and room to see that one is longer.
const ROOM: usize = 65_536 + 18;
/// Bytes of payload that a port takes.
const MTU: usize = 1_500;

/// An open interface.
#[derive(Debug)]
enum Device {
    Tap(Tap),
    Socket(PacketSocket),
}

/// An interface that frames are read from and written to, without waiting.
#[derive(Debug)]
pub struct Interface {
    name: InterfaceName,
    /// The namespace that it is in, where one was named.
    namespace: Option<NamespaceId>,
    device: Device,
    buffer: Vec<u8>,
}

/// What came of an attempt to read or write a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Attempt<T> {
    /// It succeeded.
    Done(T),
    /// Not now: there is nothing to read, or no room to write.
    Later,
}

impl Interface {
    /// Opens an interface, in its network namespace; a TAP is made if there is none of its name.
    ///
    /// # Errors
    /// The interface or the namespace does not exist, is in use or is of another kind, or the
    /// caller may not open it, each with what helps.
    pub fn open(name: &InterfaceName) -> Result<Self, Problem> {
        let open = || match name.kind {
            InterfaceKind::Tap => Tap::open(&name.name).map(Device::Tap),
            InterfaceKind::Existing => PacketSocket::open(&name.name).map(Device::Socket),
        };
        let (device, mtu) = namespace::within(name.namespace.as_deref(), || {
            let device = open().map_err(|error| refused(name, &error))?;
            let mtu = ioctl::mtu(&name.name);
            Ok((device, mtu.map_err(|error| refused(name, &error))?))
        })?;
        if mtu > MTU {
            let at = name
                .namespace
                .as_ref()
                .map_or_else(String::new, |it| format!("-n {it} "));
            return Err(Problem::new(format!(
                "`{name}` has an MTU of {mtu}, and a port of the chip takes frames with at most {MTU} bytes"
            ))
            .help(format!("`ip {at}link set {} mtu {MTU}`", name.name)));
        }
        Ok(Self {
            name: name.clone(),
            namespace: name.namespace.as_deref().and_then(NamespaceId::of),
            device,
            buffer: vec![0; ROOM],
        })
    }

    /// How it was named.
    #[must_use]
    pub fn name(&self) -> &InterfaceName {
        &self.name
    }

    /// Whether the name of its namespace still stands for that.
    pub(crate) fn has_its_namespace(&self) -> bool {
        let named = self.name.namespace.as_deref();
        named.and_then(NamespaceId::of) == self.namespace
    }

    /// Reads a frame from the host, without check sequence and with whole checksums.
    ///
    /// # Errors
    /// The interface or its namespace has vanished.
    pub fn read(&mut self) -> io::Result<Attempt<&mut Vec<u8>>> {
        self.buffer.resize(ROOM, 0);
        let read = match &self.device {
            Device::Tap(tap) => tap.read(&mut self.buffer),
            Device::Socket(socket) => socket.read(&mut self.buffer),
        };
        match read {
            Ok(length) => {
                self.buffer.truncate(length);
                Ok(Attempt::Done(&mut self.buffer))
            }
            Err(error) if is_later(&error) => Ok(Attempt::Later),
            Err(error) => Err(error),
        }
    }

    /// Gives a frame to the host.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn write(&self, frame: &[u8]) -> io::Result<Attempt<()>> {
        let written = match &self.device {
            Device::Tap(tap) => tap.write(frame),
            Device::Socket(socket) => socket.write(frame),
        };
        match written {
            Ok(()) => Ok(Attempt::Done(())),
            Err(error) if is_later(&error) => Ok(Attempt::Later),
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

/// Whether something is not possible now and may be later. An interface that is down takes no
/// frames until it is up again.
fn is_later(error: &io::Error) -> bool {
    let later = [
        libc::EAGAIN,
        libc::ENOBUFS,
        libc::EINTR,
        libc::ENETDOWN,
        libc::EIO,
    ];
    error
        .raw_os_error()
        .is_some_and(|code| later.contains(&code))
}

/// Why an interface cannot be opened, for people.
fn refused(name: &InterfaceName, error: &io::Error) -> Problem {
    let problem = |why: &str| Problem::new(format!("`{name}` cannot be opened: {why}"));
    match (name.kind, error.raw_os_error()) {
        (_, Some(libc::EPERM | libc::EACCES)) => problem("that takes the capability CAP_NET_ADMIN (and CAP_NET_RAW for `if:`)")
            .help("run it as root, or give the program the capabilities with `setcap cap_net_admin,cap_net_raw,cap_sys_admin+ep`; a TAP that `ip tuntap add NAME mode tap user USER` has made needs none"),
        (InterfaceKind::Tap, Some(libc::EBUSY)) => {
            problem("another program has it open").help("end that program, or choose another name")
        }
        (InterfaceKind::Tap, Some(libc::EINVAL)) => {
            problem("there is an interface of this name that is no TAP")
                .help(format!("choose another name, or write `if:{}` for the interface that exists", name.name))
        }
        (InterfaceKind::Tap, Some(libc::ENOENT)) => problem("this host has no /dev/net/tun")
            .help("load the module with `modprobe tun`"),
        (InterfaceKind::Existing, Some(libc::ENODEV | libc::ENXIO)) => problem("there is no such interface")
            .help("`ip link` has those that exist; `tap:NAME` makes one"),
        _ => problem(&error.to_string()),
    }
}
