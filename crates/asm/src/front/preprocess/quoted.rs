//! Names inside single-quoted strings.

use std::{collections::VecDeque, rc::Rc};

use super::{
    MAX_TOKEN_TEXT, Preprocessor,
    defines::{expandable, tokens_of},
};
use crate::front::token::{Token, TokenKind, unquoted};

impl Preprocessor<'_> {
    /// Replaces the words in a quoted string for which `value` returns a replacement.
    pub(super) fn quoted_with(
        &mut self,
        token: &Token,
        value: impl Fn(&str) -> Option<String>,
    ) -> Rc<str> {
        let text = &token.text;
        let mut made = String::new();
        let mut rest: &str = text;
        let mut changed = false;
        while !rest.is_empty() && made.len() <= MAX_TOKEN_TEXT {
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if word == 0 {
                let other = rest.find(is_word).unwrap_or(rest.len());
                made.push_str(&rest[..other]);
                rest = &rest[other..];
            } else {
                match value(&rest[..word]) {
                    Some(value) => {
                        made.push_str(&value);
                        changed = true;
                    }
                    None => made.push_str(&rest[..word]),
                }
                rest = &rest[word..];
            }
        }
        if made.len() > MAX_TOKEN_TEXT {
            self.report_limit(
                "macros make this text too long",
                token.span,
                token.expansion,
            );
            return text.clone();
        }
        if !changed {
            return text.clone();
        }
        self.charge(made.len() / 16, 0, token);
        self.interner.get(&made)
    }

    /// Expands defined names in a quoted string and removes `/**/`.
    ///
    /// `active` holds the names being expanded, which are not expanded again, and `depth` is the
    /// nesting depth of uses; `defines.rs` enforces both limits, and this function only passes them
    /// on.
    pub(super) fn expanded_text(
        &mut self,
        token: &Token,
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Rc<str> {
        let text = token.text.clone();
        let mut made = String::new();
        let mut rest: &str = &text;
        while !rest.is_empty() && made.len() <= MAX_TOKEN_TEXT && !self.stopped {
            if let Some(after) = rest.strip_prefix("/**/") {
                rest = after;
                continue;
            }
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (piece, after) = if word == 0 {
                rest.split_at(rest.chars().next().map_or(1, char::len_utf8))
            } else {
                rest.split_at(word)
            };
            rest = after;
            if word > 0 && self.is_object_define(piece) {
                let name = Token {
                    kind: TokenKind::Ident,
                    text: self.interner.get(piece),
                    ..token.clone()
                };
                let value = self.item(&mut VecDeque::from([expandable(name)]), active, depth);
                made.push_str(&unquoted(&tokens_of(value)));
            } else {
                made.push_str(piece);
            }
        }
        if made.len() > MAX_TOKEN_TEXT {
            self.report_limit(
                "macros make this text too long",
                token.span,
                token.expansion,
            );
            return text;
        }
        // A string counts toward the token limit by its length.
        self.charge(made.len() / 16, 0, token);
        self.interner.get(&made)
    }

    /// Whether a word in a quoted string is a defined name without parameters.
    fn is_object_define(&self, word: &str) -> bool {
        let define = self.defines.get(word);
        define.is_some_and(|define| define.parameters.is_none())
    }

    /// Whether expansion would change a quoted string.
    pub(super) fn would_expand_quoted(&self, text: &str) -> bool {
        text.contains("/**/")
            || text
                .split(|c| !is_word(c))
                .any(|word| self.is_object_define(word))
    }
}

/// Whether a character may be part of a name in a quoted string.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
