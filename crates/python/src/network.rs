//! Networks of hosts, links and routers.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use npsim::assemble::assemble_project;
use npsim::network::{NoTap, Simulation, Stopped};
use npsim::network_file::chips::systems;
use npsim::network_file::file::NetworkFile;
use npsim::network_file::results::Results;
use npsim::network_file::run_progress::NetworkProgress;
use npsim::network_file::series::Sampler;
use npsim::problem::{Problem, Problems};
use npsim::project::Setting;
use npsim::quantity::Time;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::column_data::Values;
use crate::detached::StopFlag;
use crate::document::{DICTIONARY_FILE, Document};
use crate::error::{self, fault_of, mistake, not_pickled};
use crate::pickled::{Pickled, pickled};
use crate::progress::{RunTally, run_reporting_progress};
use crate::project::{self, settings};
use crate::table::Table;
use crate::table_data::{TableBuilder, TableData};

/// A network of reactive hosts, links, queues and routers, read from a file or a dictionary.
#[pyclass(frozen, module = "npsim")]
pub struct Network {
    path: PathBuf,
    document: Option<Document>,
    settings: Vec<Setting>,
    /// The arguments of `network`, used to recreate it in another process.
    source: (Py<PyAny>, Option<Py<PyDict>>, PathBuf),
}

/// Read a network.
///
/// `target` is a network file, or a dictionary with the keys of one; the paths in a dictionary are
/// relative to `base`. `set` maps key paths to values, like the command's `--set`.
///
/// Raises `npsim.Error` with the first mistake; a mistake in a dictionary is located by its key
/// path.
#[pyfunction]
#[pyo3(signature = (target, *, set = None, base = None))]
pub fn network(
    target: Bound<'_, PyAny>,
    set: Option<Bound<'_, PyDict>>,
    base: Option<PathBuf>,
) -> PyResult<Network> {
    let base = base.unwrap_or_default();
    let (path, document) = match target.cast::<PyDict>() {
        Ok(keys) => (base.join(DICTIONARY_FILE), Some(Document::of(keys)?)),
        Err(_) => (base.join(project::read_path(&target)?), None),
    };
    let network = Network {
        path,
        document,
        settings: settings(set.as_ref())?,
        source: (target.unbind(), set.map(Bound::unbind), base),
    };
    network.file()?;
    Ok(network)
}

impl Network {
    fn file(&self) -> PyResult<NetworkFile> {
        let read = match &self.document {
            Some(document) => {
                let path = self.path.display().to_string();
                NetworkFile::parse_with(&path, document.text(), &self.settings)
                    .map_err(|it| document.relocated(it))
            }
            None => NetworkFile::load(&self.path, &self.settings),
        };
        let file = read.map_err(|it| error::problem(&it))?;
        file.refuse_interfaces().map_err(|it| error::problem(&it))?;
        Ok(file)
    }
}

/// Picoseconds per second.
const SECOND: u64 = 1_000_000_000_000;

/// Reads a time of a network in picoseconds.
fn picoseconds(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    match project::time(name, value)? {
        Time::Picoseconds(time) if time > 0 => Ok(time),
        _ => Err(mistake(
            format!("`{name}` is not a time of a network"),
            "write a text with a unit, such as \"60s\"",
        )),
    }
}

/// The results of a network's run.
struct NetworkResults {
    json: String,
    series: Option<TableData>,
    fault: Option<String>,
}

#[pymethods]
impl Network {
    /// The name of the network.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.file()?.name)
    }

    /// Run the network to the end given in its file or to `until`, and return the results.
    ///
    /// `until` is a string with a unit, such as "60s". `seed` replaces the seed of the file. Up to
    /// `threads` routers that are chips run at a time; the results do not depend on the number.
    /// With `sample_every`, a time such as "100ms", windows, rates and queues are sampled at this
    /// interval.
    ///
    /// `progress` is a callable that receives a `Progress` while the run continues. By default, a
    /// terminal or notebook shows a progress line after half a second; `True` shows it anywhere,
    /// and `False` nowhere.
    ///
    /// Raises `npsim.Fault` if the microcode of a router fails. `KeyboardInterrupt` ends the run
    /// within a second.
    #[pyo3(signature = (*, until = None, seed = None, threads = 1, sample_every = None, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        until: Option<Bound<'_, PyAny>>,
        seed: Option<u64>,
        threads: usize,
        sample_every: Option<Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<NetworkRun> {
        let mut file = self.file()?;
        if let Some(until) = until {
            file.until = (picoseconds("until", &until)? / file.scale).max(1);
            if file.until <= file.from {
                return Err(mistake(
                    "`until` lies before the file's `from`: nothing would be measured",
                    "",
                ));
            }
        }
        if let Some(seed) = seed {
            file.reseed(seed);
        }
        let every = sample_every.map(|it| picoseconds("sample_every", &it));
        let every = every.transpose()?.map(|it| (it / file.scale).max(1));
        let stop = StopFlag::default();
        let tally = RunTally::new();
        // In times of the file, independent of its scale.
        tally.ends(Some(file.until), SECOND as f64 / file.scale as f64);
        let done = run_reporting_progress(py, (progress, &stop), &tally, || {
            simulate(&file, threads.max(1), every, (&stop, &tally))
        })?;
        let done = done.map_err(|it| error::problems(&it))?;
        let run = NetworkRun {
            json: done.json,
            series: done.series.map(Arc::new),
        };
        match done.fault {
            None => Ok(run),
            Some(text) => Err(fault_of(py, text, run)?),
        }
    }

    fn __repr__(&self) -> String {
        format!("<npsim.Network {}>", self.path.display())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let (target, set, base) = &self.source;
        let options = PyDict::new(py);
        options.set_item("set", set)?;
        options.set_item("base", base)?;
        pickled(py, "network", target, &options.unbind())
    }
}

fn simulate(
    file: &NetworkFile,
    threads: usize,
    every: Option<u64>,
    (stop, tally): (&StopFlag, &RunTally),
) -> Result<NetworkResults, Problems> {
    let systems = systems(file, &npsim::registry(), &assemble_project)?;
    let packet_simulation =
        Simulation::new(file.topology.clone()).map_err(|error| Problem::new(error.to_string()))?;
    let mut network =
        npsim::network::Network::new(packet_simulation, systems)?.with_threads(threads);
    let ask = || {
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut run_progress = NetworkProgress::new(&network, every.unwrap_or(u64::MAX));
    let mut sampler = Sampler::new(file.scale);
    let mut table = every.map(|_| series());
    let mut stopped = None;
    sample(&mut sampler, &network, &mut table);
    while run_progress.now < file.until && stopped.is_none() {
        let next = run_progress.next(file, &network, every.is_some());
        stopped = network.run_to(next, &mut NoTap, &ask).err();
        tally.at(network.packet_simulation().now());
        if stopped.is_none() && run_progress.finish_step(next, file, &mut network) {
            sample(&mut sampler, &network, &mut table);
        }
        if stop.load(Ordering::Relaxed) {
            stopped = Some(Stopped::Interrupted);
        }
    }
    if stopped.is_none() {
        stopped = network.end(&mut NoTap, &ask).err();
    }
    let fault = match stopped {
        Some(Stopped::Frame(problem)) => return Err(problem.into()),
        Some(Stopped::Fault(router)) => network.fault(router).map(|(fault, system, _)| {
            error::plain(&npsim::diagnostics::render_fault(fault, &system.programs))
        }),
        Some(Stopped::Interrupted) | None => None,
    };
    let results = Results::of(file, &network, &run_progress.begin);
    let json = serde_json::to_string_pretty(&results);
    Ok(NetworkResults {
        json: json.map_err(|it| Problem::new(it.to_string()))? + "\n",
        series: table.map(TableBuilder::finish),
        fault,
    })
}

/// An empty table of samples.
fn series() -> TableBuilder {
    let texts = || Values::Text(vec![0], Vec::new());
    TableBuilder::new([
        ("seconds", Values::F64(Vec::new())),
        ("of", texts()),
        ("name", texts()),
        ("quantity", texts()),
        ("value", Values::F64(Vec::new())),
    ])
}

fn sample(
    sampler: &mut Sampler,
    network: &npsim::network::Network,
    table: &mut Option<TableBuilder>,
) {
    let Some(table) = table else {
        return;
    };
    let sampled = sampler.sample(network.packet_simulation(), &mut |sample| {
        let mut cells = table.row();
        cells.put(Some(sample.seconds));
        cells.put(Some(sample.of.name()));
        cells.put(Some(sample.name));
        cells.put(Some(sample.quantity));
        cells.put(Some(sample.value));
        Ok(())
    });
    // Writing to memory cannot fail.
    debug_assert!(sampled.is_ok());
}

/// The results of a network run.
#[pyclass(frozen, module = "npsim")]
pub struct NetworkRun {
    json: String,
    series: Option<Arc<TableData>>,
}

#[pymethods]
impl NetworkRun {
    /// All results, as in the command's results file: flows, transfers, lines, routers.
    ///
    /// A new dictionary each time. Times and rates are those of the network's file, whatever its
    /// `scale`.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.json,))
    }

    /// The results as JSON, byte for byte as the command writes them.
    #[getter]
    fn stats_json(&self) -> &str {
        &self.json
    }

    /// Windows, rates and queues over time: one row per quantity and moment.
    ///
    /// Raises `npsim.Error` unless the run had `sample_every`.
    #[getter]
    fn series(&self) -> PyResult<Table> {
        let table = self.series.as_ref().map(|table| Table(Arc::clone(table)));
        table.ok_or_else(|| {
            mistake(
                "the run was not sampled",
                "call `run` with `sample_every=\"100ms\"`",
            )
        })
    }

    fn __repr__(&self) -> String {
        "<npsim.NetworkRun>".to_owned()
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled(
            "a run",
            "send its `stats`, or its tables as Arrow's,",
        ))
    }
}
