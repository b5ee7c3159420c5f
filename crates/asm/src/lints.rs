//! Selection and levels of warnings.

use std::collections::BTreeMap;

use crate::LintLevel;
use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::front::token::Token;
use crate::source::{ExpansionId, FileId};

/// Warning levels set by `#pragma warning` at one point of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintOverrides {
    by_code: BTreeMap<&'static str, LintLevel>,
    saved: Vec<BTreeMap<&'static str, LintLevel>>,
}

impl LintOverrides {
    /// Sets the level of a warning; `None` restores the level given by the options. Returns false
    /// if there is no such warning.
    pub fn switch(&mut self, name: &str, level: Option<LintLevel>) -> bool {
        let Some(code) = codes::all().iter().find(|code| code.name == name) else {
            return false;
        };
        match level {
            Some(level) => self.by_code.insert(code.name, level),
            None => self.by_code.remove(code.name),
        };
        true
    }

    /// Restores the levels given by the options for all warnings.
    pub fn reset(&mut self) {
        self.by_code.clear();
    }

    /// Saves the state.
    pub fn push(&mut self) {
        self.saved.push(self.by_code.clone());
    }

    /// Restores the last saved state; returns false, without any change, if there is none.
    pub fn pop(&mut self) -> bool {
        let Some(saved) = self.saved.pop() else {
            return false;
        };
        self.by_code = saved;
        true
    }

    /// Returns the level set for a code, if any.
    #[must_use]
    pub fn level(&self, code: &str) -> Option<LintLevel> {
        self.by_code.get(code).copied()
    }

    /// Whether all levels are those given by the options.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.by_code.is_empty()
    }
}

/// The warning levels in effect at each token.
#[derive(Clone, Debug, Default)]
pub struct Pragmas {
    states: Vec<BTreeMap<&'static str, LintLevel>>,
    /// The state at the first byte of each token; absent for tokens without one.
    tokens: BTreeMap<(FileId, u32, ExpansionId), usize>,
}

impl Pragmas {
    /// Records the state for the tokens of a line.
    pub fn note(&mut self, tokens: &[Token], state: &LintOverrides) {
        if state.is_plain() {
            return;
        }
        if self.states.last() != Some(&state.by_code) {
            self.states.push(state.by_code.clone());
        }
        for token in tokens {
            let at = (token.span.file, token.span.lo, token.expansion);
            self.tokens.insert(at, self.states.len() - 1);
        }
    }

    fn level(&self, diagnostic: &Diagnostic) -> Option<LintLevel> {
        let place = &diagnostic.primary;
        let at = (place.span.file, place.span.lo, place.expansion);
        let state = *self.tokens.get(&at)?;
        self.states[state].get(diagnostic.code).copied()
    }
}

/// The option name that stands for all warnings.
const ALL: &str = "all";

/// Applies options and pragmas: warnings are dropped, kept or turned into errors.
pub fn apply(
    diagnostics: &mut Vec<Diagnostic>,
    options: &[(String, LintLevel)],
    pragmas: &Pragmas,
) {
    diagnostics.retain_mut(|diagnostic| {
        if diagnostic.level != Severity::Warning {
            return true;
        }
        let named = options.iter().rev();
        let option = named
            .filter(|(name, _)| name == diagnostic.code || name == ALL)
            .map(|(_, level)| *level)
            .next();
        match pragmas.level(diagnostic).or(option) {
            Some(LintLevel::Allow) => return false,
            Some(LintLevel::Deny) => {
                diagnostic.level = Severity::Error;
                diagnostic
                    .notes
                    .push(format!("The warning `{}` is denied.", diagnostic.code));
            }
            Some(LintLevel::Warn) | None => {}
        }
        true
    });
}
