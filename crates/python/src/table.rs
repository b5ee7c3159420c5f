//! Tables: named columns of equal length.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyModuleNotFoundError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};

use crate::arrow;
use crate::column::Column;
use crate::column_data::{ColumnData, Values};
use crate::error::not_pickled;
use crate::table_data::TableData;

/// Rows that a notebook shows at each end of a table.
const SHOWN: usize = 5;

/// A table: named columns of equal length.
///
/// `table["ended"]` is a column, `len(table)` is the number of rows, and `for name in table`
/// iterates over the names. Libraries that read Arrow accept a table without a copy:
/// `polars.DataFrame(table)`, `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`,
/// `duckdb.sql("select fate, count(*) from table group by fate")`.
///
/// `numpy`, `pandas`, `polars` and `arrow` raise `ModuleNotFoundError` if their library is not
/// installed.
#[pyclass(frozen, mapping, module = "npsim")]
pub struct Table(pub Arc<TableData>);

impl Table {
    fn column(&self, name: &str) -> Option<&Arc<ColumnData>> {
        let found = self.0.columns.iter().find(|(known, _)| known == name);
        found.map(|(_, column)| &**column)
    }
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.0.rows
    }

    fn __contains__(&self, name: &str) -> bool {
        self.column(name).is_some()
    }

    fn __getitem__(&self, name: &Bound<'_, PyAny>) -> PyResult<Column> {
        let name: String = name.extract().map_err(|_| {
            PyTypeError::new_err("a column is found by its name, a row by `table.row(0)`")
        })?;
        let name = name.as_str();
        let found = self.column(name).map(|column| Column(Arc::clone(column)));
        found.ok_or_else(|| {
            let names = self.keys().join(", ");
            PyKeyError::new_err(format!(
                "there is no column {name:?}; choose one of {names}"
            ))
        })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.keys())?.try_iter()?.into_any())
    }

    /// Return the names of the columns, in order.
    fn keys(&self) -> Vec<String> {
        self.0
            .columns
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Return the columns, in order.
    fn values(&self) -> Vec<Column> {
        let columns = self.0.columns.iter();
        columns
            .map(|(_, column)| Column(Arc::clone(column)))
            .collect()
    }

    /// Return pairs of names and columns, in order.
    fn items(&self) -> Vec<(String, Column)> {
        self.keys().into_iter().zip(self.values()).collect()
    }

    /// Return a column by name, or `default` if there is no such column.
    #[pyo3(signature = (name, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.column(name) {
            Some(column) => {
                let column = Bound::new(py, Column(Arc::clone(column)))?;
                Ok(Some(column.into_any()))
            }
            None => Ok(default),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled(
            "a table",
            "send what `arrow()` or `polars()` gives",
        ))
    }

    /// Return a row as a dictionary, with `None` for missing values.
    ///
    /// Rows are numbered from 0. Raises `IndexError` if there is no such row.
    fn row<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        for (name, column) in &self.0.columns {
            row.set_item(
                name,
                Column(Arc::clone(column))
                    .into_pyobject(py)?
                    .get_item(index)?,
            )?;
        }
        Ok(row)
    }

    /// Raise `TypeError`: a table is not a single array. Use `numpy()`, which returns one per
    /// column.
    #[pyo3(signature = (*_arguments, **_options))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a table is not a single array: `table.numpy()` has an array for each column, and `table.pandas()` or `pandas.DataFrame.from_arrow(table)` a data frame of pandas, which itself takes only dictionaries and arrays",
        ))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        drop(requested_schema);
        arrow::stream(py, &self.0)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::schema_of(py, &self.0)
    }

    /// Return a dictionary of NumPy arrays, one per column.
    ///
    /// Numbers share the table's memory, in a masked array if some are missing. Texts are copied
    /// into object arrays.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let numpy = module(py, "numpy")?;
        let arrays = PyDict::new(py);
        for (name, column) in &self.0.columns {
            let own = Bound::new(py, Column(Arc::clone(column)))?;
            let array = match (column.numbers(), &column.valid) {
                (Some(_), None) => numpy.call_method1("asarray", (own,))?,
                (Some(_), Some(_)) => {
                    let values = numpy.call_method1("asarray", (own.getattr("values")?,))?;
                    let missing = numpy.call_method1("asarray", (own.getattr("missing")?,))?;
                    let missing = missing.call_method1("astype", ("bool",))?;
                    let options = PyDict::new(py);
                    options.set_item("mask", missing)?;
                    options.set_item("copy", false)?;
                    let masked = numpy.getattr("ma")?;
                    masked.call_method("MaskedArray", (values,), Some(&options))?
                }
                (None, _) => {
                    let list = PyList::empty(py);
                    for at in 0..column.len {
                        list.append(column.get(py, at)?)?;
                    }
                    numpy.call_method1("array", (list, "object"))?
                }
            };
            arrays.set_item(name, array)?;
        }
        Ok(arrays)
    }

    /// Return a pandas data frame.
    ///
    /// Numeric columns without missing values share the table's memory; missing numbers are `NA`.
    fn pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pandas = module(py, "pandas")?;
        let series = PyDict::new(py);
        let options = PyDict::new(py);
        options.set_item("copy", false)?;
        for (name, array) in self.numpy(py)? {
            let own = match self.column(&name.to_string()) {
                Some(column) if column.numbers().is_some() && column.valid.is_some() => {
                    let arrays = pandas.getattr("arrays")?;
                    let parts = (array.getattr("data")?, array.getattr("mask")?);
                    let kind = match column.values {
                        Values::F64(_) => "FloatingArray",
                        _ => "IntegerArray",
                    };
                    arrays.call_method1(kind, parts)?
                }
                _ => array,
            };
            series.set_item(name, pandas.call_method("Series", (own,), Some(&options))?)?;
        }
        pandas.call_method("DataFrame", (series,), Some(&options))
    }

    /// Return a polars data frame. Numbers share the table's memory.
    fn polars(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        module(slf.py(), "polars")?.call_method1("DataFrame", (slf,))
    }

    /// Return a pyarrow table. All columns share the table's memory.
    fn arrow(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        module(slf.py(), "pyarrow")?.call_method1("table", (slf,))
    }

    fn __repr__(&self) -> String {
        let names = self.keys().join(", ");
        format!("<npsim.Table of {} rows: {names}>", self.0.rows)
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let heads = self.0.columns.iter();
        let heads = heads.map(|(name, _)| format!("<th>{}</th>", escaped(name)));
        let heads: String = heads.collect();
        let (rows, width) = (self.0.rows, self.0.columns.len() + 1);
        let mut body = Vec::new();
        let mut before = 0;
        for at in (0..rows).filter(|&at| at < SHOWN || at + SHOWN >= rows) {
            if at > before {
                body.push(format!("<tr><td colspan=\"{width}\">&hellip;</td></tr>"));
            }
            before = at + 1;
            let cells = self.0.columns.iter().map(|(_, column)| {
                let value = column.get(py, at)?;
                let value = value.bind(py);
                let text = if value.is_none() {
                    String::new()
                } else {
                    value.str()?.to_string()
                };
                Ok(format!("<td>{}</td>", escaped(&text)))
            });
            let cells: String = cells.collect::<PyResult<_>>()?;
            body.push(format!("<tr><th>{at}</th>{cells}</tr>"));
        }
        let body = body.concat();
        Ok(format!(
            "<table><thead><tr><th></th>{heads}</tr></thead><tbody>{body}</tbody></table><p>{rows} rows</p>"
        ))
    }
}

/// Imports a module that npsim does not depend on but the user may have.
fn module<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    PyModule::import(py, name).map_err(|error| {
        if error.is_instance_of::<PyModuleNotFoundError>(py) {
            PyModuleNotFoundError::new_err(format!("{name} is not installed: `pip install {name}`"))
        } else {
            error
        }
    })
}

/// Escapes a text for HTML.
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
