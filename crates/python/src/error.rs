//! The exceptions, with npsim's messages as the command prints them.

use npsim::diagnostics::render_problem;
use npsim::problem::{Problem, Problems};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyClass, PyErr};

create_exception!(
    npsim,
    Error,
    PyValueError,
    "An error in the input: a project, a source, a capture or a value. The text is what the command prints, with place, cause and remedy."
);
create_exception!(
    npsim,
    Fault,
    Error,
    "A check stopped a run, or the microcode did something that no chip could do. `run` holds the results up to that point, if there are any."
);
create_exception!(
    npsim,
    InternalError,
    PyRuntimeError,
    "A bug in npsim itself."
);

/// Converts a problem to an exception.
pub fn problem(problem: &Problem) -> PyErr {
    Error::new_err(plain(&render_problem(problem)))
}

/// Converts several problems to one exception.
pub fn problems(Problems(all): &Problems) -> PyErr {
    let all: Vec<_> = { all.iter() }
        .map(|it| {
            // Messages of the assembler are already formatted.
            if it.message.contains('\n') {
                it.message.trim_end().to_owned()
            } else {
                plain(&render_problem(it))
            }
        })
        .collect();
    Error::new_err(all.join("\n"))
}

/// Creates an exception with a one-line message and a remedy.
pub fn mistake(message: impl Into<String>, help: &str) -> PyErr {
    let mistake = Problem::new(message);
    problem(&if help.is_empty() {
        mistake
    } else {
        mistake.help(help)
    })
}

/// Removes terminal styles from a text.
pub fn plain(text: &str) -> String {
    Problem::new(text).message.trim_end().to_owned()
}

/// Creates a fault with the results up to it.
pub fn fault_of<T>(py: Python<'_>, text: String, run: T) -> PyResult<PyErr>
where
    T: PyClass + Into<PyClassInitializer<T>>,
{
    let fault = Fault::new_err(text);
    fault.value(py).setattr("run", Py::new(py, run)?)?;
    Ok(fault)
}

/// Creates the exception for an object that cannot be pickled, naming what can
/// be sent instead.
pub fn not_pickled(what: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} is not pickled: {instead} instead"))
}

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    let fault = py.get_type::<Fault>();
    // Its `run` is not pickled; the rest is.
    fault.setattr(
        "__reduce__",
        py.eval(c"lambda self: (type(self), self.args)", None, None)?,
    )?;
    module.add("Fault", fault)?;
    module.add("InternalError", py.get_type::<InternalError>())
}
