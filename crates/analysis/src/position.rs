//! Texts by bytes and by lines, and parts of files.

use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A text with the byte offsets of its lines, which are computed on first use.
#[derive(Clone, Debug)]
pub struct LineIndex {
    text: Arc<str>,
    starts: OnceLock<Vec<usize>>,
}

impl LineIndex {
    /// The index of a text.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            starts: OnceLock::new(),
        }
    }

    /// The text, shared.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// The byte offsets at which the lines begin.
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let line_starts = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(line_starts).collect()
        })
    }

    /// The line of a byte, from 0.
    #[must_use]
    pub fn line(&self, offset: usize) -> usize {
        self.starts().partition_point(|start| *start <= offset) - 1
    }

    /// The first byte of the line that contains a byte.
    #[must_use]
    pub fn line_start(&self, offset: usize) -> usize {
        self.starts()[self.line(offset)]
    }

    /// The line of a byte, from 0, and the UTF-16 code units before it on that line, as editors
    /// count; a byte within a character counts as its first.
    #[must_use]
    pub fn utf16_position(&self, offset: usize) -> (usize, usize) {
        let at = self.floor_char_boundary(offset.min(self.len()));
        let units = self[self.line_start(at)..at].encode_utf16().count();
        (self.line(at), units)
    }

    /// The byte at a line, from 0, and a number of UTF-16 code units in it; positions outside of
    /// the text are moved to the nearest one inside.
    #[must_use]
    pub fn offset_of(&self, line: usize, units: usize) -> usize {
        let Some(&start) = self.starts().get(line) else {
            return self.len();
        };
        let line = self[start..].split('\n').next().unwrap_or("");
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut before = 0;
        for (at, character) in line.char_indices() {
            if before >= units {
                return start + at;
            }
            before += character.len_utf16();
        }
        start + line.len()
    }
}

impl Deref for LineIndex {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// A part of a file.
#[derive(Clone, Debug)]
pub struct Place {
    /// The canonical path of the file.
    pub path: PathBuf,
    /// The text of the file.
    pub text: Arc<LineIndex>,
    /// The bytes of the part.
    pub range: Range<usize>,
}

impl Place {
    /// A part of a file with this text.
    #[must_use]
    pub fn new(path: &Path, text: &Arc<LineIndex>, range: Range<usize>) -> Self {
        Self {
            path: path.to_path_buf(),
            text: Arc::clone(text),
            range,
        }
    }

    /// The line in which it begins, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.text.line(self.range.start) + 1
    }
}

/// A file has only one text, so the text is not compared.
impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.range == other.range && self.path == other.path
    }
}

impl Eq for Place {}

/// A change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced part.
    pub place: Place,
    /// The replacement.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::LineIndex;

    #[test]
    fn lines_are_counted_by_line_endings() {
        let text = LineIndex::new("a\r\n\nend");
        assert_eq!(text.starts(), [0, 3, 4]);
        assert_eq!(
            [0, 2, 3, 4, 7, 99].map(|at| text.line(at)),
            [0, 0, 1, 2, 2, 2]
        );
        assert_eq!(text.line_start(6), 4);
        assert_eq!(LineIndex::new("").line(0), 0);
    }
}
