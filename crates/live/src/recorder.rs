//! The record of a live run: all that enters its system, with the times.

use std::io;

use npsim_net::recording::RecordingWriter;
use npsim_transport::time::{SECOND, Time};

/// Writes a record.
#[derive(Debug)]
pub struct Recorder {
    file: RecordingWriter,
    hertz: u64,
}

impl Recorder {
    /// Records into a file that has begun, whose times are in cycles of this clock.
    #[must_use]
    pub fn new(file: RecordingWriter, hertz: u64) -> Self {
        Self { file, hertz }
    }

    /// A frame enters by a port at a time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn frame(&mut self, port: usize, begins: Time, bytes: &[u8]) -> io::Result<()> {
        self.file.frame(port as u8, self.cycle(begins), bytes)
    }

    /// A change from outside takes effect at a time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn change(&mut self, at: Time, command: &str) -> io::Result<()> {
        self.file.control(self.cycle(at), command)
    }

    /// All that was recorded is to be in the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// The run has ended at a time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(&mut self, at: Time) -> io::Result<()> {
        self.file.end(self.cycle(at))
    }

    fn cycle(&self, time: Time) -> u64 {
        let cycle = (u128::from(time) * u128::from(self.hertz)).div_ceil(u128::from(SECOND));
        u64::try_from(cycle).unwrap_or(u64::MAX)
    }
}
