//! Positions as a page counts them: lines from 1, columns from 0 in UTF-16 code units.

use std::ops::Range;

use npsim::analysis::LineIndex;
use serde::Serialize;

/// The line and column of the start, and those of the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TextRange(pub u32, pub u32, pub u32, pub u32);

/// The line and column of a byte offset.
pub fn position(text: &LineIndex, offset: usize) -> (u32, u32) {
    let (line, units) = text.utf16_position(offset);
    (line as u32 + 1, units as u32)
}

impl TextRange {
    /// The range of a byte range.
    pub fn of(text: &LineIndex, bytes: &Range<usize>) -> Self {
        let (line, column) = position(text, bytes.start);
        let (end_line, end_column) = position(text, bytes.end.max(bytes.start));
        Self(line, column, end_line, end_column)
    }
}

/// The byte offset of a position; one outside the text is clamped to the nearest place in it.
pub fn offset(text: &LineIndex, line: u32, column: u32) -> usize {
    text.offset_of((line.max(1) - 1) as usize, column as usize)
}
