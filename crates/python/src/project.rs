//! Projects, which are assembled and run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use npsim::files::{Disk, Files as _, Overlay};
use npsim::problem::{Problem, Problems};
use npsim::project::{Overrides, Registry, Setting};
use npsim::recorded::{Recording, differences};
use npsim::system::{System, Traffic};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::detached::{StopFlag, detached};
use crate::document::{DICTIONARY_FILE, Document};
use crate::error;
use crate::kinds::registry;
use crate::pickled::{Pickled, pickled};
use crate::program::Program;
use crate::text::{is_path, pairs, read, text_of};

/// A project, read and assembled: an immutable description of a chip with its microcode.
///
/// Any number of runs can be made from it, on any threads.
#[pyclass(frozen, module = "npsim")]
pub struct Project {
    pub system: System,
    pub reading: Reading,
    /// The arguments of `load`, used to recreate it in another process.
    source: Source,
}

/// The inputs that a project is read from.
pub struct Reading {
    pub files: Arc<Overlay>,
    path: PathBuf,
    document: Option<Document>,
    overrides: Overrides,
    registry: Registry,
}

impl Reading {
    /// Reads and assembles the project; if a recording is given, for runs that replay it, with remarks
    /// about the recording.
    fn system(&self, recording: Option<&Recording>) -> Result<(System, Vec<String>), Problems> {
        let (files, path) = (self.files.as_ref(), &self.path);
        let (overrides, registry) = (&self.overrides, &self.registry);
        let read = match recording {
            Some(it) => System::load_recorded(files, path, overrides, registry, it),
            None => System::load_with(files, path, overrides, registry).map(|it| (it, Vec::new())),
        };
        read.map_err(|Problems(all)| {
            let all = all.into_iter();
            Problems(match &self.document {
                Some(document) => all.map(|it| document.relocated(it)).collect(),
                None => all.collect(),
            })
        })
    }
}

/// The arguments of `load`.
struct Source {
    target: Py<PyAny>,
    options: Py<PyDict>,
    has_python: bool,
}

/// Reads settings from a dictionary of paths of keys, as for `--set`.
pub fn settings(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Setting>> {
    let Some(set) = set else {
        return Ok(Vec::new());
    };
    let settings = set.iter().map(|(key, value)| {
        let key: String = key
            .extract()
            .map_err(|_| PyTypeError::new_err("a key of `set` is not a text"))?;
        let text = text_of(&format!("set[{key:?}]"), &value)?;
        format!("{key}={text}")
            .parse()
            .map_err(|error: String| error::mistake(error, ""))
    });
    settings.collect()
}

/// Read a project and assemble it.
///
/// `target` is a project file, the folder of an `npsim.toml`, one `.uc`, assembled firmware, or a
/// dictionary with the keys of a project file. `files` maps paths to source texts that replace
/// files or are not on disk; a path instead of a text names the file that contains it. All paths
/// are relative to `base`. `set` maps key paths to values (`{"me.forward.id": "0-3",
/// "profile.sram.read": 120}`), like the command's `--set`. `define`, `imports`, `include`, `me`,
/// `chip` and `board` correspond to `-D`, `--import`, `-I`, `--me`, `--chip` and `--board` of the
/// command.
///
/// `tasks` are classes for tasks of the core, and `devices` are classes for devices beside SRAM.
/// Each class has a `name`, the name of its section (`[gpp.NAME]`, `[NAME]`), and is called with
/// the keys of that section as a dictionary. A task with `takes(packet)` and
/// `answer(packet, frame)` answers packets of the slow path: `answer` returns an IPv4 datagram,
/// which leaves by the routing table, or `None`. A task with `bytes` and `step(words)` works on a
/// table, driven by a timer: `step` receives the words that were read, and returns `npsim.Read`,
/// `npsim.Write`, or `None` when the job is done. A device has `longwords` and
/// `answer(table, question)`, which returns a longword and the number of cycles that the answer
/// takes. The objects are copied and pickled with the chip.
///
/// Raises `npsim.Error` with all mistakes, as the command prints them; a mistake in a dictionary is
/// located by its key path.
#[pyfunction]
#[pyo3(signature = (target, *, set = None, define = None, imports = None, include = None, me = None, chip = None, board = None, files = None, base = None, tasks = None, devices = None))]
pub fn load(
    py: Python<'_>,
    target: Bound<'_, PyAny>,
    set: Option<Bound<'_, PyDict>>,
    define: Option<Bound<'_, PyDict>>,
    imports: Option<Bound<'_, PyDict>>,
    include: Option<Vec<PathBuf>>,
    me: Option<Bound<'_, PyAny>>,
    chip: Option<Bound<'_, PyAny>>,
    board: Option<Bound<'_, PyAny>>,
    files: Option<Bound<'_, PyDict>>,
    base: Option<PathBuf>,
    tasks: Option<Bound<'_, PyAny>>,
    devices: Option<Bound<'_, PyAny>>,
) -> PyResult<Project> {
    let options = PyDict::new(py);
    let note = |name: &str, value: Bound<'_, PyAny>| options.set_item(name, value);
    if let Some(set) = &set {
        note("set", set.as_any().clone())?;
    }
    if let Some(define) = &define {
        note("define", define.as_any().clone())?;
    }
    if let Some(imports) = &imports {
        note("imports", imports.as_any().clone())?;
    }
    if let Some(include) = &include {
        note("include", include.clone().into_pyobject(py)?.into_any())?;
    }
    if let Some(me) = &me {
        note("me", me.clone())?;
    }
    if let Some(chip) = &chip {
        note("chip", chip.clone())?;
    }
    if let Some(board) = &board {
        note("board", board.clone())?;
    }
    if let Some(files) = &files {
        note("files", files.as_any().clone())?;
    }
    if let Some(base) = &base {
        note("base", base.into_pyobject(py)?.into_any())?;
    }
    if let Some(tasks) = &tasks {
        note("tasks", tasks.clone())?;
    }
    if let Some(devices) = &devices {
        note("devices", devices.clone())?;
    }
    let imported = imports
        .iter()
        .flat_map(PyDictMethods::iter)
        .map(|(key, value)| {
            let key = text_of("imports", &key)?;
            let value: u32 = value.extract()?;
            Ok((key, value))
        });
    let overrides = Overrides {
        set: settings(set.as_ref())?,
        defines: pairs("define", define.as_ref())?,
        imports: imported.collect::<PyResult<_>>()?,
        include: include.unwrap_or_default(),
        ids: me.map(|me| text_of("me", &me)).transpose()?,
        chip: chip.map(|chip| text_of("chip", &chip)).transpose()?,
        board: board.map(|board| text_of("board", &board)).transpose()?,
        ..Overrides::default()
    };
    let base = base.unwrap_or_default();
    let mut overlay = Overlay::default();
    for (path, text) in files.iter().flat_map(PyDictMethods::iter) {
        let path = text_of("files", &path)?;
        let own = text_of(&format!("files[{path:?}]"), &text)?;
        let text = if is_path(&text)? {
            file_text(&base.join(own))?
        } else {
            own
        };
        overlay.insert(&base.join(path), text);
    }
    let (path, document) = match target.cast::<PyDict>() {
        Ok(keys) => {
            let document = Document::of(keys)?;
            let path = base.join(DICTIONARY_FILE);
            overlay.insert(&path, document.text());
            (path, Some(document))
        }
        Err(_) => (base.join(read_path(&target)?), None),
    };
    let reading = Reading {
        files: Arc::new(overlay),
        path,
        document,
        overrides,
        registry: registry(tasks.as_ref(), devices.as_ref())?,
    };
    let read = detached(py, &StopFlag::default(), || reading.system(None))?;
    let (system, _) = read.map_err(|it| error::problems(&it))?;
    if system.programs().is_empty() {
        let message = "there is nothing to run: no instruction was assembled";
        let help = "run a program that includes the macros";
        return Err(error::mistake(message, help));
    }
    Ok(Project {
        system,
        reading,
        source: Source {
            target: target.unbind(),
            options: options.unbind(),
            has_python: tasks.is_some() || devices.is_some(),
        },
    })
}

impl Project {
    /// Returns the system that runs with this traffic, with remarks: the project's own, or one read for
    /// a recording if the traffic is one.
    pub fn system_for(
        &self,
        traffic: &Traffic,
        seed: Option<u64>,
    ) -> Result<(System, Vec<String>), Problems> {
        let recording = match traffic {
            Traffic::Capture(capture) => Recording::of(capture)?,
            _ => None,
        };
        let Some(recording) = recording else {
            return Ok((self.system.clone(), Vec::new()));
        };
        let (system, mut remarks) = self.reading.system(Some(&recording))?;
        remarks.extend(differences(recording.survey(), &self.reading.path, seed));
        Ok((system, remarks))
    }

    /// Whether Python classes are part of the chip.
    pub fn has_python(&self) -> bool {
        self.source.has_python
    }
}

/// Reads the text of a file.
fn file_text(path: &Path) -> PyResult<String> {
    let bytes = Disk.read(path);
    let bytes = bytes.map_err(|it| error::problem(&Problem::io("read", path, &it)))?;
    String::from_utf8(bytes)
        .map_err(|_| error::mistake(format!("`{}` is not a text", path.display()), ""))
}

pub fn read_path(target: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    target.extract().map_err(|_| {
        let kind = target
            .get_type()
            .name()
            .map_or_else(|_| String::new(), |it| it.to_string());
        PyTypeError::new_err(format!("`target` is a {kind}, not a path or a dictionary"))
    })
}

#[pymethods]
impl Project {
    /// The name of the project.
    #[getter]
    fn name(&self) -> &str {
        &self.system.project().name
    }

    /// The clock frequency of the microengines, in Hz. All cycles are those of this clock.
    #[getter]
    fn hertz(&self) -> u64 {
        self.system.project().capacity.hertz
    }

    /// The line rate of each port, in bits per second.
    #[getter]
    fn ports(&self) -> Vec<u64> {
        let ports = self.system.project().boot.ports.iter();
        ports.map(|port| port.bits_per_second).collect()
    }

    /// The programs, one for each microengine that runs.
    #[getter]
    fn programs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let programs = self.system.programs().iter().map(|program| {
            let source = program.source.display().to_string();
            Program::new(program.image.clone(), vec![program.me], source)
        });
        PyList::new(
            py,
            programs
                .map(|it| Py::new(py, it))
                .collect::<PyResult<Vec<_>>>()?,
        )
    }

    /// The assembler's warnings and notes, as the command prints them.
    #[getter]
    fn messages(&self) -> Vec<String> {
        let all = self.system.messages().rendered.iter();
        all.map(|text| error::plain(text)).collect()
    }

    /// Describe everything that a run assumes: memory map, names, defaults.
    fn explain(&self) -> String {
        self.system.project().explain()
    }

    /// Return the value of a name that the project defines for its microcode, such as the byte
    /// address of a region; `None` if it does not define the name.
    fn define(&self, name: &str) -> Option<u32> {
        self.system.define(name)
    }

    fn __repr__(&self) -> String {
        let count = self.system.programs().len();
        format!("<npsim.Project {}: {count} microengines>", self.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let Source {
            target, options, ..
        } = &self.source;
        pickled(py, "load", target, options)
    }
}

/// The bytes of a frame, given as `bytes` or as an object that converts to them (a scapy packet).
pub fn frame_bytes(frame: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = frame.extract::<Vec<u8>>() {
        return Ok(bytes);
    }
    let made = frame.call_method0("__bytes__").map_err(|_| {
        PyTypeError::new_err(
            "a frame is bytes, or an object that has them, such as a packet of scapy",
        )
    })?;
    Ok(made.cast_into::<PyBytes>()?.as_bytes().to_vec())
}

/// Reads a time, given as a text with a unit (`"2ms"`) or a number of cycles.
pub fn time(name: &str, value: &Bound<'_, PyAny>) -> PyResult<npsim::quantity::Time> {
    read(name, value)
}
