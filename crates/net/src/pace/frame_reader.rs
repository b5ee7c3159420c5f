//! The frames of a capture or a recording, with the times at which they were seen.

use super::placing::seen_ps;
use super::{PaceError, PortLine};
use crate::Frame;
use crate::capture::{CaptureError, CaptureNotes, CaptureReader};
use crate::recording::{Recorded, RecordingReader, RecordingSurvey};

/// Reads a file frame by frame.
#[derive(Debug)]
pub(super) enum FrameReader {
    /// Times count from the first frame.
    Capture(CaptureReader),
    /// Times count from cycle 0.
    Recording(RecordingReader, RecordingSurvey),
}

impl FrameReader {
    pub(super) fn of_recording(reader: RecordingReader) -> Self {
        let survey = RecordingSurvey::of(reader.head().clone());
        Self::Recording(reader, survey)
    }

    /// Checks that the lines match those of a recording.
    pub(super) fn check_lines(&self, lines: &[PortLine]) -> Result<(), PaceError> {
        let Self::Recording(reader, _) = self else {
            return Ok(());
        };
        let recorded = &reader.head().ports;
        if recorded.len() != lines.len() {
            return Err(PaceError::PortCount {
                recorded: recorded.len(),
                ports: lines.len(),
            });
        }
        let rates = { recorded.iter() }.map(|port| port.bits_per_second);
        let other = (0..)
            .zip(rates.zip(lines))
            .find(|(_, (rate, line))| *rate != line.bits_per_second);
        match other {
            Some((port, (recorded, line))) => Err(PaceError::LineRateMismatch {
                port,
                recorded,
                now: line.bits_per_second,
            }),
            None => Ok(()),
        }
    }

    /// Returns the number of frames read so far.
    pub(super) fn frames(&self) -> u64 {
        match self {
            Self::Capture(reader) => reader.frames(),
            Self::Recording(reader, _) => reader.frames(),
        }
    }

    /// Returns the origin of the times, in nanoseconds since 1970.
    pub(super) fn first_timestamp_ns(&self) -> i128 {
        match self {
            Self::Capture(reader) => reader.first_timestamp_ns(),
            Self::Recording(reader, _) => i128::from(reader.head().start_seconds) * 1_000_000_000,
        }
    }

    /// Returns the names of the interfaces so far.
    pub(super) fn interfaces(&self) -> Vec<String> {
        match self {
            Self::Capture(reader) => reader.interfaces().to_vec(),
            Self::Recording(reader, _) => {
                let ports = reader.head().ports.iter();
                ports.map(|port| port.name.clone()).collect()
            }
        }
    }

    /// Returns the irregularities found so far.
    pub(super) fn notes(&self) -> CaptureNotes {
        match self {
            Self::Capture(reader) => reader.notes(),
            Self::Recording(..) => CaptureNotes::default(),
        }
    }

    /// Returns what the recording holds besides its frames, as far as it has been read.
    pub(super) fn recording(self) -> Option<RecordingSurvey> {
        match self {
            Self::Capture(_) => None,
            Self::Recording(reader, survey) => Some(RecordingSurvey {
                incomplete_bytes: reader.incomplete_bytes(),
                ..survey
            }),
        }
    }
}

impl Iterator for FrameReader {
    type Item = Result<(Frame, u128), CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Capture(reader) => {
                let frame = reader.next()?;
                Some(frame.map(|frame| {
                    let seen = seen_ps(&frame);
                    (frame, seen)
                }))
            }
            Self::Recording(reader, survey) => loop {
                match reader.next()? {
                    Ok(Recorded::Control { at_ps, text }) => survey.take(at_ps, text),
                    Ok(Recorded::Frame { at_ps, port, bytes }) => {
                        let frame = Frame {
                            time_ns: at_ps / 1000,
                            port,
                            original_len: bytes.len() as u32,
                            bytes,
                        };
                        return Some(Ok((frame, u128::from(at_ps))));
                    }
                    Err(error) => return Some(Err(error)),
                }
            },
        }
    }
}
