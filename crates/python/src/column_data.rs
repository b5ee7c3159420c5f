//! The values of columns.

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use pyo3::prelude::*;

/// The values of a column, stored contiguously.
#[derive(Debug, PartialEq)]
pub enum Values {
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Unsigned 8-bit integers.
    U8(Vec<u8>),
    /// 64-bit floating-point numbers.
    F64(Vec<f64>),
    /// UTF-8 texts: the offset of each, followed by the end of the last one, and all bytes.
    Text(Vec<i64>, Vec<u8>),
}

/// An immutable column.
#[derive(Debug)]
pub struct ColumnData {
    pub values: Values,
    /// One bit per value, least significant first, set if the value is present. `None` if all are.
    pub valid: Option<Vec<u8>>,
    pub len: usize,
}

impl ColumnData {
    /// Whether a value is present.
    pub fn has(&self, at: usize) -> bool {
        let valid = self.valid.as_ref();
        valid.is_none_or(|bits| bits[at / 8] >> (at % 8) & 1 == 1)
    }

    /// The number of missing values.
    pub fn gaps(&self) -> usize {
        (0..self.len).filter(|&at| !self.has(at)).count()
    }

    /// The start of the values, the size of each in bytes, and the format of their type in the
    /// buffer protocol; `None` for texts.
    pub fn numbers(&self) -> Option<(*const c_void, usize, &'static CStr)> {
        Some(match &self.values {
            Values::U64(it) => (it.as_ptr().cast(), 8, c"Q"),
            Values::U32(it) => (it.as_ptr().cast(), 4, c"I"),
            Values::U8(it) => (it.as_ptr().cast(), 1, c"B"),
            Values::F64(it) => (it.as_ptr().cast(), 8, c"d"),
            Values::Text(..) => return None,
        })
    }

    /// Returns a value as an object; Python's `None` if it is missing.
    pub fn get(&self, py: Python<'_>, at: usize) -> PyResult<Py<PyAny>> {
        if !self.has(at) {
            return Ok(py.None());
        }
        let part = |offsets: &[i64]| offsets[at] as usize..offsets[at + 1] as usize;
        Ok(match &self.values {
            Values::U64(it) => it[at].into_pyobject(py)?.into_any().unbind(),
            Values::U32(it) => it[at].into_pyobject(py)?.into_any().unbind(),
            Values::U8(it) => it[at].into_pyobject(py)?.into_any().unbind(),
            Values::F64(it) => it[at].into_pyobject(py)?.into_any().unbind(),
            Values::Text(offsets, bytes) => {
                let text = String::from_utf8_lossy(&bytes[part(offsets)]);
                text.into_pyobject(py)?.into_any().unbind()
            }
        })
    }
}

impl ColumnData {
    /// Creates a column of numbers, some of which may be missing.
    pub fn numbers_of<T: Number>(
        cells: impl ExactSizeIterator<Item = Option<T>> + Clone,
    ) -> Arc<Self> {
        let (len, valid) = (cells.len(), validity(cells.clone()));
        let all = match &valid {
            Some(bits) if bits.iter().all(|it| *it == 0) => vec![T::default(); len],
            _ => cells.map(Option::unwrap_or_default).collect(),
        };
        let values = T::values(all);
        Arc::new(Self { values, valid, len })
    }

    /// Creates a column of texts, some of which may be missing.
    pub fn texts_of<'a>(
        cells: impl ExactSizeIterator<Item = Option<&'a str>> + Clone,
    ) -> Arc<Self> {
        let (len, valid) = (cells.len(), validity(cells.clone()));
        let (mut offsets, mut bytes) = (Vec::with_capacity(len + 1), Vec::new());
        offsets.push(0);
        for cell in cells {
            bytes.extend_from_slice(cell.unwrap_or_default().as_bytes());
            offsets.push(bytes.len() as i64);
        }
        let values = Values::Text(offsets, bytes);
        Arc::new(Self { values, valid, len })
    }
}

/// Computes the bits of [`ColumnData::valid`]. In most columns, all cells are present or none is.
fn validity<T>(mut cells: impl ExactSizeIterator<Item = Option<T>> + Clone) -> Option<Vec<u8>> {
    let mut bits = vec![0; cells.len().div_ceil(8)];
    if cells.clone().all(|cell| cell.is_some()) {
        return None;
    }
    if cells.clone().all(|cell| cell.is_none()) {
        return Some(bits);
    }
    for byte in &mut bits {
        for (at, cell) in cells.by_ref().take(8).enumerate() {
            *byte |= u8::from(cell.is_some()) << at;
        }
    }
    Some(bits)
}

/// Number types that columns can have.
pub trait Number: Clone + Default {
    /// Wraps these numbers as the values of a column.
    fn values(all: Vec<Self>) -> Values;
}

/// A column under construction.
#[derive(Debug)]
pub struct ColumnBuilder {
    values: Values,
    valid: Vec<u8>,
    gaps: bool,
    len: usize,
}

/// Types of values that can be put into a column.
pub trait Cell: Default {
    /// Appends it.
    ///
    /// # Panics
    /// Panics if the column has another type: a column with fewer values than its length would be
    /// read beyond its end.
    fn push(self, values: &mut Values);
}

macro_rules! cell {
    ($type:ty, $values:ident) => {
        impl Cell for $type {
            fn push(self, values: &mut Values) {
                let Values::$values(all) = values else {
                    panic!("a {} in another column", stringify!($type));
                };
                all.push(self);
            }
        }

        impl Number for $type {
            fn values(all: Vec<Self>) -> Values {
                Values::$values(all)
            }
        }
    };
}
cell!(u64, U64);
cell!(u32, U32);
cell!(u8, U8);
cell!(f64, F64);

impl Cell for &str {
    fn push(self, values: &mut Values) {
        let Values::Text(offsets, all) = values else {
            panic!("a text in another column");
        };
        all.extend_from_slice(self.as_bytes());
        offsets.push(all.len() as i64);
    }
}

impl ColumnBuilder {
    /// Creates an empty column with the type of these values.
    pub fn new(values: Values) -> Self {
        Self {
            values,
            valid: Vec::new(),
            gaps: false,
            len: 0,
        }
    }

    /// Creates an empty column of texts.
    pub fn texts() -> Self {
        Self::new(Values::Text(vec![0], Vec::new()))
    }

    /// Appends a value, or a missing one.
    pub fn put<T: Cell>(&mut self, value: Option<T>) {
        if self.len.is_multiple_of(8) {
            self.valid.push(0);
        }
        match (&value, self.valid.last_mut()) {
            (Some(_), Some(last)) => *last |= 1 << (self.len % 8),
            _ => self.gaps = true,
        }
        value.unwrap_or_default().push(&mut self.values);
        self.len += 1;
    }

    /// Returns the finished column.
    pub fn finish(self) -> Arc<ColumnData> {
        Arc::new(ColumnData {
            values: self.values,
            valid: self.gaps.then_some(self.valid),
            len: self.len,
        })
    }
}
