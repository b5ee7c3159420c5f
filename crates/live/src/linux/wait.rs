//! Waiting for frames, requests, or a time.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What happened to a file that was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// It can be read, or what is wrong with it shows when it is read.
    pub readable: bool,
    /// It can be written.
    pub writable: bool,
}

/// Waits until one of the files can be read, or written where that is asked for, or the time is
/// up, or a signal comes; says which.
///
/// # Errors
/// The kernel refuses it.
pub fn wait(files: &[(BorrowedFd<'_>, Readiness)], most: Duration) -> io::Result<Vec<Readiness>> {
    let flags = |wanted: &Readiness| {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, wanted.readable);
        flags.set(PollFlags::OUT, wanted.writable);
        flags
    };
    let mut polled: Vec<_> = { files.iter() }
        .map(|(file, wanted)| PollFd::from_borrowed_fd(*file, flags(wanted)))
        .collect();
    let most = Timespec {
        tv_sec: most.as_secs() as i64,
        tv_nsec: most.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = polled.iter().map(|it| {
        let events = it.revents();
        let failed = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
        Readiness {
            readable: events.intersects(PollFlags::IN | failed),
            writable: events.contains(PollFlags::OUT),
        }
    });
    Ok(ready.collect())
}
