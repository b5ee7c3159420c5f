//! State vectors as bytes.
//!
//! The chip's state has many large types, so a separate byte format would double what their
//! implementations of [`Serialize`] compile to.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::reader::StateReader;
use super::vector::{SnapshotError, StateVector};

/// Serializes a value to bytes.
///
/// # Errors
/// Returns the errors of [`StateVector::add`].
pub fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>, SnapshotError> {
    let mut vector = StateVector::default();
    vector.add(value)?;
    postcard::to_allocvec(&vector.row).map_err(|error| SnapshotError(error.to_string()))
}

/// Deserializes a value, and returns it with the remaining bytes. It allocates no more memory than
/// a small multiple of the bytes.
///
/// # Errors
/// Returns an error if the bytes are not those of such a value.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), SnapshotError> {
    let (numbers, rest): (Vec<u64>, _) =
        postcard::take_from_bytes(bytes).map_err(|error| SnapshotError(error.to_string()))?;
    let mut reader = StateReader::new(&numbers);
    let value = reader.take()?;
    if !reader.is_empty() {
        return Err(SnapshotError("too many numbers".to_owned()));
    }
    Ok((value, rest))
}
