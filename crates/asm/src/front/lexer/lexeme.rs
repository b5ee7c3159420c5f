//! The smallest pieces of source text.

use nom::{
    IResult, Parser,
    branch::alt,
    bytes::complete::{tag, take_till, take_until, take_while, take_while1},
    character::complete::{anychar, char, one_of, satisfy},
    combinator::{map, not, opt, peek, recognize, rest, value, verify},
    multi::many0_count,
    sequence::{delimited, pair, preceded, terminated},
};

use crate::front::token::TokenKind;

/// A piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::front) enum Lexeme<'a> {
    Space,
    Newline,
    /// A backslash and the end of its line.
    Continuation,
    Comment,
    OpenComment,
    /// `/**/`.
    EmptyComment,
    /// `##`.
    Paste,
    Hash,
    Word(&'a str),
    /// A word and the `#` after it.
    LabelWord(&'a str),
    Str(&'a str),
    Quoted(&'a str),
    /// A quote that its line does not close, with the rest of the line.
    OpenString(&'a str),
    Punct(&'a str),
    Stray(char),
}

type Lexed<'a> = IResult<&'a str, Lexeme<'a>>;

fn blank(input: &str) -> Lexed<'_> {
    let space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\x0b' | '\x0c' | '\u{feff}');
    alt((
        value(Lexeme::Space, take_while1(space)),
        value(Lexeme::Newline, char('\n')),
        value(
            Lexeme::Continuation,
            (
                char('\\'),
                take_while(space),
                alt((tag("\n"), verify(rest, |text: &str| text.is_empty()))),
            ),
        ),
    ))
    .parse(input)
}

fn comment(input: &str) -> Lexed<'_> {
    alt((
        value(Lexeme::EmptyComment, tag("/**/")),
        value(
            Lexeme::Comment,
            (alt((tag("//"), tag(";"))), take_till(|c| c == '\n')),
        ),
        value(Lexeme::Comment, (tag("/*"), take_until("*/"), tag("*/"))),
        value(Lexeme::OpenComment, (tag("/*"), rest)),
    ))
    .parse(input)
}

fn quoted(input: &str) -> Lexed<'_> {
    // A backslash at the end of a line continues the text.
    let inside = |quote: char| {
        recognize(many0_count(alt((
            tag("\\\n"),
            tag("\\\r\n"),
            take_while1(move |c| c != quote && c != '\n' && c != '\\'),
            tag("\\"),
        ))))
    };
    alt((
        map(delimited(char('"'), inside('"'), char('"')), Lexeme::Str),
        map(
            delimited(char('\''), inside('\''), char('\'')),
            Lexeme::Quoted,
        ),
        map(
            recognize(pair(one_of("'\""), take_till(|c| c == '\n'))),
            Lexeme::OpenString,
        ),
    ))
    .parse(input)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Letters, digits and `_`, with `$` between them as in `n$next`.
fn plain_word(input: &str) -> IResult<&str, &str> {
    recognize(pair(
        take_while1(is_word),
        many0_count(pair(char('$'), take_while1(is_word))),
    ))
    .parse(input)
}

fn word(input: &str) -> Lexed<'_> {
    let dotted = preceded(
        char('.'),
        pair(
            peek(satisfy(|c| c.is_ascii_alphabetic() || c == '_')),
            plain_word,
        ),
    );
    let sigil = opt(alt((tag("$$"), tag("$"), tag("@"))));
    let label_mark = terminated(char('#'), not(char('#')));
    alt((
        map(recognize(terminated(plain_word, label_mark)), |text| {
            Lexeme::LabelWord(text)
        }),
        map(
            recognize(alt((recognize(dotted), recognize(pair(sigil, plain_word))))),
            Lexeme::Word,
        ),
    ))
    .parse(input)
}

fn punct(input: &str) -> Lexed<'_> {
    let long = alt((
        tag("<<"),
        tag(">>"),
        tag("++"),
        tag("--"),
        tag("=="),
        tag("!="),
        tag("<="),
        tag(">="),
        tag("&&"),
        tag("||"),
        tag("$$"),
    ));
    let short = recognize(one_of("+-*/%<>=!&|^~?:,.()[]{}$@"));
    map(alt((long, short)), Lexeme::Punct).parse(input)
}

pub(in crate::front) fn lexeme(input: &str) -> Lexed<'_> {
    alt((
        word,
        blank,
        comment,
        value(Lexeme::Paste, tag("##")),
        value(Lexeme::Hash, char('#')),
        quoted,
        punct,
        map(anychar, Lexeme::Stray),
    ))
    .parse(input)
}

/// The meaning of a word that is no label; `None` for a malformed number.
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
