//! What a recording says besides its frames.

use super::{END, RecordingHead};

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
