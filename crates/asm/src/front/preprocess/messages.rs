//! `#error`, `#warning` and `#info`.

use super::{Preprocessor, budget::text_size, environment::Undefined};
use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::directives::PreprocessorDirective;
use crate::front::expression::Value;
use crate::front::token::{Token, TokenKind, spell};

impl Preprocessor<'_> {
    pub(super) fn message(
        &mut self,
        directive: PreprocessorDirective,
        name: &Token,
        tokens: Vec<Token>,
    ) {
        let span = match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => name.span.to(first.span).to(last.span),
            _ => name.span,
        };
        let Some(text) = self.message_text(tokens, name) else {
            return;
        };
        let text = if text.is_empty() {
            format!("#{}", name.text)
        } else {
            text
        };
        let (level, code) = match directive {
            PreprocessorDirective::Error => (Severity::Error, codes::USER_ERROR),
            PreprocessorDirective::Warning | PreprocessorDirective::Warn => {
                (Severity::Warning, codes::USER_WARNING)
            }
            _ => (Severity::Note, codes::USER_NOTE),
        };
        self.report(Diagnostic {
            level,
            ..Diagnostic::error(code, text, span, name.expansion)
        });
    }

    /// Builds the text of a message: quoted strings verbatim, everything in between evaluated.
    /// Returns `None` if there is too much text.
    fn message_text(&mut self, mut tokens: Vec<Token>, near: &Token) -> Option<String> {
        // If there are double quotes, single-quoted strings are values, as in strleft('ab', 1).
        let quotes = if tokens.iter().any(|t| t.kind == TokenKind::Str) {
            TokenKind::Str
        } else {
            TokenKind::Quoted
        };
        let is_text = |t: &Token| t.kind == quotes;
        // The oldest form has a message number before the text.
        if let [number, text, ..] = &*tokens
            && matches!(number.kind, TokenKind::Number(_))
            && is_text(text)
        {
            tokens.remove(0);
        }
        let charge = |it: &mut Self, bytes| it.charge_bytes(bytes, near.span, near.expansion);
        if !charge(self, text_size(tokens.iter())) {
            return None;
        }
        if !tokens.iter().any(is_text) {
            return Some(spell(&tokens));
        }
        let mut text = String::new();
        for part in tokens.chunk_by(|a, b| !is_text(a) && !is_text(b)) {
            if let [quoted] = part
                && is_text(quoted)
            {
                text.push_str(&quoted.text);
                continue;
            }
            let mut depth = 0i32;
            let values = part.split(|t| {
                depth += i32::from(t.is("(")) - i32::from(t.is(")"));
                depth == 0 && t.is(",")
            });
            for value in values.filter(|value| !value.is_empty()) {
                match self.value(value.to_vec(), near, Undefined::Error) {
                    Ok(Value::Number(n)) => text.push_str(&n.to_string()),
                    Ok(Value::Text(value)) => {
                        if !charge(self, value.len()) {
                            return None;
                        }
                        text.push_str(&value);
                    }
                    Err(_) => {
                        let value = self.expand(value.to_vec()).unwrap_or_default();
                        if !charge(self, text_size(value.iter())) {
                            return None;
                        }
                        text.push_str(&spell(&value));
                    }
                }
            }
        }
        Some(text)
    }
}
