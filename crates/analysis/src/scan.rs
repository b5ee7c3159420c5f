//! What is at a byte of a text, without assembling it: the word there and the
//! surrounding statement. Works on any text, however broken.

use std::ops::Range;

use npsim_asm::front::text::{TextLine, lines};
use npsim_asm::front::token::{Token, TokenKind, split_labels};

use super::definitions::place;
use super::text::Text;

/// The name at a byte, including the `#` of a label or directive.
#[must_use]
pub fn word_at(text: &Text, offset: usize) -> Option<Range<usize>> {
    word_in(text.code(), text.code_lines(), offset)
}

fn word_in(text: &str, known: &[TextLine], offset: usize) -> Option<Range<usize>> {
    let tokens = known.iter();
    let tokens = tokens.flat_map(|line| line.directive.iter().chain(&line.tokens));
    // A name that begins at the byte takes precedence over one that ends there.
    let token = tokens
        .filter(|token| token.kind != TokenKind::Punct)
        .filter(|token| (place(token).start..=place(token).end).contains(&offset))
        .max_by_key(|token| token.span.lo)?;
    if matches!(token.kind, TokenKind::Str | TokenKind::Quoted) {
        let inside = place(token).start + 1;
        let quoted = &text[inside..place(token).end];
        let word = word_in(quoted, &lines(quoted), offset.checked_sub(inside)?)?;
        return Some(inside + word.start..inside + word.end);
    }
    Some(place(token))
}

/// The first byte of a non-empty line.
fn start(line: &TextLine) -> usize {
    let first = line.directive.as_ref().or_else(|| line.tokens.first());
    first.map_or(0, |token| place(token).start)
}

/// The statement that contains a byte, up to that byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The word before the first bracket, in lower case; the part typed so far
    /// if there is no bracket.
    pub head: String,
    /// The bracket depth at the byte.
    pub depth: usize,
    /// The number of commas in the first bracket before the byte, while inside it.
    pub operand: usize,
    /// The previous operands, trimmed.
    pub operands: Vec<String>,
    /// Whether the first bracket has been closed.
    pub closed: bool,
    /// The name directly before the innermost open bracket, in lower case.
    pub inner: String,
}

/// The context of a byte in a text.
///
/// The assembler's lexer reads the code from the beginning of the statement to the byte, with a
/// word appended, so that a statement that has just begun has a token, and a complete one does not
/// swallow the byte. Tokens from the byte on are dropped again.
#[must_use]
pub fn context_at(text: &Text, offset: usize) -> Context {
    let code = text.code();
    let offset = code.floor_char_boundary(offset.min(code.len()));
    // Text before the statement is irrelevant.
    let known = text.code_lines();
    let after = known.partition_point(|line| start(line) <= offset);
    let from = after.checked_sub(1).map_or(0, |line| start(&known[line]));
    let (text, offset) = (&code[from..offset], offset - from);
    let mut context = Context::default();
    // A word at the place makes its statement the last one.
    let statement = lines(&format!("{text}_")).pop();
    let Some(line) = statement.filter(|line| line.directive.is_none()) else {
        return context;
    };
    let (_, tokens) = split_labels(&line.tokens);
    let typed = tokens.partition_point(|token| place(token).start < offset);
    let tokens = &tokens[..typed];
    let Some(first) = tokens.first() else {
        return context;
    };
    let statement = place(first).start;
    let mut stack = Vec::new();
    let mut operand_start = 0;
    for (number, token) in tokens.iter().enumerate() {
        let at = place(token);
        if token.is("[") || token.is("(") {
            if stack.is_empty() && !context.closed {
                context.head = text[statement..at.start].trim().to_ascii_lowercase();
                operand_start = at.end;
            }
            let before = number.checked_sub(1).map(|before| &tokens[before]);
            let name = before.filter(|token| token.kind == TokenKind::Ident);
            stack.push(name.map_or_else(String::new, |name| name.text.to_ascii_lowercase()));
        } else if token.is("]") || token.is(")") {
            let closes = stack.pop().is_some();
            context.closed |= closes && stack.is_empty();
        } else if token.is(",") && stack.len() == 1 && !context.closed {
            context.operand += 1;
            let operand = text[operand_start..at.start].trim();
            context.operands.push(operand.to_owned());
            operand_start = at.end;
        }
    }
    if context.head.is_empty() {
        let word = text[statement..].split_whitespace().next();
        context.head = word.unwrap_or("").to_ascii_lowercase();
    }
    context.depth = stack.len();
    context.inner = stack.pop().unwrap_or_default();
    context
}

/// The mnemonic (or other first word) of the statement, if the byte is in it.
/// Mnemonics may contain `=` and `!`.
#[must_use]
pub fn first_word_at(text: &Text, offset: usize) -> Option<Range<usize>> {
    let word = |line: &TextLine| {
        let (first, rest) = split_labels(&line.tokens).1.split_first()?;
        let goes_on = |token: &&Token| token.joined && !"[]()+,".contains(&*token.text);
        let last = rest.iter().take_while(goes_on).last().unwrap_or(first);
        Some(place(first).start..place(last).end)
    };
    let statements = text.code_lines().iter();
    let statements = statements.filter(|line| line.directive.is_none());
    let mut words = statements.filter_map(word);
    words.find(|word| (word.start..=word.end).contains(&offset))
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
