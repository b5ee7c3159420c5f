//! What a recording holds besides its frames.

use std::fs::File;
use std::path::Path;

use super::{END, Recorded, RecordingHead, RecordingReader};
use crate::capture::CaptureError;
use crate::inputs;

/// A command of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCommand {
    /// When it takes effect, in picoseconds since cycle 0.
    pub at_ps: u64,
    /// The command.
    pub text: String,
}

impl RecordedCommand {
    /// Returns the cycle of a clock in which it takes effect.
    #[must_use]
    pub fn cycle(&self, hertz: u64) -> u64 {
        super::cycle(self.at_ps, hertz)
    }
}

/// What a recording holds besides its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingSurvey {
    /// The description of the run.
    pub head: RecordingHead,
    /// The commands, in the order in which they were given.
    pub commands: Vec<RecordedCommand>,
    /// When the run ended, in picoseconds since cycle 0; `None` if it was killed.
    pub end_ps: Option<u64>,
    /// Bytes of the incomplete block at the end of the file, which were ignored.
    pub incomplete_bytes: u64,
}

/// Reads everything but the frames of the recording at `path`.
///
/// # Errors
/// Returns an error if the file cannot be read, is damaged, is not a recording, or can be read only
/// once.
pub fn survey(path: &Path) -> Result<RecordingSurvey, CaptureError> {
    let failed = |source| CaptureError::Io {
        path: path.to_path_buf(),
        source,
    };
    inputs::note_read(path);
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(CaptureError::NotARecording {
            path: path.to_path_buf(),
            reason: "it is not a regular file, as a recording has to be".to_owned(),
        });
    }
    let mut reader = RecordingReader::new(path, Box::new(file))?;
    let mut survey = RecordingSurvey::of(reader.head().clone());
    for packet in reader.by_ref() {
        if let Recorded::Control { at_ps, text } = packet? {
            survey.take(at_ps, text);
        }
    }
    survey.incomplete_bytes = reader.incomplete_bytes();
    Ok(survey)
}

impl RecordingSurvey {
    pub(crate) fn of(head: RecordingHead) -> Self {
        Self {
            head,
            commands: Vec::new(),
            end_ps: None,
            incomplete_bytes: 0,
        }
    }

    /// Adds a command.
    pub(crate) fn take(&mut self, at_ps: u64, text: String) {
        if text == END {
            self.end_ps = Some(at_ps);
        } else {
            self.commands.push(RecordedCommand { at_ps, text });
        }
    }

    /// Returns the cycle in which the run ended; `None` if it was killed.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.end_ps.map(|end| super::cycle(end, self.head.hertz))
    }
}
