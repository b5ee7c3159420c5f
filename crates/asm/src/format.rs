//! The layout of source text, as produced by `npsim fmt` and editors.
//!
//! Lines and tokens stay as they are; only the white space before and between tokens changes.
//! Labels, blocks and preprocessor directives start at the margin, statements are indented by the
//! structured directives around them, and the comments after adjacent lines of code begin in one
//! column. A line that the lexer cannot read keeps every byte, since a condition may exclude it.

mod comments;
mod form;
mod indent;
mod physical;
mod spacing;

use crate::front::lexer::{Interner, lex};
use crate::source::FileId;

use comments::align;
pub use form::syntax_error;
use indent::Indentation;
use physical::{LinePart, physical_lines};
use spacing::spaced;

/// One line, as it will be printed.
struct Printed<'a> {
    /// The code before the comment, indented; empty for a line with only a comment.
    code: String,
    /// The comment after the code, or the line's only content.
    comment: Option<Comment<'a>>,
}

struct Comment<'a> {
    text: &'a str,
    /// Its original column, with tab stops every four columns.
    column: usize,
    /// The column for a comment on a line of its own that does not continue another.
    own: Option<usize>,
}

/// Formats text in the project's layout. The result has the same number of lines, the same tokens
/// in them and the same line ends; formatting it again changes nothing.
#[must_use]
pub fn format(text: &str) -> String {
    let (mark, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let end = if text.split('\n').next().is_some_and(|it| it.ends_with('\r')) {
        "\r\n"
    } else {
        "\n"
    };
    let raw = lex(text, FileId(0), &mut Interner::default());
    let mut indentation = Indentation::default();
    // Original and new column of the statement being continued.
    let mut moved: (usize, usize) = (0, 0);
    let mut printed = Vec::new();
    for line in physical_lines(text, &raw) {
        let comment = |own: Option<usize>| {
            line.comment
                .map(|(text, column)| Comment { text, column, own })
        };
        printed.push(match line.part {
            LinePart::Verbatim => {
                indentation.follow(line.statement);
                Printed {
                    code: line.text.to_owned(),
                    comment: None,
                }
            }
            LinePart::Nothing => Printed {
                code: String::new(),
                comment: comment(Some(match line.column {
                    0 => 0,
                    _ => indentation.of_statement(),
                })),
            },
            LinePart::Begins => {
                let at = indentation.take(line.statement);
                moved = (line.column, at);
                Printed {
                    code: indented(at, &spaced(&line.lexemes, line.is_directive())),
                    comment: comment(None),
                }
            }
            LinePart::GoesOn => {
                let at = (line.column + moved.1).saturating_sub(moved.0).max(moved.1);
                let code = spaced(&line.lexemes, line.is_directive());
                let own = code.is_empty().then_some(at);
                Printed {
                    code: if code.is_empty() {
                        code
                    } else {
                        indented(at, &code)
                    },
                    comment: comment(own),
                }
            }
        });
    }
    let lines = align(&printed);
    let mut formatted = String::with_capacity(text.len());
    formatted.push_str(mark);
    for line in lines {
        formatted.push_str(&line);
        formatted.push_str(end);
    }
    formatted
}

fn indented(columns: usize, code: &str) -> String {
    format!("{:columns$}{code}", "")
}

#[cfg(test)]
mod tests;
