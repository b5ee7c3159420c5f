//! The exceptions: npsim's own messages, as the command prints them.

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
    "A mistake in what was given: a project, a source, a capture, a value. The text is that of the command, with place, cause and remedy."
);
create_exception!(
    npsim,
    Fault,
    Error,
    "A check stopped a run, or the microcode did what no chip could do. `run` has the results until then, where there are any."
);
create_exception!(
    npsim,
    InternalError,
    PyRuntimeError,
    "A defect of npsim itself."
);

/// A mistake as an exception.
pub fn problem(problem: &Problem) -> PyErr {
    Error::new_err(plain(&render_problem(problem)))
}

/// All mistakes as one exception.
pub fn problems(Problems(all): &Problems) -> PyErr {
    let all: Vec<_> = { all.iter() }
        .map(|it| {
            // A message of the assembler is whole already.
            if it.message.contains('\n') {
                it.message.trim_end().to_owned()
            } else {
                plain(&render_problem(it))
            }
        })
        .collect();
    Error::new_err(all.join("\n"))
}

/// A mistake that needs no more than a line, and a remedy.
pub fn mistake(message: impl Into<String>, help: &str) -> PyErr {
    let mistake = Problem::new(message);
    problem(&if help.is_empty() {
        mistake
    } else {
        mistake.help(help)
    })
}

/// A text without the styles of a terminal.
pub fn plain(text: &str) -> String {
    Problem::new(text).message.trim_end().to_owned()
}

/// A fault with the results until then.
pub fn fault_of<T>(py: Python<'_>, text: String, run: T) -> PyResult<PyErr>
where
    T: PyClass + Into<PyClassInitializer<T>>,
{
    let fault = Fault::new_err(text);
    fault.value(py).setattr("run", Py::new(py, run)?)?;
    Ok(fault)
}

/// Why an object does not go to another process, and what does.
pub fn not_pickled(what: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} is not pickled: {instead} instead"))
}

/// The exceptions of the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    let fault = py.get_type::<Fault>();
    // Its `run` does not go to another process, and the rest of it does.
    fault.setattr(
        "__reduce__",
        py.eval(c"lambda self: (type(self), self.args)", None, None)?,
    )?;
    module.add("Fault", fault)?;
    module.add("InternalError", py.get_type::<InternalError>())
}
