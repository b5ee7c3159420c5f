//! Waiting for frames, requests, or a timeout.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Waits until one of the files can be read, the time is up, or a signal arrives; returns which
/// files can be read. An error of a file is reported when it is read.
///
/// # Errors
/// Returns an error if the kernel refuses to wait.
pub fn wait(files: &[BorrowedFd<'_>], most: Duration) -> io::Result<Vec<bool>> {
    let polled = files
        .iter()
        .map(|file| PollFd::from_borrowed_fd(*file, PollFlags::IN));
    let mut polled: Vec<_> = polled.collect();
    let most = Timespec {
        tv_sec: most.as_secs() as i64,
        tv_nsec: most.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(polled.iter().map(|it| !it.revents().is_empty()).collect())
}
