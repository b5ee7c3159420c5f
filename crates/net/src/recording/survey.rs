//! What a recording says besides its frames.

use std::fs::File;
use std::path::Path;

use super::{END, Recorded, RecordingHead, RecordingReader};
use crate::capture::CaptureError;
use crate::inputs;

/// A command of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCommand {
    /// From when on it holds, picoseconds since cycle 0.
    pub at_ps: u64,
    /// The command.
    pub text: String,
}

impl RecordedCommand {
    /// The cycle of a clock from which on it holds.
    #[must_use]
    pub fn cycle(&self, hertz: u64) -> u64 {
        super::cycle(self.at_ps, hertz)
    }
}

/// What a recording says besides its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingSurvey {
    /// Of which run it is.
    pub head: RecordingHead,
    /// The commands, in the order in which they were given.
    pub commands: Vec<RecordedCommand>,
    /// Where the run ended, picoseconds since cycle 0, if it was not killed.
    pub end_ps: Option<u64>,
    /// Bytes of the block in which the file ends, which were left out.
    pub cut_bytes: u64,
}

/// What the recording at `path` says besides its frames.
///
/// # Errors
/// The file cannot be read, is damaged, is no recording, or can be read only once.
pub fn survey(path: &Path) -> Result<RecordingSurvey, CaptureError> {
    let failed = |source| CaptureError::Io {
        path: path.to_path_buf(),
        source,
    };
    inputs::reading(path);
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(CaptureError::NotARecording {
            path: path.to_path_buf(),
            reason: "it is no regular file, which is read several times".to_owned(),
        });
    }
    let mut reader = RecordingReader::new(path, Box::new(file))?;
    let mut survey = RecordingSurvey::of(reader.head().clone());
    for packet in reader.by_ref() {
        if let Recorded::Control { at_ps, text } = packet? {
            survey.take(at_ps, text);
        }
    }
    survey.cut_bytes = reader.cut_bytes();
    Ok(survey)
}

impl RecordingSurvey {
    pub(crate) fn of(head: RecordingHead) -> Self {
        Self {
            head,
            commands: Vec::new(),
            end_ps: None,
            cut_bytes: 0,
        }
    }

    /// Takes note of a command.
    pub(crate) fn take(&mut self, at_ps: u64, text: String) {
        if text == END {
            self.end_ps = Some(at_ps);
        } else {
            self.commands.push(RecordedCommand { at_ps, text });
        }
    }

    /// The cycle in which the run ended, if it was not killed.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.end_ps.map(|end| super::cycle(end, self.head.hertz))
    }
}
