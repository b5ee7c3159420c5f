//! Names of kinds defined at run time, for use where the library requires `'static` names.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a kind of task or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindName(pub &'static str);

/// All names so far: each is leaked only once, however often it is loaded.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl KindName {
    /// Returns a name that lives as long as the process.
    pub fn new(name: &str) -> Self {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = names.get(name) {
            return Self(known);
        }
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        names.insert(name);
        Self(name)
    }
}

impl Serialize for KindName {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl<'de> Deserialize<'de> for KindName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|name| Self::new(&name))
    }
}
