//! The physical lines of a text, and the part of a statement that each one holds.

use crate::front::lexer::RawLine;
use crate::front::lexer::lexeme::{Lexeme, lexeme};

/// Columns between two tab stops.
const TAB: usize = 4;

/// How a line relates to the statements of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinePart {
    /// The line is blank or a comment between statements.
    Nothing,
    /// A statement or directive begins on the line.
    Begins,
    /// The line continues a statement.
    GoesOn,
    /// The line is not read as microcode, or ends inside a comment or string.
    Verbatim,
}

/// A physical line of the text.
pub(super) struct PhysicalLine<'a> {
    pub part: LinePart,
    /// The statement that begins on it.
    pub statement: Option<&'a RawLine>,
    /// The whole line without its line end.
    pub text: &'a str,
    /// The column of its first lexeme.
    pub column: usize,
    /// Its lexemes except the comment at its end, each with the space before it.
    pub lexemes: Vec<LinePiece<'a>>,
    /// The comment at the end of the line, and its column.
    pub comment: Option<(&'a str, usize)>,
    directive: bool,
}

/// A lexeme of a line.
#[derive(Clone, Copy)]
pub(super) struct LinePiece<'a> {
    pub lexeme: Lexeme<'a>,
    /// The white space before the lexeme.
    pub space: &'a str,
    pub text: &'a str,
}

impl PhysicalLine<'_> {
    /// Whether the line belongs to a preprocessor directive.
    pub fn is_directive(&self) -> bool {
        self.directive
    }
}

/// Returns the lines of a text whose statements are `raw`, both in text order.
///
/// Two lists are merged by byte offset, line by line: the lexemes of the text, and the statements
/// that the lexer made of it. A line whose meaning formatting could change is kept verbatim: one
/// inside a multi-line comment or string, one with an error, and one whose lexemes belong to no
/// statement.
pub(super) fn physical_lines<'a>(text: &'a str, raw: &'a [RawLine]) -> Vec<PhysicalLine<'a>> {
    let pieces = pieces(text);
    let mut pieces = pieces.iter().peekable();
    let mut statements = raw.iter().peekable();
    let mut open: Option<(&RawLine, usize)> = None;
    let mut lines = Vec::new();
    let mut start = 0;
    // End of a comment or string that began on an earlier line.
    let mut inside = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let shown = line.trim_end_matches(['\n', '\r']);
        let mut here: Vec<LinePiece<'a>> = Vec::new();
        let mut cut = inside > start;
        while let Some((at, piece)) = pieces.next_if(|(at, _)| *at < end) {
            let after = at + piece.text.len();
            if after > start + shown.len() && piece.text.trim_end().contains('\n') {
                cut = true;
                inside = after;
            }
            cut |= matches!(
                piece.lexeme,
                Lexeme::OpenComment | Lexeme::OpenString(_) | Lexeme::Stray(_)
            );
            here.push(*piece);
        }
        // A statement without any tokens left is an error found by the lexer.
        let mut begins = None;
        while let Some(statement) =
            statements.next_if(|it| it.span().is_none_or(|it| (it.lo as usize) < end))
        {
            begins = Some(statement);
        }
        let going = open.filter(|(_, until)| *until > start);
        let (statement, part) = match (begins, going) {
            (Some(statement), _) => (Some(statement), LinePart::Begins),
            (None, Some((statement, _))) => (Some(statement), LinePart::GoesOn),
            (None, None) => (None, LinePart::Nothing),
        };
        if let Some(statement) = begins {
            open = statement.span().map(|it| (statement, it.hi as usize));
        }
        let wrong = statement.is_some_and(RawLine::is_wrong);
        let comment = match here.last() {
            Some(piece) if piece.lexeme == Lexeme::Comment => here.pop(),
            _ => None,
        };
        let shown_column = |piece: &LinePiece<'_>| {
            // Lexemes are slices of the text, so address differences give offsets within the line.
            let before = piece.text.as_ptr() as usize - shown.as_ptr() as usize;
            column(&shown[..before])
        };
        // Lexemes outside of any statement are an error too.
        let stray = part == LinePart::Nothing && !here.is_empty();
        let verbatim = cut || wrong || stray;
        lines.push(PhysicalLine {
            part: if verbatim { LinePart::Verbatim } else { part },
            statement: begins,
            text: shown,
            column: column(&shown[..shown.len() - shown.trim_start().len()]),
            comment: comment
                .filter(|_| !verbatim)
                .map(|piece| (piece.text.trim_ascii_end(), shown_column(&piece))),
            lexemes: here,
            directive: statement.is_some_and(|it| it.directive.is_some()),
        });
        start = end;
    }
    lines
}

/// Returns all lexemes except white space, with the byte offset of each.
fn pieces(text: &str) -> Vec<(usize, LinePiece<'_>)> {
    let mut found = Vec::new();
    let (mut input, mut space) = (text, 0);
    while let Some((after, lexeme)) = lexeme(input) {
        let at = text.len() - input.len();
        let next = text.len() - after.len();
        input = after;
        match lexeme {
            Lexeme::Space => continue,
            Lexeme::Newline => {}
            _ => {
                let piece = LinePiece {
                    lexeme,
                    space: &text[space..at],
                    text: &text[at..next],
                };
                found.push((at, piece));
            }
        }
        space = next;
    }
    found
}

/// Returns the column after a text that begins at the margin.
pub(super) fn column(text: &str) -> usize {
    text.chars().fold(0, |column, c| match c {
        '\t' => column / TAB * TAB + TAB,
        _ => column + 1,
    })
}
