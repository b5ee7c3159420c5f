//! Sections with keys of two types: those common to a family of kinds, and those of one kind.

use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use crate::keys::Spanned;
use crate::resolve::Resolver;
use crate::toml_errors::KeyError;
use crate::toml_reader::from_value;

/// An error in a key of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMistake {
    span: Range<usize>,
    message: String,
    help: String,
}

impl KeyMistake {
    /// Creates an error at a key, with a message and a suggested remedy.
    pub fn new<T>(key: &Spanned<T>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            span: key.span(),
            message: message.into(),
            help: help.into(),
        }
    }

    pub(crate) fn report(self, resolver: &mut Resolver<'_>) {
        resolver.fail(self.span, self.message, "", &self.help);
    }
}

/// Reads a section: the common keys, listed in `family`, and the kind's own.
pub(crate) fn read<F: DeserializeOwned, K: DeserializeOwned>(
    mut section: toml::Spanned<DeValue<'_>>,
    family: &[&str],
) -> Result<(F, Spanned<K>), KeyError> {
    let mut common = DeTable::new();
    if let DeValue::Table(table) = section.get_mut() {
        for key in family {
            if let Some((key, value)) = table.remove_entry(*key) {
                common.insert(key, value);
            }
        }
    }
    let span = section.span();
    let own = from_value(section)?;
    let common = toml::Spanned::new(span, DeValue::Table(common));
    Ok((from_value(common)?, own))
}

/// Returns the schema of such a section.
pub(crate) fn schema<F: JsonSchema, K: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut whole = K::json_schema(generator);
    let mut family = F::json_schema(generator);
    let own = whole.ensure_object();
    for (key, value) in std::mem::take(family.ensure_object()) {
        match (own.get_mut(&key), value) {
            (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
            (Some(Value::Array(own)), Value::Array(more)) => own.extend(more),
            (None, value) => {
                own.insert(key, value);
            }
            _ => {}
        }
    }
    whole
}
