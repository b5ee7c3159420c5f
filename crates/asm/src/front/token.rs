//! Tokens of the `.uc` language.

use std::rc::Rc;

use nom::error::ParseError;
use nom::multi::fold_many0;
use nom::{Input, Needed, Parser};

use crate::source::{ExpansionId, Span};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name including its sigil: `count`, `$hdr`, `$$data`, `@lock`, `n$next`, `.reg`,
    /// `l$index0`. `*` before an index is a separate token.
    Ident,
    /// A label, `name#`; `text` includes the `#`.
    Label,
    /// A number; its text is kept, since `0011` is a byte mask.
    Number(u64),
    /// A string, `"..."`; `text` excludes the quotes.
    Str,
    /// A string, `'...'`; `text` excludes the quotes.
    Quoted,
    /// One operator or bracket, longest match: `<<`, `>>`, `++`, `--`, `==`,
    /// `!=`, `<=`, `>=`, `&&`, `||`, else one character.
    Punct,
}

/// A token with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind of token.
    pub kind: TokenKind,
    /// The text.
    pub text: Rc<str>,
    /// The position of its text: in the macro's body for body text, at the call for an argument.
    pub span: Span,
    /// The expansion whose body contains it; an argument keeps its caller's.
    pub expansion: ExpansionId,
    /// Whether there is no white space before it.
    pub joined: bool,
}

impl Token {
    /// Whether the token is this punctuation.
    #[must_use]
    pub fn is(&self, punct: &str) -> bool {
        self.kind == TokenKind::Punct && &*self.text == punct
    }
}

/// Splits off the labels before a statement, each with its colon.
#[must_use]
pub fn split_labels(tokens: &[Token]) -> (&[Token], &[Token]) {
    let is_definition = |pair: &&[Token]| pair[0].kind == TokenKind::Label && pair[1].is(":");
    let labels = tokens.chunks_exact(2).take_while(is_definition).count();
    tokens.split_at(2 * labels)
}

/// One preprocessed logical line, with continuation lines joined and without comments, directives
/// and macro calls. Never empty.
#[derive(Clone, Debug)]
pub struct LogicalLine {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The innermost expansion that produced the line.
    pub expansion: ExpansionId,
}

/// A slice of tokens as input for `nom` parsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tokens<'a>(pub &'a [Token]);

impl<'a> Input for Tokens<'a> {
    type Item = &'a Token;
    type Iter = std::slice::Iter<'a, Token>;
    type IterIndices = std::iter::Enumerate<std::slice::Iter<'a, Token>>;

    fn input_len(&self) -> usize {
        self.0.len()
    }

    fn take(&self, index: usize) -> Self {
        Self(&self.0[..index])
    }

    fn take_from(&self, index: usize) -> Self {
        Self(&self.0[index..])
    }

    fn take_split(&self, index: usize) -> (Self, Self) {
        let (taken, rest) = self.0.split_at(index);
        (Self(rest), Self(taken))
    }

    fn position<P>(&self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool,
    {
        self.0.iter().position(predicate)
    }

    fn iter_elements(&self) -> Self::Iter {
        self.0.iter()
    }

    fn iter_indices(&self) -> Self::IterIndices {
        self.0.iter().enumerate()
    }

    fn slice_index(&self, count: usize) -> Result<usize, Needed> {
        if count <= self.0.len() {
            Ok(count)
        } else {
            Err(Needed::new(count - self.0.len()))
        }
    }
}

/// Applies a parser until it fails and collects the results. Allocates nothing if there are none,
/// which is the usual case.
pub(crate) fn each<'a, T, E: ParseError<Tokens<'a>>>(
    parser: impl Parser<Tokens<'a>, Output = T, Error = E>,
) -> impl Parser<Tokens<'a>, Output = Vec<T>, Error = E> {
    fold_many0(parser, Vec::new, |mut all, found| {
        all.push(found);
        all
    })
}

/// Returns the text of tokens, with a space wherever there was one and wherever two neighbours
/// would otherwise be misread.
#[must_use]
pub fn spell(tokens: &[Token]) -> String {
    let mut text = String::new();
    let mut before: Option<&Token> = None;
    for token in tokens {
        if let Some(before) = before
            && (!token.joined || would_merge(before, token))
        {
            text.push(' ');
        }
        match token.kind {
            TokenKind::Str => {
                text.push('"');
                text.push_str(&token.text);
                text.push('"');
            }
            TokenKind::Quoted => {
                text.push('\'');
                text.push_str(&token.text);
                text.push('\'');
            }
            _ => text.push_str(&token.text),
        }
        before = Some(token);
    }
    text
}

/// Whether two tokens might be misread without a space between them. Errs on the safe side.
fn would_merge(left: &Token, right: &Token) -> bool {
    let word = |t: &Token| {
        matches!(
            t.kind,
            TokenKind::Ident | TokenKind::Number(_) | TokenKind::Label
        )
    };
    let operator = |t: &Token| {
        t.kind == TokenKind::Punct && t.text.bytes().all(|b| b"+-<>=!&|/*$@.#".contains(&b))
    };
    let sigil =
        |t: &Token| t.kind == TokenKind::Punct && t.text.bytes().all(|b| b"$@.#".contains(&b));
    match (word(left), word(right)) {
        // A dot begins a word but never continues one.
        (true, true) => !right.text.starts_with('.'),
        (true, false) => sigil(right),
        (false, true) => sigil(left),
        (false, false) => operator(left) && operator(right),
    }
}

/// Splits `(a, b)` at the commas outside of inner brackets; returns the arguments and the number of
/// tokens up to and including the closing bracket. `()` has no arguments. `None` if the list is not
/// closed.
#[must_use]
pub(crate) fn arguments(tokens: &[Token]) -> Option<(Vec<&[Token]>, usize)> {
    let mut list = Vec::new();
    let mut nesting = Nesting::default();
    let mut start = 1;
    for (i, token) in tokens.iter().enumerate() {
        match nesting.process(token) {
            Some(NestingEvent::Closed) if nesting.depth == 0 => {
                if i > start || !list.is_empty() {
                    list.push(&tokens[start..i]);
                }
                return Some((list, i + 1));
            }
            Some(NestingEvent::Unopened) => return None,
            Some(NestingEvent::Comma) if nesting.depth == 1 => {
                list.push(&tokens[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    None
}

/// Returns the tokens inside `[...]` directly after a name.
#[must_use]
pub(crate) fn element_tokens(tokens: &[Token]) -> Option<&[Token]> {
    tokens.first().filter(|token| token.is("["))?;
    let mut nesting = Nesting::default();
    let close = { tokens.iter() }.position(|token| {
        nesting.process(token) == Some(NestingEvent::Closed) && nesting.depth == 0
    })?;
    Some(&tokens[1..close])
}

/// Bracket nesting. The kinds of brackets need not match, as in the vendor's tool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nesting {
    /// Brackets that are open.
    pub depth: usize,
}

/// The effect of a token on the nesting of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NestingEvent {
    /// A bracket opens.
    Opened,
    /// A bracket closes.
    Closed,
    /// A bracket closes, but none is open.
    Unopened,
    /// A comma.
    Comma,
}

impl Nesting {
    /// Processes a token.
    pub fn process(&mut self, token: &Token) -> Option<NestingEvent> {
        if token.kind != TokenKind::Punct {
            return None;
        }
        match &*token.text {
            "(" | "[" | "{" => {
                self.depth += 1;
                Some(NestingEvent::Opened)
            }
            ")" | "]" | "}" => Some(match self.depth.checked_sub(1) {
                Some(depth) => {
                    self.depth = depth;
                    NestingEvent::Closed
                }
                None => NestingEvent::Unopened,
            }),
            "," => Some(NestingEvent::Comma),
            _ => None,
        }
    }
}

/// Returns the text of tokens for use inside single quotes.
#[must_use]
pub fn unquoted(tokens: &[Token]) -> String {
    match tokens {
        [one] => one.text.to_string(),
        _ => spell(tokens).replace('\'', ""),
    }
}
