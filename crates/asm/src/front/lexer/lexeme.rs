//! Lexemes, the smallest pieces of source text.

use crate::front::token::TokenKind;

/// A lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme<'a> {
    Space,
    Newline,
    /// A backslash and the line end after it.
    Continuation,
    Comment,
    OpenComment,
    /// `/**/`, which may paste.
    EmptyComment,
    /// The paste operator `##`.
    Paste,
    Hash,
    Word(&'a str),
    /// A word and the `#` after it.
    LabelWord(&'a str),
    Str(&'a str),
    Quoted(&'a str),
    /// An unclosed quote, with the rest of the line.
    OpenString(&'a str),
    Punct(&'a str),
    Stray(char),
}

/// Classes of bytes, by the lexemes that they begin or continue.
const WORD: u8 = 1;
const SPACE: u8 = 2;
const OPERATOR: u8 = 4;

/// The class of each byte. Text is examined byte by byte, since only comments, strings and errors
/// contain multibyte characters.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => WORD,
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => SPACE,
            b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|' | b'^'
            | b'~' | b'?' | b':' | b',' | b'.' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'$'
            | b'@' => OPERATOR,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// The byte order mark that some editors put at the beginning of a file; treated as white space.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

fn is(byte: Option<&u8>, class: u8) -> bool {
    byte.is_some_and(|byte| CLASSES[usize::from(*byte)] == class)
}

/// Returns the end of a run of bytes of one class from `at`.
fn run(bytes: &[u8], mut at: usize, class: u8) -> usize {
    while is(bytes.get(at), class) {
        at += 1;
    }
    at
}

/// Returns the end of white space that begins at `at`.
fn spaces(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = run(bytes, at, SPACE);
        if bytes
            .get(at..)
            .is_none_or(|rest| !rest.starts_with(&BYTE_ORDER_MARK))
        {
            return at;
        }
        at += BYTE_ORDER_MARK.len();
    }
}

/// Returns the end of the letters, digits and `_` that begin at `at`, with `$` in between as in
/// `n$next`; `at` if there are none.
fn word(bytes: &[u8], at: usize) -> usize {
    let mut end = run(bytes, at, WORD);
    while end > at && bytes.get(end) == Some(&b'$') && is(bytes.get(end + 1), WORD) {
        end = run(bytes, end + 1, WORD);
    }
    end
}

/// Returns the position of the first `byte` from `at` on, or the end.
fn until(bytes: &[u8], at: usize, byte: u8) -> usize {
    let found = bytes[at..].iter().position(|it| *it == byte);
    found.map_or(bytes.len(), |found| at + found)
}

/// Returns the first lexeme of a text, and the rest; `None` for an empty text.
pub(crate) fn lexeme(input: &str) -> Option<(&str, Lexeme<'_>)> {
    let bytes = input.as_bytes();
    let first = *bytes.first()?;
    let piece = |end: usize, lexeme| Some((&input[end..], lexeme));
    let end = match first {
        b'.' if is(bytes.get(1), WORD) && !bytes[1].is_ascii_digit() => word(bytes, 1),
        b'@' => word(bytes, 1),
        b'$' => word(bytes, 1 + usize::from(bytes.get(1) == Some(&b'$'))),
        _ => word(bytes, 0),
    };
    // A sigil alone is lexed as an operator.
    if end > 0 && is(bytes.get(end - 1), WORD) {
        let marked = bytes.get(end) == Some(&b'#') && bytes.get(end + 1) != Some(&b'#');
        return if marked && is(Some(&first), WORD) {
            piece(end + 1, Lexeme::LabelWord(&input[..=end]))
        } else {
            piece(end, Lexeme::Word(&input[..end]))
        };
    }
    let space = spaces(bytes, 0);
    if space > 0 {
        return piece(space, Lexeme::Space);
    }
    match (first, bytes.get(1)) {
        (b'\n', _) => piece(1, Lexeme::Newline),
        (b'\\', _) => {
            let end = spaces(bytes, 1);
            match bytes.get(end) {
                None => piece(end, Lexeme::Continuation),
                Some(b'\n') => piece(end + 1, Lexeme::Continuation),
                Some(_) => piece(1, Lexeme::Stray('\\')),
            }
        }
        (b';', _) | (b'/', Some(b'/')) => piece(until(bytes, 0, b'\n'), Lexeme::Comment),
        (b'/', Some(b'*')) if bytes.starts_with(b"/**/") => piece(4, Lexeme::EmptyComment),
        (b'/', Some(b'*')) => match input[2..].find("*/") {
            Some(end) => piece(2 + end + 2, Lexeme::Comment),
            None => piece(input.len(), Lexeme::OpenComment),
        },
        (b'#', Some(b'#')) => piece(2, Lexeme::Paste),
        (b'#', _) => piece(1, Lexeme::Hash),
        (b'"' | b'\'', _) => {
            let Some(end) = closing_quote(bytes, first) else {
                let end = until(bytes, 0, b'\n');
                return piece(end, Lexeme::OpenString(&input[..end]));
            };
            let inside = &input[1..end];
            piece(
                end + 1,
                if first == b'"' {
                    Lexeme::Str(inside)
                } else {
                    Lexeme::Quoted(inside)
                },
            )
        }
        (b'<', Some(b'<' | b'='))
        | (b'>', Some(b'>' | b'='))
        | (b'=' | b'!', Some(b'='))
        | (b'+', Some(b'+'))
        | (b'-', Some(b'-'))
        | (b'&', Some(b'&'))
        | (b'|', Some(b'|'))
        | (b'$', Some(b'$')) => piece(2, Lexeme::Punct(&input[..2])),
        _ if is(Some(&first), OPERATOR) => piece(1, Lexeme::Punct(&input[..1])),
        _ => {
            let stray = input.chars().next()?;
            piece(stray.len_utf8(), Lexeme::Stray(stray))
        }
    }
}

/// Returns the position of the closing quote. A backslash at the end of a line continues the
/// string.
fn closing_quote(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            byte if byte == quote => return Some(at),
            b'\n' => return None,
            b'\\' if bytes[at..].starts_with(b"\\\n") => at += 2,
            b'\\' if bytes[at..].starts_with(b"\\\r\n") => at += 3,
            _ => at += 1,
        }
    }
}

/// Classifies a word that is not a label; `None` for a malformed number.
pub(super) fn classify(text: &str) -> Option<TokenKind> {
    let digits = |text: &str, radix: u32| {
        (!text.is_empty() && text.chars().all(|c| c.is_digit(radix)))
            .then(|| u64::from_str_radix(text, radix).ok())
    };
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(TokenKind::Ident);
    }
    let based = |text: &str, low: &str, high: &str| -> Option<String> {
        text.strip_prefix(low)
            .or_else(|| text.strip_prefix(high))
            .map(str::to_owned)
    };
    if let Some(hex) = based(text, "0x", "0X") {
        return digits(&hex, 16).flatten().map(TokenKind::Number);
    }
    if let Some(binary) = based(text, "0b", "0B")
        && !binary.is_empty()
    {
        return digits(&binary, 2).flatten().map(TokenKind::Number);
    }
    if let Some(mask) = text.strip_suffix(['b', 'B'])
        && let Some(value) = digits(mask, 2)
    {
        return value.map(TokenKind::Number);
    }
    match digits(text, 10) {
        Some(value) => value.map(TokenKind::Number),
        None => Some(TokenKind::Ident),
    }
}
