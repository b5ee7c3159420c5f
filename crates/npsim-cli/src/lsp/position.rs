//! Places as the protocol counts them: lines from 0 and UTF-16 code units.

use std::ops::Range;

use lsp_types::Position;

/// The byte that a position means; positions outside the text are moved to the
/// nearest place in it.
#[must_use]
pub fn offset(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text[start..].find('\n') {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let line = text[start..].split('\n').next().unwrap_or("");
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut units = 0;
    for (at, character) in line.char_indices() {
        if units >= position.character {
            return start + at;
        }
        units += character.len_utf16() as u32;
    }
    start + line.len()
}

/// Where the lines of a text begin, for those who ask for many positions in it.
#[derive(Clone, Debug)]
pub struct Lines(Vec<usize>);

impl Lines {
    /// Of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let behind = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(behind).collect())
    }

    /// The [position](position()) of a byte of the text.
    #[must_use]
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let at = text.floor_char_boundary(offset.min(text.len()));
        let line = self
            .0
            .partition_point(|start| *start <= at)
            .saturating_sub(1);
        Position {
            line: line as u32,
            character: text[self.0[line]..at].encode_utf16().count() as u32,
        }
    }

    /// The range of bytes of the text.
    #[must_use]
    pub fn range(&self, text: &str, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range {
            start: self.position(text, bytes.start),
            end: self.position(text, bytes.end.max(bytes.start)),
        }
    }
}

/// The position of a byte; a byte within a character counts as its first.
#[must_use]
pub fn position(text: &str, offset: usize) -> Position {
    let at = text.floor_char_boundary(offset.min(text.len()));
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.bytes().filter(|byte| *byte == b'\n').count() as u32,
        character: before[start..].encode_utf16().count() as u32,
    }
}

/// The range of bytes.
#[must_use]
pub fn range(text: &str, bytes: Range<usize>) -> lsp_types::Range {
    lsp_types::Range {
        start: position(text, bytes.start),
        end: position(text, bytes.end.max(bytes.start)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, offset, position};
    use lsp_types::Position;

    #[test]
    fn utf_16_units_are_counted() {
        let text = "a\r\n; 😀µ x\nend";
        let at = text.find('x').expect("x");
        let place = position(text, at);
        assert_eq!((place.line, place.character), (1, 6));
        assert_eq!(offset(text, place), at);
        assert_eq!(position(text, text.len()), Position::new(2, 3));
    }

    #[test]
    fn lines_that_are_known_give_the_same_positions() {
        for text in ["", "a", "a\r\n; 😀µ x\n\nend", "\n\n"] {
            let lines = Lines::of(text);
            for at in 0..=text.len() + 2 {
                assert_eq!(
                    lines.position(text, at),
                    position(text, at),
                    "{at} of {text:?}"
                );
            }
        }
    }

    #[test]
    fn places_outside_are_moved_into_the_text() {
        let text = "ab\r\nc";
        assert_eq!(offset(text, Position::new(0, 99)), 2);
        assert_eq!(offset(text, Position::new(9, 0)), 5);
        assert_eq!(position(text, 99), Position::new(1, 1));
        // Half of a surrogate pair is the character after it.
        assert_eq!(offset("😀b", Position::new(0, 1)), 4);
    }
}
