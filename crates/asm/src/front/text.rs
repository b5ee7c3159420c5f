//! A text by itself, as an editor asks about it: its lines whether they are switched on
//! or not, however broken it is.

use super::lexer::lexeme::{Lexeme, lexeme};
use super::lexer::{Interner, lex};
use super::token::Token;
use crate::source::FileId;

/// One logical line as it is written: nothing is included, expanded or left out.
#[derive(Clone, Debug)]
pub struct TextLine {
    /// What a line that begins with `#` directs; its place is from the `#` on.
    pub directive: Option<Token>,
    /// The tokens, behind the directive if there is one. All are of file 0.
    pub tokens: Vec<Token>,
}

/// The lines of a text that have anything on them.
#[must_use]
pub fn lines(text: &str) -> Vec<TextLine> {
    let lines = lex(text, FileId(0), &mut Interner::default());
    let line = lines.into_iter().map(|line| TextLine {
        directive: line.directive.map(|(_, name)| name),
        tokens: line.tokens,
    });
    line.collect()
}

/// The text with comments turned into spaces; every byte keeps its place.
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
    fn comments_go_and_everything_keeps_its_place() {
        let text = "a ; µ\nb \"; no\" // c\n/* d\n e */ f#: x/**/y '";
        let code = without_comments(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(code, "a     \nb \"; no\"     \n    \n      f#: x    y '");
    }
}
