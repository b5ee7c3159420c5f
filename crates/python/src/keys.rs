//! The keys of a section whose kind is a Python class: arbitrary keys, which the class
//! interprets.

use std::collections::BTreeMap;

use npsim::project::keys::Spanned;
use npsim::project::look_aside::KeyMistake;

/// The keys other than the library's own, with their places.
pub type Keys = BTreeMap<String, Spanned<serde_json::Value>>;

/// Converts the keys to JSON.
pub fn as_json(keys: &Keys) -> String {
    let keys = keys.iter();
    let keys = keys.map(|(key, value)| (key.clone(), value.get_ref().clone()));
    serde_json::Value::Object(keys.collect()).to_string()
}

/// The mistake that a kind cannot be created from keys alone.
pub fn without_class() -> KeyMistake {
    KeyMistake::new(
        &Spanned::new(0..0, ()),
        "a kind of Python's has a class",
        "",
    )
}
