//! TAPs: interfaces behind which the host's own stack is.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use super::ioctl;

const DEVICE: &str = "/dev/net/tun";

/// A TAP. One that was made for it vanishes with it.
#[derive(Debug)]
pub struct Tap(File);

impl Tap {
    /// Opens the TAP of a name, which is made if there is none, and sets it up.
    pub fn open(name: &str) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK);
        let file = options.open(DEVICE).map_err(|error| match error.kind() {
            // Told from a missing capability, with which the kernel answers EPERM once it is open.
            io::ErrorKind::PermissionDenied => io::Error::from_raw_os_error(libc::EACCES),
            _ => error,
        })?;
        ioctl::become_tap(file.as_fd(), name)?;
        // A user who may use a TAP that exists need not be able to set it up.
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
