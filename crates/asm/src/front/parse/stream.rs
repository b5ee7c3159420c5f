//! The error type and the basic parsers over token slices.

use nom::Err;
use nom::IResult;
use nom::error::{ErrorKind, ParseError};

pub(crate) use crate::front::token::Tokens;
use crate::front::token::{Token, TokenKind};

/// What a parser expected, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected<'a> {
    /// The tokens from the failure on.
    pub at: Tokens<'a>,
    /// Description of the expected token.
    pub what: &'static str,
}

impl<'a> ParseError<Tokens<'a>> for Expected<'a> {
    fn from_error_kind(at: Tokens<'a>, _: ErrorKind) -> Self {
        Self {
            at,
            what: "something else",
        }
    }

    fn append(_: Tokens<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }

    /// Prefers the failure that got further, since it is more specific.
    fn or(self, other: Self) -> Self {
        if other.at.0.len() < self.at.0.len() {
            other
        } else {
            self
        }
    }
}

/// The result of a token parser.
pub type Parsed<'a, T> = IResult<Tokens<'a>, T, Expected<'a>>;

/// Returns a failure at `at`.
pub fn fail<'a, T>(at: Tokens<'a>, what: &'static str) -> Parsed<'a, T> {
    Err(Err::Error(Expected { at, what }))
}

/// Parses a token that satisfies a test.
pub fn token<'a>(
    what: &'static str,
    test: impl Fn(&Token) -> bool,
) -> impl Fn(Tokens<'a>) -> Parsed<'a, &'a Token> {
    move |input| match input.0.split_first() {
        Some((first, rest)) if test(first) => Ok((Tokens(rest), first)),
        _ => fail(input, what),
    }
}

/// Parses a punctuation token.
pub fn punct<'a>(text: &'static str) -> impl Fn(Tokens<'a>) -> Parsed<'a, &'a Token> {
    token(text, move |token| token.is(text))
}

/// Parses a name.
pub fn ident(input: Tokens<'_>) -> Parsed<'_, &Token> {
    token("a name", |token| token.kind == TokenKind::Ident)(input)
}

/// Parses the end of the input.
pub fn end(input: Tokens<'_>) -> Parsed<'_, ()> {
    if input.0.is_empty() {
        Ok((input, ()))
    } else {
        fail(input, "the end of the line")
    }
}
