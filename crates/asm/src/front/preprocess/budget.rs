//! Limits on the work and memory that a source can cause.

use std::rc::Rc;

use super::{
    MAX_KEPT_BYTES, MAX_LINE_TOKENS, MAX_REMARKS, MAX_TOKENS, Preprocessor,
    environment::Environment,
};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::lexer::RawLine;
use crate::front::token::Token;
use crate::source::{Expansion, ExpansionId, Span};

/// Returns the most bytes that the tokens take as text.
pub(super) fn text_size<'a>(tokens: impl Iterator<Item = &'a Token>) -> usize {
    // A space may stand between tokens.
    tokens.map(|token| token.text.len() + 1).sum()
}

/// Returns the memory, in bytes, for the argument of one parameter in an [`Expansion`].
pub(super) fn argument_size<'a>(
    parameter: &Rc<str>,
    value: impl Iterator<Item = &'a Token>,
) -> usize {
    size_of::<(String, String)>() + parameter.len() + text_size(value)
}

impl Preprocessor<'_> {
    /// Reports that a limit was exceeded and stops all work.
    pub(super) fn report_limit_in_lines(
        &mut self,
        what: &str,
        lines: &[RawLine],
        environment: &Environment,
    ) {
        let token = lines.iter().find_map(|line| {
            line.directive
                .as_ref()
                .map(|(_, name)| name)
                .or(line.tokens.first())
        });
        if let Some(token) = token {
            self.report_limit(what, token.span, environment.expansion);
        }
        self.stopped = true;
    }

    pub(super) fn report_limit(&mut self, what: &str, span: Span, expansion: ExpansionId) {
        if !self.stopped {
            self.report(
                Diagnostic::error(codes::EXPANSION_LIMIT, what, span, expansion)
                    .help("does a macro or file use itself endlessly, or does a loop never stop?"),
            );
        }
        self.stopped = true;
    }

    /// Counts tokens that were made; returns false if there are too many.
    pub(super) fn charge(&mut self, tokens: usize, line: usize, near: &Token) -> bool {
        self.made += tokens;
        if self.made > MAX_TOKENS || line > MAX_LINE_TOKENS {
            self.report_limit(
                if line > MAX_LINE_TOKENS {
                    "macros make this line longer than any real line"
                } else {
                    "macros make more text than any real program needs"
                },
                near.span,
                near.expansion,
            );
        }
        !self.stopped
    }

    /// Counts the memory for one use of a macro or define; returns false if there is too much.
    pub(super) fn charge_use(&mut self, name: &Token, arguments: usize) -> bool {
        let bytes = size_of::<Expansion>() + name.text.len() + arguments;
        self.charge_bytes(bytes, name.span, name.expansion)
    }

    /// Counts a warning or note; returns false if it is not to be kept. The limit is one for each
    /// code, since the level of all with one code can still change.
    pub(super) fn charge_remark(&mut self, remark: &Diagnostic) -> bool {
        let count = self.remarks.entry(remark.code).or_default();
        *count += 1;
        let place = &remark.primary;
        if *count == MAX_REMARKS + 1 {
            self.diagnostics.push(Diagnostic {
                level: remark.level,
                ..Diagnostic::error(
                    remark.code,
                    format!("more than {MAX_REMARKS} of these were found; the rest is not shown"),
                    place.span,
                    place.expansion,
                )
            });
        }
        *count <= MAX_REMARKS
            && self.charge_bytes(remark.message.len(), place.span, place.expansion)
    }

    /// Counts bytes that are kept for messages; returns false if there are too many.
    pub(super) fn charge_bytes(
        &mut self,
        bytes: usize,
        span: Span,
        expansion: ExpansionId,
    ) -> bool {
        self.kept += bytes;
        if self.kept > MAX_KEPT_BYTES {
            let most = MAX_KEPT_BYTES >> 20;
            let what = format!(
                "included files, macro arguments and messages have more than {most} MiB of text together"
            );
            self.report_limit(&what, span, expansion);
        }
        !self.stopped
    }
}
