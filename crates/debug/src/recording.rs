//! The frames of a run in memory, so that it can be rerun from anywhere.
//!
//! Frames are read from their source when the run first requests them. They are indexed by number,
//! so going back costs nothing however long the run is.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use npsim_net::LineFrame;
use npsim_net::capture::CaptureError;
use npsim_session::links::Frames;

/// Frames that can be replayed from any number on.
#[derive(Clone)]
pub(crate) struct Recording(Arc<Mutex<Tape>>);

struct Tape {
    /// The source of further frames.
    source: Option<Frames>,
    frames: Vec<LineFrame>,
    /// The error that ended the source, if any.
    failure: Option<String>,
    /// Total length of all frames in bytes.
    bytes: usize,
}

impl fmt::Debug for Recording {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tape = self.tape();
        out.debug_struct("Recording")
            .field("frames", &tape.frames.len())
            .finish_non_exhaustive()
    }
}

impl Recording {
    /// A recording that has not read any frame.
    pub fn new(source: Frames) -> Self {
        Self(Arc::new(Mutex::new(Tape {
            source: Some(source),
            frames: Vec::new(),
            failure: None,
            bytes: 0,
        })))
    }

    /// All frames from this number on.
    pub fn from(&self, number: u64) -> Frames {
        Box::new(Player {
            recording: self.clone(),
            next: usize::try_from(number).unwrap_or(usize::MAX),
        })
    }

    /// Memory taken by the frames in bytes.
    pub fn bytes(&self) -> usize {
        let tape = self.tape();
        tape.bytes + tape.frames.len() * size_of::<LineFrame>()
    }

    /// A frame that has already been requested.
    pub fn frame(&self, number: u64) -> Option<LineFrame> {
        let number = usize::try_from(number).ok()?;
        self.tape().frames.get(number).cloned()
    }

    /// Locks the tape. Frames are either complete or absent, even if another thread has panicked.
    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tape {
    fn frame(&mut self, number: usize) -> Option<Result<LineFrame, CaptureError>> {
        while self.frames.len() <= number {
            match self.source.as_mut().and_then(Iterator::next) {
                Some(Ok(frame)) => {
                    self.bytes += frame.bytes.len();
                    self.frames.push(frame);
                }
                Some(Err(error)) => {
                    self.failure = Some(error.to_string());
                    self.source = None;
                }
                None => {
                    self.source = None;
                    let reason = self.failure.clone()?;
                    return Some(Err(CaptureError::Io {
                        path: PathBuf::new(),
                        source: io::Error::other(reason),
                    }));
                }
            }
        }
        self.frames.get(number).cloned().map(Ok)
    }
}

struct Player {
    recording: Recording,
    next: usize,
}

impl Iterator for Player {
    type Item = Result<LineFrame, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.recording.tape().frame(self.next);
        self.next = self.next.saturating_add(1);
        frame
    }
}
