//! Columns of tables, which share their memory with whatever reads them.

#![allow(unsafe_code, reason = "the buffer protocol")]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyIndexError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::arrow;

/// The values of a column, one after the other.
#[derive(Debug, PartialEq)]
pub enum Values {
    /// Unsigned, 64 bits.
    U64(Vec<u64>),
    /// Unsigned, 32 bits.
    U32(Vec<u32>),
    /// Unsigned, 8 bits.
    U8(Vec<u8>),
    /// Floating point, 64 bits.
    F64(Vec<f64>),
    /// Texts in UTF-8: where each begins, with the end of the last, and all bytes.
    Text(Vec<i64>, Vec<u8>),
}

/// A column that does not change any more.
#[derive(Debug)]
pub struct ColumnData {
    pub values: Values,
    /// A bit for each value, the least significant first: whether it is there. None where all are.
    pub valid: Option<Vec<u8>>,
    pub len: usize,
}

impl ColumnData {
    /// Whether a value is there.
    pub fn has(&self, at: usize) -> bool {
        let valid = self.valid.as_ref();
        valid.is_none_or(|bits| bits[at / 8] >> (at % 8) & 1 == 1)
    }

    /// How many values are missing.
    pub fn gaps(&self) -> usize {
        (0..self.len).filter(|&at| !self.has(at)).count()
    }

    /// The bytes of the values and how the buffer protocol and Arrow call their type; none for
    /// texts.
    pub fn numbers(&self) -> Option<(*const c_void, usize, &'static CStr)> {
        Some(match &self.values {
            Values::U64(it) => (it.as_ptr().cast(), 8, c"Q"),
            Values::U32(it) => (it.as_ptr().cast(), 4, c"I"),
            Values::U8(it) => (it.as_ptr().cast(), 1, c"B"),
            Values::F64(it) => (it.as_ptr().cast(), 8, c"d"),
            Values::Text(..) => return None,
        })
    }

    /// A value as an object; `None` where there is none.
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

/// A column that is being filled.
#[derive(Debug)]
pub struct ColumnBuilder {
    values: Values,
    valid: Vec<u8>,
    gaps: bool,
    len: usize,
}

/// What a column can be filled with.
pub trait Cell: Default {
    /// Appends it; the column is of its type.
    fn push(self, values: &mut Values);
}

macro_rules! cell {
    ($type:ty, $values:ident) => {
        impl Cell for $type {
            fn push(self, values: &mut Values) {
                if let Values::$values(all) = values {
                    all.push(self);
                }
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
        if let Values::Text(offsets, all) = values {
            all.extend_from_slice(self.as_bytes());
            offsets.push(all.len() as i64);
        }
    }
}

impl ColumnBuilder {
    /// A column without values of the type that these are of.
    pub fn new(values: Values) -> Self {
        Self {
            values,
            valid: Vec::new(),
            gaps: false,
            len: 0,
        }
    }

    /// A column of texts without values.
    pub fn texts() -> Self {
        Self::new(Values::Text(vec![0], Vec::new()))
    }

    /// One more value, or none.
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

    /// The column.
    pub fn finish(self) -> Arc<ColumnData> {
        Arc::new(ColumnData {
            values: self.values,
            valid: self.gaps.then_some(self.valid),
            len: self.len,
        })
    }
}

/// A column of a table: values of one type, some of which may be missing (`None`).
///
/// Shares its memory through the buffer protocol (`numpy.asarray(column)`, `memoryview(column)`)
/// where it holds numbers and none is missing, and through Arrow's PyCapsule interface
/// (`pyarrow.array(column)`, `polars.Series(column)`) always.
#[pyclass(frozen, sequence, module = "npsim")]
pub struct Column(pub Arc<ColumnData>);

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len
    }

    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Py<PyAny>> {
        let len = self.0.len as isize;
        let at = if index < 0 { index + len } else { index };
        if !(0..len).contains(&at) {
            let message = format!("the column has {len} values, and none has the index {index}");
            return Err(PyIndexError::new_err(message));
        }
        self.0.get(py, at as usize)
    }

    fn __repr__(&self) -> String {
        let gaps = match self.0.gaps() {
            0 => String::new(),
            gaps => format!(", {gaps} missing"),
        };
        format!("<npsim.Column of {} values{gaps}>", self.0.len)
    }

    /// The numbers alone, without saying which are missing: there they are 0.
    #[getter]
    fn values(&self) -> PyResult<FilledColumn> {
        match self.0.numbers() {
            Some(_) => Ok(FilledColumn(Arc::clone(&self.0))),
            None => Err(PyBufferError::new_err("texts have no numbers")),
        }
    }

    /// A byte for each value, 1 where it is missing.
    #[getter]
    fn missing(&self) -> Self {
        let mut bytes = ColumnBuilder::new(Values::U8(Vec::new()));
        for at in 0..self.0.len {
            bytes.put(Some(u8::from(!self.0.has(at))));
        }
        Self(bytes.finish())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        arrow::array(py, &self.0)
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if slf.get().0.valid.is_some() {
            return Err(PyBufferError::new_err(
                "values are missing in this column; use its `values` and `missing`, or a table's `numpy()`, `polars()` or `pandas()`",
            ));
        }
        let data = Arc::clone(&slf.get().0);
        unsafe { fill_view(&data, slf.into_any(), view, flags) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        unsafe { release_view(view) }
    }
}

/// The numbers of a column, with 0 where they are missing.
#[pyclass(frozen, module = "npsim")]
pub struct FilledColumn(Arc<ColumnData>);

#[pymethods]
impl FilledColumn {
    fn __len__(&self) -> usize {
        self.0.len
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let data = Arc::clone(&slf.get().0);
        unsafe { fill_view(&data, slf.into_any(), view, flags) }
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        unsafe { release_view(view) }
    }
}

/// Describes the numbers of a column in a view, which keeps `owner`, and with it the column.
///
/// # Safety
/// `view` is null or points to a view that may be written.
unsafe fn fill_view(
    data: &ColumnData,
    owner: Bound<'_, PyAny>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("there is no view to fill"));
    }
    // SAFETY: the caller says so.
    let view = unsafe { &mut *view };
    view.obj = ptr::null_mut();
    if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
        return Err(PyBufferError::new_err("a column cannot be changed"));
    }
    let Some((start, size, format)) = data.numbers() else {
        return Err(PyBufferError::new_err(
            "texts have no buffer; use Arrow's interface, or the table's `numpy()`",
        ));
    };
    let asked = |flag: c_int| flags & flag == flag;
    // What the shape and the strides point to lives as long as the view: `release_view` frees it.
    let shape = Box::into_raw(Box::new([data.len as isize, size as isize])).cast::<isize>();
    view.buf = start.cast_mut();
    view.len = (data.len * size) as isize;
    view.readonly = 1;
    view.itemsize = size as isize;
    view.format = if asked(ffi::PyBUF_FORMAT) {
        format.as_ptr().cast_mut()
    } else {
        ptr::null_mut()
    };
    view.ndim = 1;
    view.shape = if asked(ffi::PyBUF_ND) {
        shape
    } else {
        ptr::null_mut()
    };
    view.strides = if asked(ffi::PyBUF_STRIDES) {
        // SAFETY: the second of two numbers.
        unsafe { shape.add(1) }
    } else {
        ptr::null_mut()
    };
    view.suboffsets = ptr::null_mut();
    view.internal = shape.cast();
    view.obj = owner.into_ptr();
    Ok(())
}

/// Frees what [`fill_view`] made.
///
/// # Safety
/// `view` was filled by it, and is released once.
unsafe fn release_view(view: *mut ffi::Py_buffer) {
    // SAFETY: the caller says so.
    unsafe {
        let shape = (*view).internal.cast::<[isize; 2]>();
        if !shape.is_null() {
            (*view).internal = ptr::null_mut();
            drop(Box::from_raw(shape));
        }
    }
}
