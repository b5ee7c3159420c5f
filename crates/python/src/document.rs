//! Dictionaries in place of project, network and sweep files.
//!
//! A dictionary is converted to the text of such a file, so that the readers of files find and
//! report all its mistakes; places in the text are then reported as paths of keys.

use std::fmt::Write;
use std::ops::Range;

use npsim::problem::Problem;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::text::check_depth;

/// The file name that stands for a dictionary; no real file has it.
pub const DICTIONARY_FILE: &str = "dictionary.toml";

/// A dictionary as text.
#[derive(Clone, Debug, Default)]
pub struct Document {
    text: String,
    /// Byte ranges of the text with their paths of keys, in the order of the text.
    places: Vec<(Range<usize>, String)>,
    /// Nesting depth of the value being written.
    depth: usize,
}

impl Document {
    /// Converts a dictionary to text.
    ///
    /// # Errors
    /// Returns an error with the path of keys if a value cannot be represented in a file.
    pub fn of(dictionary: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut document = Self::default();
        document.table(dictionary, "", "")?;
        Ok(document)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Converts a problem with a place in the text to one with a path of keys.
    pub fn relocated(&self, mut problem: Problem) -> Problem {
        let Some(excerpt) = &problem.excerpt else {
            return problem;
        };
        if *excerpt.text != self.text {
            return problem;
        }
        let start = excerpt.span.start;
        let whole = excerpt.span.is_empty() || excerpt.span.len() >= self.text.trim_end().len();
        let found = self
            .places
            .iter()
            .rev()
            .find(|(range, _)| !whole && range.start <= start);
        let path = found.map_or("the dictionary", |(_, path)| path.as_str());
        let label = match excerpt.label.as_str() {
            "" => String::new(),
            label => format!(": {label}"),
        };
        problem.notes.insert(0, format!("at {path}{label}"));
        problem.excerpt = None;
        problem
    }

    fn note(&mut self, start: usize, path: &str) {
        self.places.push((start..self.text.len(), path.to_owned()));
    }

    /// Writes the lines of a table: first its values, then its subtables, as TOML requires.
    fn table(&mut self, table: &Bound<'_, PyDict>, header: &str, path: &str) -> PyResult<()> {
        self.depth += 1;
        check_depth(path, self.depth)?;
        let mut below = Vec::new();
        for (key, value) in table {
            let key = key.cast::<PyString>().map_err(|_| {
                let place = if path.is_empty() {
                    "the dictionary"
                } else {
                    path
                };
                PyTypeError::new_err(format!("a key of {place} is {key}, and keys are texts"))
            })?;
            let key = key.to_str()?.to_owned();
            let own = joined(path, &key);
            if value.is_instance_of::<PyDict>() || is_list_of_tables(&value) {
                below.push((key, own, value));
                continue;
            }
            let start = self.text.len();
            self.text += &quoted_key(&key);
            self.text += " = ";
            self.value(&value, &own)?;
            self.text.push('\n');
            self.note(start, &own);
        }
        for (key, own, value) in below {
            let header = joined(header, &quoted_key(&key));
            if let Ok(table) = value.cast::<PyDict>() {
                self.header(&format!("[{header}]"), &own);
                self.table(table, &header, &own)?;
                continue;
            }
            for (at, entry) in value.try_iter()?.enumerate() {
                let own = format!("{own}[{at}]");
                self.header(&format!("[[{header}]]"), &own);
                self.table(entry?.cast::<PyDict>()?, &header, &own)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn header(&mut self, header: &str, path: &str) {
        let start = self.text.len();
        self.text += header;
        self.text.push('\n');
        self.note(start, path);
    }

    /// Writes a value on one line.
    fn value(&mut self, value: &Bound<'_, PyAny>, path: &str) -> PyResult<()> {
        self.depth += 1;
        check_depth(path, self.depth)?;
        // Writing to a string cannot fail.
        if let Ok(flag) = value.cast::<PyBool>() {
            let _ = write!(self.text, "{}", flag.is_true());
        } else if value.is_instance_of::<PyInt>() {
            let number: i64 = value.extract().map_err(|_| {
                PyTypeError::new_err(format!("{path} is {value}, which a file cannot contain"))
            })?;
            let _ = write!(self.text, "{number}");
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number.value(), path)?;
        } else if let Ok(text) = value.cast::<PyString>() {
            self.text += &quoted(text.to_str()?);
        } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            self.text.push('[');
            for (at, entry) in value.try_iter()?.enumerate() {
                if at > 0 {
                    self.text += ", ";
                }
                self.value(&entry?, &format!("{path}[{at}]"))?;
            }
            self.text.push(']');
        } else if let Ok(table) = value.cast::<PyDict>() {
            self.text.push('{');
            for (at, (key, entry)) in table.iter().enumerate() {
                let key = key.cast::<PyString>()?.to_str()?.to_owned();
                if at > 0 {
                    self.text += ", ";
                }
                self.text += &quoted_key(&key);
                self.text += " = ";
                self.value(&entry, &joined(path, &key))?;
            }
            self.text.push('}');
        } else if value.hasattr("__fspath__")? {
            let text: String = value.call_method0("__fspath__")?.extract()?;
            self.text += &quoted(&text);
        } else {
            let kind = value.get_type().name()?;
            let remedy = if value.is_none() {
                "; leave the key out"
            } else {
                "; use texts, numbers, booleans, lists and dictionaries"
            };
            return Err(PyTypeError::new_err(format!(
                "{path} is a {kind}, which a file cannot contain{remedy}"
            )));
        }
        self.depth -= 1;
        Ok(())
    }

    fn float(&mut self, number: f64, path: &str) -> PyResult<()> {
        if !number.is_finite() {
            return Err(PyTypeError::new_err(format!(
                "{path} is {number}, which a file cannot contain"
            )));
        }
        let _ = write!(self.text, "{number:?}");
        Ok(())
    }
}

fn is_list_of_tables(value: &Bound<'_, PyAny>) -> bool {
    let entries: Vec<_> = match (value.cast::<PyList>(), value.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return false,
    };
    !entries.is_empty() && entries.iter().all(PyAnyMethods::is_instance_of::<PyDict>)
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn quoted_key(key: &str) -> String {
    let bare = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if !key.is_empty() && key.chars().all(bare) {
        key.to_owned()
    } else {
        quoted(key)
    }
}

/// A quoted text on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for it in text.chars() {
        match it {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            it if it.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(it));
            }
            it => out.push(it),
        }
    }
    out.push('"');
    out
}
