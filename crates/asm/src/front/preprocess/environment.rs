//! The bindings of names during execution of lines.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::front::token::Token;
use crate::source::ExpansionId;

/// The bindings in effect for the lines being executed.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    /// Values of parameters and loop variables, by name.
    pub bindings: FxHashMap<Rc<str>, Rc<[Token]>>,
    /// The macro expansion that the lines belong to.
    pub expansion: ExpansionId,
}

impl Environment {
    /// Creates an environment without bindings.
    pub fn plain(expansion: ExpansionId) -> Self {
        Self {
            bindings: FxHashMap::default(),
            expansion,
        }
    }

    /// Returns a copy with one more binding.
    pub fn with(&self, name: &Rc<str>, value: &[Token]) -> Self {
        let mut inner = self.clone();
        inner.bindings.insert(name.clone(), value.into());
        inner
    }

    /// Whether substitution changes nothing.
    pub fn is_empty(&self) -> bool {
        self.bindings.is_empty() && self.expansion == ExpansionId::ROOT
    }
}

/// The treatment of undefined names in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undefined {
    /// They count as 0, with a warning.
    Zero,
    /// They are an error.
    Error,
}
