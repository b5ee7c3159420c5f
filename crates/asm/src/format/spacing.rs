//! The white space between the tokens of a line.

use crate::front::lexer::lexeme::Lexeme;

use super::physical::LinePiece;

/// Joins the tokens of a line with the space between them.
///
/// Directives keep their spacing, since it can be significant: `#define F (x)` differs from
/// `#define F(x)`. Elsewhere space never joins or separates words, and becomes one column or none.
pub(super) fn spaced(pieces: &[LinePiece<'_>], directive: bool) -> String {
    let mut line = String::new();
    let mut depth = 0_usize;
    // Words so far, to find where a macro's name may be: before the first bracket, after the
    // labels.
    let mut words = 0;
    let mut before: Option<&LinePiece<'_>> = None;
    for piece in pieces {
        if let Some(before) = before {
            if directive {
                line.push_str(piece.space);
            } else if gap(before, piece, depth, words) {
                line.push(' ');
            }
        }
        line.push_str(piece.text.trim_ascii_end());
        match piece.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ":" if matches!(before.map(|it| it.lexeme), Some(Lexeme::LabelWord(_))) => words = 0,
            _ => words += 1,
        }
        before = Some(piece);
    }
    line
}

/// Whether a space belongs between two neighbours.
fn gap(left: &LinePiece<'_>, right: &LinePiece<'_>, depth: usize, words: usize) -> bool {
    let was = !right.space.is_empty();
    let pasted = |it: &LinePiece<'_>| {
        matches!(
            it.lexeme,
            Lexeme::Paste | Lexeme::EmptyComment | Lexeme::Hash
        )
    };
    if pasted(left) || pasted(right) {
        return was;
    }
    match (left.text, right.text) {
        (_, "," | ")" | "]" | "}") | ("(" | "[" | "{", _) => false,
        (",", _) => true,
        (word, "(") if word.starts_with('.') && words == 1 => true,
        (_, "[") if depth == 0 && matches!(left.lexeme, Lexeme::Word(_)) => false,
        (_, "(") if words == 1 && matches!(left.lexeme, Lexeme::Word(_)) => false,
        (_, _) if matches!(right.lexeme, Lexeme::Continuation) => true,
        (":", _) if words == 0 => true,
        _ => was,
    }
}
