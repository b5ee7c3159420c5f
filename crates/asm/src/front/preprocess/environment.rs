//! What names stand for in lines that are executed.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::front::token::Token;
use crate::source::ExpansionId;

/// What names stand for in the lines being executed.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    /// Parameters and loop variables by name.
    pub bindings: FxHashMap<Rc<str>, Rc<[Token]>>,
    /// The macro use that the lines belong to.
    pub expansion: ExpansionId,
}

impl Environment {
    /// No parameters.
    pub fn plain(expansion: ExpansionId) -> Self {
        Self {
            bindings: FxHashMap::default(),
            expansion,
        }
    }

    /// With one more name.
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

/// What undefined names are in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undefined {
    /// 0, with a warning.
    Zero,
    /// An error.
    Error,
}
