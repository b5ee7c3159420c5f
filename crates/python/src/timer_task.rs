//! Python tasks of the core that work on a table, driven by a timer.

use npsim::chip::kernel::row::Row;
use npsim::project::timer_job::{AfterAccess, KeyMistake, TableAccess, TimerJob};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::instance::Instance;
use crate::keys::{Keys, without_class};
use crate::kind_name::KindName;

/// Maximum number of longwords per access.
const MAX_LONGWORDS: usize = 8;

/// A read access of a timer task: `count` longwords, 1 to 8, from a byte offset in its table.
///
/// Raises `ValueError` if the offset is not a multiple of four or the count is out of range.
#[pyclass(frozen, get_all, module = "npsim")]
pub struct Read {
    /// Bytes from the beginning of the table.
    offset: u32,
    /// The number of longwords.
    count: usize,
}

#[pymethods]
impl Read {
    #[new]
    #[pyo3(signature = (offset, count = 1))]
    fn new(offset: u32, count: usize) -> PyResult<Self> {
        checked(offset, count)?;
        Ok(Self { offset, count })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (u32, usize))> {
        let class = py.import("npsim")?.getattr("Read")?;
        Ok((class, (self.offset, self.count)))
    }
}

/// A write access of a timer task: 1 to 8 longwords, to a byte offset in its table.
///
/// Raises `ValueError` if the offset is not a multiple of four or the number of words is out of
/// range.
#[pyclass(frozen, get_all, module = "npsim")]
pub struct Write {
    /// Bytes from the beginning of the table.
    offset: u32,
    /// The longwords to write.
    words: Vec<u32>,
}

#[pymethods]
impl Write {
    #[new]
    fn new(offset: u32, words: Vec<u32>) -> PyResult<Self> {
        checked(offset, words.len())?;
        Ok(Self { offset, words })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (u32, Vec<u32>))> {
        let class = py.import("npsim")?.getattr("Write")?;
        Ok((class, (self.offset, self.words.clone())))
    }
}

fn checked(offset: u32, count: usize) -> PyResult<()> {
    if !offset.is_multiple_of(4) {
        let message = format!("an access at byte {offset} is not of longwords");
        return Err(PyValueError::new_err(message));
    }
    if !(1..=MAX_LONGWORDS).contains(&count) {
        return Err(PyValueError::new_err(format!(
            "an access of {count} longwords is not possible: one has 1 to {MAX_LONGWORDS}"
        )));
    }
    Ok(())
}

/// A job implemented in Python.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimerTask {
    name: KindName,
    instance: Instance,
    bytes: u32,
    jobs: u64,
    /// The longwords read by the previous access.
    read: Option<Vec<u32>>,
}

impl TimerTask {
    /// Creates the job of a section.
    pub fn of(name: KindName, class: &Py<PyAny>, keys: &Keys) -> Result<Self, KeyMistake> {
        let (instance, bytes) = Instance::sized(("task", name), class, keys, "bytes")?;
        Ok(Self {
            name,
            instance,
            bytes,
            jobs: 0,
            read: None,
        })
    }

    /// The next access that Python requests; `None` if the job is done.
    fn next(&mut self) -> Option<NextAccess> {
        let (read, bytes) = (self.read.take(), self.bytes);
        let next = self.instance.call("step", |step| {
            let next = step.call1((read,))?;
            if next.is_none() {
                return Ok(None);
            }
            let (access, offset, count) = if let Ok(read) = next.cast::<Read>() {
                let Read { offset, count } = *read.get();
                (NextAccess::Read(offset, count), offset, count)
            } else if let Ok(write) = next.cast::<Write>() {
                let Write { offset, words } = write.get();
                let count = words.len();
                (NextAccess::Write(*offset, words.clone()), *offset, count)
            } else {
                let kind = next.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "`step` gives a {kind}; give npsim.Read, npsim.Write, or None when the job is done"
                )));
            };
            if u64::from(offset) + 4 * count as u64 > u64::from(bytes) {
                return Err(PyValueError::new_err(format!(
                    "an access of {count} longwords at byte {offset} leaves the table, which has {bytes} bytes"
                )));
            }
            Ok(Some(access))
        });
        next.flatten()
    }
}

enum NextAccess {
    Read(u32, usize),
    Write(u32, Vec<u32>),
}

impl TimerJob for TimerTask {
    const NAME: &'static str = "python";
    type Keys = Keys;

    fn name(&self) -> &'static str {
        self.name.0
    }

    fn new(_: &Keys) -> Result<Self, KeyMistake> {
        Err(without_class())
    }

    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn access(&mut self, _: u32, table: &mut TableAccess<'_, '_>) -> (&'static str, AfterAccess) {
        match self.next() {
            None => {
                self.jobs += 1;
                ("the job is done", AfterAccess::Done)
            }
            Some(NextAccess::Read(offset, count)) => {
                self.read = Some(table.read_words(offset, count));
                ("read the table", AfterAccess::More)
            }
            Some(NextAccess::Write(offset, words)) => {
                table.write(offset, &words);
                ("write the table", AfterAccess::More)
            }
        }
    }

    fn counts(&self) -> Row {
        Row::default().with("jobs", self.jobs)
    }
}
