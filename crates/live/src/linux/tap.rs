//! TAPs: interfaces to the host's own stack.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use super::ioctl;

const DEVICE: &str = "/dev/net/tun";

/// A TAP. If it was created here, it vanishes when it is closed.
#[derive(Debug)]
pub struct Tap(File);

impl Tap {
    /// Opens the TAP with a name, which is created if there is none, and brings it up.
    pub fn open(name: &str) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK);
        let file = options.open(DEVICE).map_err(|error| match error.kind() {
            // Distinguishes this from a missing capability, for which the kernel returns EPERM
            // after the open.
            io::ErrorKind::PermissionDenied => io::Error::from_raw_os_error(libc::EACCES),
            _ => error,
        })?;
        ioctl::become_tap(file.as_fd(), name)?;
        // A user who may use an existing TAP need not have the right to bring it up.
        match ioctl::set_up(name) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            done => done?,
        }
        Ok(Self(file))
    }

    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(buffer)
    }

    /// The kernel takes a frame whole or not at all.
    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        (&self.0).write(frame).map(drop)
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
