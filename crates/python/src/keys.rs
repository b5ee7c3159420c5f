//! The keys of a section of a kind that is a class of Python's: any, for the class to look at.

use std::collections::BTreeMap;

use npsim::project::keys::Spanned;
use npsim::project::look_aside::KeyMistake;

/// The keys besides those of the library, with their places.
pub type Keys = BTreeMap<String, Spanned<serde_json::Value>>;

/// The keys as JSON.
pub fn as_json(keys: &Keys) -> String {
    let keys = keys.iter();
    let keys = keys.map(|(key, value)| (key.clone(), value.get_ref().clone()));
    serde_json::Value::Object(keys.collect()).to_string()
}

/// Why nothing can be made of keys alone.
pub fn without_class() -> KeyMistake {
    KeyMistake::new(
        &Spanned::new(0..0, ()),
        "a kind of Python's has a class",
        "",
    )
}
