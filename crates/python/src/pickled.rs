//! Pickling of objects read from files or dictionaries: their arguments are sent to the other
//! process, and they are created again there.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The recreating function, with the name of the function that it calls and the arguments for
/// it.
pub type Pickled<'py> = (Bound<'py, PyAny>, (&'static str, Py<PyAny>, Py<PyDict>));

/// Pickles an object that a function of the package made from a target and options.
pub fn pickled<'py>(
    py: Python<'py>,
    function: &'static str,
    target: &Py<PyAny>,
    options: &Py<PyDict>,
) -> PyResult<Pickled<'py>> {
    let again = py.import("npsim")?.getattr("_again")?;
    let arguments = (function, target.clone_ref(py), options.clone_ref(py));
    Ok((again, arguments))
}

/// Recreate an object sent from another process.
#[pyfunction]
#[pyo3(name = "_again")]
pub fn again<'py>(
    py: Python<'py>,
    function: &str,
    target: Bound<'py, PyAny>,
    options: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let function = py.import("npsim")?.getattr(function)?;
    function.call((target,), Some(&options))
}
