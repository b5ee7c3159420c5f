//! Python classes as kinds of tasks and devices in a project.

use std::sync::Arc;

use npsim::project::Registry;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::device::PythonDevice;
use crate::kind_name::KindName;
use crate::packet_task::PacketTaskKind;
use crate::timer_task::TimerTask;

/// Returns the library's registry extended by these classes. Tasks have `takes` and `answer`, or
/// `step`; devices have `longwords` and `answer`.
pub fn registry(
    tasks: Option<&Bound<'_, PyAny>>,
    devices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Registry> {
    let mut registry = npsim::registry();
    for class in classes(tasks)? {
        let name = name(&class, &registry)?;
        let own = Arc::new(class.clone().unbind());
        if class.hasattr("answer")? && class.hasattr("takes")? {
            let kind = PacketTaskKind { name, class: own };
            registry = registry.with_task_named(name.0, kind);
        } else if class.hasattr("step")? {
            registry =
                registry.with_timer_job_named(name.0, move |keys| TimerTask::of(name, &own, keys));
        } else {
            return Err(PyTypeError::new_err(format!(
                "the task `{}` has neither `takes` and `answer`, for packets, nor `step`, for a timer",
                name.0
            )));
        }
    }
    for class in classes(devices)? {
        let name = name(&class, &registry)?;
        let own = Arc::new(class.clone().unbind());
        class.getattr("answer")?;
        registry =
            registry.with_look_aside_named(name.0, move |keys| PythonDevice::of(name, &own, keys));
    }
    Ok(registry)
}

/// The classes in a list.
fn classes<'py>(list: Option<&Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match list {
        Some(list) => list.try_iter()?.collect(),
        None => Ok(Vec::new()),
    }
}

/// The name of the section of a class.
fn name(class: &Bound<'_, PyAny>, known: &Registry) -> PyResult<KindName> {
    let name = class.getattr("name").map_err(|_| {
        PyTypeError::new_err(format!(
            "{class} has no `name`, which its section in the project has"
        ))
    })?;
    let name = name.cast::<PyString>()?.to_string();
    let is_good = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    if name.is_empty() || !name.chars().all(is_good) {
        return Err(PyTypeError::new_err(format!(
            "`{name}` is not a valid name of a kind: use small letters, digits and `-`"
        )));
    }
    if known.tasks().chain(known.devices()).any(|it| it == name) {
        let message = format!("there is a kind of the name `{name}` already");
        return Err(PyTypeError::new_err(message));
    }
    Ok(KindName::new(&name))
}
