//! Python objects that are part of a chip: created with it, copied with it and saved with it.

use npsim::project::keys::Spanned;
use npsim::project::look_aside::KeyMistake;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::detached::raise;
use crate::keys::{self, Keys};
use crate::kind_name::KindName;

/// An object of a user's class, with the keys of its section.
#[derive(Debug)]
pub struct Instance {
    class: Option<Py<PyAny>>,
    keys: String,
    /// The object; `None` before its first use, and in a copy that failed.
    object: Option<Py<PyAny>>,
}

impl Instance {
    /// Creates an instance whose object is made when it is first used. `keys` are JSON.
    pub fn new(class: Py<PyAny>, keys: String) -> Self {
        Self {
            class: Some(class),
            keys,
            object: None,
        }
    }

    /// Creates an instance from the keys of a section, and reads a number from an attribute of its
    /// object. `kind` describes it in messages.
    pub fn sized(
        (kind, name): (&str, KindName),
        class: &Py<PyAny>,
        keys: &Keys,
        attribute: &str,
    ) -> Result<(Self, u32), KeyMistake> {
        let class = Python::attach(|py| class.clone_ref(py));
        let mut made = Self::new(class, keys::as_json(keys));
        let number = made.call(attribute, |number| number.extract::<u32>());
        let number = number.ok_or_else(|| {
            let message = format!("the {kind} `{}` could not be made", name.0);
            KeyMistake::new(&Spanned::new(0..0, ()), message, "")
        })?;
        Ok((made, number))
    }

    /// Returns the object, made from its class if there is none yet.
    pub fn object<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(object) = &self.object {
            return Ok(object.bind(py).clone());
        }
        let class = self.class.as_ref().ok_or_else(|| {
            PyTypeError::new_err("a task or device of Python's could not be copied")
        })?;
        let keys = py.import("json")?.call_method1("loads", (&self.keys,))?;
        let object = class.bind(py).call1((keys,))?;
        self.object = Some(object.clone().unbind());
        Ok(object)
    }

    /// Calls a method. `None` if it raises: the exception ends the run and is raised by it.
    pub fn call<T>(
        &mut self,
        method: &str,
        call: impl FnOnce(Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        Python::attach(|py| {
            let called = self.object(py).and_then(|it| call(it.getattr(method)?));
            called.map_err(|raised| raise(py, raised)).ok()
        })
    }
}

impl Clone for Instance {
    /// Copies it by `copy.deepcopy`. If that fails, the exception is raised by the call that needed the
    /// copy.
    fn clone(&self) -> Self {
        let copied = self.object.as_ref().map(|object| {
            Python::attach(|py| {
                let copy = py.import("copy")?.getattr("deepcopy")?;
                copy.call1((object,)).map(Bound::unbind)
            })
        });
        let class = self.class.as_ref();
        let class = class.map(|class| Python::attach(|py| class.clone_ref(py)));
        let (class, object) = match copied {
            None => (class, None),
            Some(Ok(object)) => (class, Some(object)),
            Some(Err(raised)) => {
                Python::attach(|py| raise(py, not_saved(py, &raised)));
                (None, None)
            }
        };
        Self {
            class,
            keys: self.keys.clone(),
            object,
        }
    }
}

/// The exception for a task or device whose state cannot be copied or saved.
fn not_saved(py: Python<'_>, why: &PyErr) -> PyErr {
    let refused = PyTypeError::new_err(format!(
        "a task or device of Python's cannot be copied or saved, which snapshots, steps back and checkpoints need: {why}"
    ));
    refused.set_cause(py, Some(why.clone_ref(py)));
    refused
}

impl Serialize for Instance {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let pickled = Python::attach(|py| {
            let content = (&self.class, &self.keys, &self.object);
            let dumped = py
                .import("pickle")
                .and_then(|pickle| pickle.call_method1("dumps", (content,)))
                .and_then(|bytes| Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec()));
            dumped.map_err(|raised| raise(py, not_saved(py, &raised)))
        });
        let pickled = pickled.map_err(|()| S::Error::custom("it cannot be pickled"))?;
        pickled.serialize(out)
    }
}

impl<'de> Deserialize<'de> for Instance {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let pickled = Vec::<u8>::deserialize(from)?;
        let loaded = Python::attach(|py| {
            let loaded = py
                .import("pickle")
                .and_then(|pickle| pickle.call_method1("loads", (PyBytes::new(py, &pickled),)))
                .and_then(|content| content.extract());
            loaded.map_err(|raised| raise(py, raised))
        });
        let (class, keys, object) =
            loaded.map_err(|()| D::Error::custom("it cannot be unpickled"))?;
        Ok(Self {
            class,
            keys,
            object,
        })
    }
}
