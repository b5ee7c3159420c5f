//! Columns of tables, which share their memory with their readers.

#![allow(unsafe_code, reason = "the buffer protocol")]

use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyIndexError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyMemoryView, PySlice, PyTuple};

use crate::arrow;
use crate::column_data::{ColumnBuilder, ColumnData, Values};
use crate::error::not_pickled;

/// A column of a table: values of one type, some of which may be missing (`None`).
///
/// A column of numbers without missing values shares its memory through the buffer protocol
/// (`numpy.asarray(column)`, `memoryview(column)`). Every column shares it through Arrow's
/// PyCapsule interface (`pyarrow.array(column)`, `polars.Series(column)`).
#[pyclass(frozen, sequence, module = "npsim")]
pub struct Column(pub Arc<ColumnData>);

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len
    }

    /// Return a value, or a list of values for a slice.
    fn __getitem__(&self, py: Python<'_>, index: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let len = self.0.len as isize;
        if let Ok(slice) = index.cast::<PySlice>() {
            let part = slice.indices(len)?;
            let values = (0..part.slicelength as isize)
                .map(|place| self.0.get(py, (part.start + place * part.step) as usize));
            let values = values.collect::<PyResult<Vec<_>>>()?;
            return Ok(PyList::new(py, values)?.into_any().unbind());
        }
        let index: isize = index.extract()?;
        let at = if index < 0 { index + len } else { index };
        if !(0..len).contains(&at) {
            let message = format!("the column has {len} values, and none has the index {index}");
            return Err(PyIndexError::new_err(message));
        }
        self.0.get(py, at as usize)
    }

    fn __iter__(&self) -> ColumnValues {
        ColumnValues {
            column: Arc::clone(&self.0),
            next: 0,
        }
    }

    /// Return the values as a list, with `None` for missing values.
    fn tolist(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        (0..self.0.len).map(|at| self.0.get(py, at)).collect()
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled(
            "a column",
            "send what `tolist()` or `pyarrow.array(column)` gives",
        ))
    }

    fn __repr__(&self) -> String {
        let gaps = match self.0.gaps() {
            0 => String::new(),
            gaps => format!(", {gaps} missing"),
        };
        format!("<npsim.Column of {} values{gaps}>", self.0.len)
    }

    /// The numbers as a `memoryview`, with 0 for missing values. Raises `BufferError` for texts.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMemoryView>> {
        match self.0.numbers() {
            Some(_) => {
                let filled = Bound::new(py, FilledColumn(Arc::clone(&self.0)))?;
                PyMemoryView::from(filled.as_any())
            }
            None => Err(PyBufferError::new_err("texts have no numbers")),
        }
    }

    /// A column with a byte for each value: 1 if it is missing, 0 otherwise.
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

/// Goes through the values of a column.
#[pyclass(module = "npsim")]
struct ColumnValues {
    column: Arc<ColumnData>,
    next: usize,
}

#[pymethods]
impl ColumnValues {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let at = self.next;
        if at == self.column.len {
            return Ok(None);
        }
        self.next += 1;
        self.column.get(py, at).map(Some)
    }
}

/// The numbers of a column, with 0 where they are missing.
#[pyclass(frozen, module = "npsim")]
struct FilledColumn(Arc<ColumnData>);

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

/// Describes the numbers of a column in a view that keeps `owner`, and thereby the column, alive.
///
/// # Safety
/// `view` must be null or point to a writable view.
unsafe fn fill_view(
    data: &ColumnData,
    owner: Bound<'_, PyAny>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("there is no view to fill"));
    }
    // SAFETY: guaranteed by the caller.
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
    // The memory of shape and strides lives as long as the view; `release_view` frees it.
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
        // SAFETY: it points to the second of two numbers.
        unsafe { shape.add(1) }
    } else {
        ptr::null_mut()
    };
    view.suboffsets = ptr::null_mut();
    view.internal = shape.cast();
    view.obj = owner.into_ptr();
    Ok(())
}

/// Frees what [`fill_view`] allocated.
///
/// # Safety
/// `view` must have been filled by it, and is released once.
unsafe fn release_view(view: *mut ffi::Py_buffer) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let shape = (*view).internal.cast::<[isize; 2]>();
        if !shape.is_null() {
            (*view).internal = ptr::null_mut();
            drop(Box::from_raw(shape));
        }
    }
}
