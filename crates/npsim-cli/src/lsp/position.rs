//! Positions as the protocol counts them: lines from 0, columns in UTF-16 code units.

use std::ops::Range;

use lsp_types::Position;
use npsim::analysis::LineIndex;

/// The byte offset of a position; a position outside the text is clamped to the nearest place in
/// it.
#[must_use]
pub fn offset(text: &LineIndex, position: Position) -> usize {
    text.offset_of(position.line as usize, position.character as usize)
}

/// The byte range of a range.
#[must_use]
pub fn bytes(text: &LineIndex, range: lsp_types::Range) -> Range<usize> {
    let start = offset(text, range.start);
    start..offset(text, range.end).max(start)
}

/// The position of a byte offset; an offset within a character counts as its start.
#[must_use]
pub fn position(text: &LineIndex, offset: usize) -> Position {
    let (line, units) = text.utf16_position(offset);
    Position::new(line as u32, units as u32)
}

/// The range of a byte range.
#[must_use]
pub fn range(text: &LineIndex, bytes: &Range<usize>) -> lsp_types::Range {
    lsp_types::Range {
        start: position(text, bytes.start),
        end: position(text, bytes.end.max(bytes.start)),
    }
}

#[cfg(test)]
mod tests {
    use super::{LineIndex, offset, position};
    use lsp_types::Position;

    #[test]
    fn columns_count_utf_16_units() {
        let text = LineIndex::new("a\r\n; 😀µ x\nend");
        let at = text.find('x').expect("x");
        let place = position(&text, at);
        assert_eq!((place.line, place.character), (1, 6));
        assert_eq!(offset(&text, place), at);
        assert_eq!(position(&text, text.len()), Position::new(2, 3));
    }

    #[test]
    fn positions_equal_a_naive_count() {
        for text in ["", "a", "a\r\n; 😀µ x\n\nend", "\n\n"] {
            let index = LineIndex::new(text);
            for at in 0..=text.len() + 2 {
                let before = &text[..text.floor_char_boundary(at.min(text.len()))];
                let line = before.matches('\n').count() as u32;
                let last = before.rsplit('\n').next().unwrap_or("");
                let expected = Position::new(line, last.encode_utf16().count() as u32);
                assert_eq!(position(&index, at), expected, "{at} of {text:?}");
            }
        }
    }

    #[test]
    fn positions_outside_the_text_are_clamped() {
        let text = LineIndex::new("ab\r\nc");
        assert_eq!(offset(&text, Position::new(0, 99)), 2);
        assert_eq!(offset(&text, Position::new(9, 0)), 5);
        assert_eq!(position(&text, 99), Position::new(1, 1));
        // The second half of a surrogate pair counts as the character after it.
        assert_eq!(offset(&LineIndex::new("😀b"), Position::new(0, 1)), 4);
    }
}
