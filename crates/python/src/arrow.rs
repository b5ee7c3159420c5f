//! Columns and tables through Arrow's C data interface, in the form of its `PyCapsule` protocol:
//! <https://arrow.apache.org/docs/format/CDataInterface.html>. Three structures do not justify a
//! library, and readers share the memory without a copy.

#![allow(unsafe_code, reason = "Arrow's C data interface")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::column_data::{ColumnData, Values};
use crate::table_data::TableData;

/// Flag of a field whose values may be missing.
const NULLABLE: i64 = 2;

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// The allocations that a schema points to.
struct SchemaOwner {
    name: CString,
    children: Vec<*mut ArrowSchema>,
}

/// The allocations that an array points to.
struct ArrayOwner {
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    /// Keeps the memory of the buffers alive.
    _column: Option<Arc<ColumnData>>,
}

/// The state of a stream, which returns one batch.
struct StreamOwner {
    table: Arc<TableData>,
    given: bool,
}

fn schema(format: &'static CStr, name: &str, children: Vec<ArrowSchema>) -> ArrowSchema {
    let children = children.into_iter().map(|it| Box::into_raw(Box::new(it)));
    let mut owner = Box::new(SchemaOwner {
        name: CString::new(name).unwrap_or_default(),
        children: children.collect(),
    });
    ArrowSchema {
        format: format.as_ptr(),
        name: owner.name.as_ptr(),
        metadata: ptr::null(),
        flags: NULLABLE,
        n_children: owner.children.len() as i64,
        children: owner.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(owner).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: called once by the interface, with a schema made by `schema`.
    unsafe {
        let owner = Box::from_raw((*schema).private_data.cast::<SchemaOwner>());
        for &child in &owner.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

fn raw_array(
    (length, gaps): (usize, usize),
    buffers: Vec<*const c_void>,
    children: Vec<ArrowArray>,
    column: Option<Arc<ColumnData>>,
) -> ArrowArray {
    let children = children.into_iter().map(|it| Box::into_raw(Box::new(it)));
    let mut owner = Box::new(ArrayOwner {
        buffers,
        children: children.collect(),
        _column: column,
    });
    ArrowArray {
        length: length as i64,
        null_count: gaps as i64,
        offset: 0,
        n_buffers: owner.buffers.len() as i64,
        n_children: owner.children.len() as i64,
        buffers: owner.buffers.as_mut_ptr(),
        children: owner.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(owner).cast(),
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: called once by the interface, with an array made by `raw_array`.
    unsafe {
        let owner = Box::from_raw((*array).private_data.cast::<ArrayOwner>());
        for &child in &owner.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

fn column_schema(name: &str, column: &ColumnData) -> ArrowSchema {
    let format = match &column.values {
        Values::U64(_) => c"L",
        Values::U32(_) => c"I",
        Values::U8(_) => c"C",
        Values::F64(_) => c"g",
        Values::Text(..) => c"U",
    };
    schema(format, name, Vec::new())
}

fn column_array(column: &Arc<ColumnData>) -> ArrowArray {
    let valid = column.valid.as_ref();
    let mut buffers = vec![valid.map_or(ptr::null(), |bits| bits.as_ptr().cast())];
    match (&column.values, column.numbers()) {
        (Values::Text(offsets, bytes), _) => {
            buffers.extend([offsets.as_ptr().cast(), bytes.as_ptr().cast()]);
        }
        (_, Some((start, ..))) => buffers.push(start),
        (_, None) => {}
    }
    let size = (column.len, column.gaps());
    raw_array(size, buffers, Vec::new(), Some(Arc::clone(column)))
}

fn table_schema(table: &TableData) -> ArrowSchema {
    let columns = table.columns.iter();
    let columns = columns.map(|(name, column)| column_schema(name, column));
    schema(c"+s", "", columns.collect())
}

fn table_array(table: &TableData) -> ArrowArray {
    let columns = table.columns.iter();
    let columns = columns.map(|(_, column)| column_array(column));
    raw_array((table.rows, 0), vec![ptr::null()], columns.collect(), None)
}

/// Creates a capsule that owns a structure of the interface.
fn capsule<'py, T>(
    py: Python<'py>,
    content: T,
    name: &'static CStr,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    let content = Box::into_raw(Box::new(content));
    // SAFETY: the pointer is not null, the name is static, and the destructor frees the content.
    unsafe {
        let made = ffi::PyCapsule_New(content.cast(), name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(py, made)
    }
}

macro_rules! destructor {
    ($name:ident, $type:ty, $label:expr) => {
        unsafe extern "C" fn $name(capsule: *mut ffi::PyObject) {
            // SAFETY: `capsule` made it with this name. A reader that took ownership of the content
            // has set its release to none.
            unsafe {
                let content = ffi::PyCapsule_GetPointer(capsule, $label.as_ptr()).cast::<$type>();
                if content.is_null() {
                    return;
                }
                if let Some(release) = (*content).release {
                    release(content);
                }
                drop(Box::from_raw(content));
            }
        }
    };
}
destructor!(drop_schema, ArrowSchema, c"arrow_schema");
destructor!(drop_array, ArrowArray, c"arrow_array");
destructor!(drop_stream, ArrowArrayStream, c"arrow_array_stream");

/// Exports a column as the capsules of its schema and its array.
pub fn array<'py>(py: Python<'py>, column: &Arc<ColumnData>) -> PyResult<Bound<'py, PyTuple>> {
    let schema = capsule(py, column_schema("", column), c"arrow_schema", drop_schema)?;
    let array = capsule(py, column_array(column), c"arrow_array", drop_array)?;
    PyTuple::new(py, [schema, array])
}

/// Exports the schema of a table.
pub fn schema_of<'py>(py: Python<'py>, table: &TableData) -> PyResult<Bound<'py, PyAny>> {
    capsule(py, table_schema(table), c"arrow_schema", drop_schema)
}

/// Exports a table as a stream of one batch.
pub fn stream<'py>(py: Python<'py>, table: &Arc<TableData>) -> PyResult<Bound<'py, PyAny>> {
    let owner = Box::new(StreamOwner {
        table: Arc::clone(table),
        given: false,
    });
    let stream = ArrowArrayStream {
        get_schema: Some(stream_schema),
        get_next: Some(stream_next),
        get_last_error: Some(stream_error),
        release: Some(release_stream),
        private_data: Box::into_raw(owner).cast(),
    };
    capsule(py, stream, c"arrow_array_stream", drop_stream)
}

unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the first was made by `stream`, and the reader provides room for the second.
    unsafe {
        let owner = &*(*stream).private_data.cast::<StreamOwner>();
        out.write(table_schema(&owner.table));
    }
    0
}

unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `stream_schema`.
    unsafe {
        let owner = &mut *(*stream).private_data.cast::<StreamOwner>();
        if owner.given {
            // The end of a stream is an array that is already released.
            out.write_bytes(0, 1);
        } else {
            owner.given = true;
            out.write(table_array(&owner.table));
        }
    }
    0
}

unsafe extern "C" fn stream_error(_: *mut ArrowArrayStream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: called once by the interface, with a stream made by `stream`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamOwner>()));
        (*stream).release = None;
    }
}
