//! Conversion of values to texts for the library's parsers.

use std::fmt::Display;
use std::str::FromStr;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

use crate::error::mistake;

/// Maximum nesting depth of values. Deeper values contain themselves, or might as well.
pub const MAX_DEPTH: usize = 64;

/// Refuses values nested deeper than [`MAX_DEPTH`].
pub fn check_depth(place: &str, depth: usize) -> PyResult<()> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    let place: String = place.chars().take(MAX_DEPTH).collect();
    Err(PyTypeError::new_err(format!(
        "{place} is nested deeper than {MAX_DEPTH} levels; does it contain itself?"
    )))
}

/// Converts a text, path or number to its text; a list to the texts of its items,
/// separated by commas.
pub fn text_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    text_at(name, value, 0)
}

/// [`text_of`] for a value nested in `depth` lists.
fn text_at(name: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<String> {
    check_depth(name, depth)?;
    if let Ok(text) = value.extract::<String>() {
        return Ok(text);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let entries = value
            .try_iter()?
            .map(|entry| text_at(name, &entry?, depth + 1));
        return Ok(entries.collect::<PyResult<Vec<_>>>()?.join(","));
    }
    if is_path(value)? {
        return value.call_method0("__fspath__")?.extract();
    }
    let is_number = value.extract::<f64>().is_ok();
    if !is_number {
        let kind = value.get_type().name()?;
        let message = format!("`{name}` is a {kind}, not a text or a number");
        return Err(PyTypeError::new_err(message));
    }
    Ok(value.str()?.to_string())
}

/// Whether a value is a path, such as those of `pathlib`.
pub fn is_path(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.hasattr("__fspath__")
}

/// Parses a text as the command does.
pub fn parsed<T: FromStr>(name: &str, text: &str) -> PyResult<T>
where
    T::Err: Display,
{
    text.parse()
        .map_err(|error| mistake(format!("`{name}`: {error}"), ""))
}

/// Converts a value by [`text_of`] and parses it by [`parsed`].
pub fn read<T: FromStr>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<T>
where
    T::Err: Display,
{
    parsed(name, &text_of(name, value)?)
}

/// Reads names with values, as for `-D`.
pub fn pairs(name: &str, pairs: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let Some(pairs) = pairs else {
        return Ok(Vec::new());
    };
    let pairs = pairs.iter().map(|(key, value)| {
        let key = text_of(name, &key)?;
        let value = text_of(&format!("{name}[{key:?}]"), &value)?;
        Ok((key, value))
    });
    pairs.collect()
}
