//! Lexing of a single text for editors: all of its lines, whether conditions include them or not,
//! however broken they are.

use super::lexer::lexeme::{Lexeme, lexeme};
use super::lexer::{Interner, lex};
use super::token::Token;
use crate::source::FileId;

/// One logical line as written: nothing is included, expanded or left out.
#[derive(Clone, Debug)]
pub struct TextLine {
    /// The directive of a line that begins with `#`; its span starts at the `#`.
    pub directive: Option<Token>,
    /// The tokens, after the directive if there is one. All are in file 0.
    pub tokens: Vec<Token>,
}

/// Returns the non-empty lines of a text.
#[must_use]
pub fn lines(text: &str) -> Vec<TextLine> {
    let lines = lex(text, FileId(0), &mut Interner::default());
    let line = lines.into_iter().map(|line| TextLine {
        directive: line.directive.map(|(_, name)| name),
        tokens: line.tokens,
    });
    line.collect()
}

/// Returns the text with comments replaced by spaces; every byte keeps its position.
#[must_use]
pub fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut input = text;
    while let Some((after, lexeme)) = lexeme(input) {
        let (piece, _) = input.split_at(input.len() - after.len());
        input = after;
        match lexeme {
            Lexeme::Comment | Lexeme::OpenComment | Lexeme::EmptyComment => {
                let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
                code.extend(piece.bytes().map(blank));
            }
            _ => code += piece,
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_become_spaces_without_moving_the_code() {
        let text = "a ; µ\nb \"; no\" // c\n/* d\n e */ f#: x/**/y '";
        let code = without_comments(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(code, "a     \nb \"; no\"     \n    \n      f#: x    y '");
    }
}
