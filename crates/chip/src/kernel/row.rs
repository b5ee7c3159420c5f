//! Counters as named numbers, the form in which units, tasks of the core and devices report them.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Named integers in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row(Vec<(&'static str, i128)>);

impl Row {
    /// Returns the row with one more number at its end.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<i128>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// Returns the row with another's numbers appended.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The names of the numbers, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// The number of a given name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<i128> {
        let found = self.0.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| *value)
    }

    /// Writes the numbers as entries of a map that may have other entries.
    ///
    /// # Errors
    /// Returns the errors of the serializer.
    pub fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (name, value) in &self.0 {
            match u64::try_from(*value) {
                Ok(natural) => map.serialize_entry(name, &natural)?,
                Err(_) => map.serialize_entry(name, &(*value as i64))?,
            }
        }
        Ok(())
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.serialize_into(&mut map)?;
        map.end()
    }
}

/// `part` of `whole` in thousandths, rounded down; 0 if `whole` is 0.
#[must_use]
pub fn permille(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        0
    } else {
        (u128::from(part) * 1000 / u128::from(whole)) as u64
    }
}
