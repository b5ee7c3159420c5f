//! Sweeps: repeated runs, each with something changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use npsim::lab::campaign::Campaign;
use npsim::lab::places::SearchPath;
use npsim::lab::points;
use npsim::lab::results::CachedPoint;
use npsim::lab::store::PointOutcome;
use npsim::lab::studies;
use npsim::lab::study::Study;
use npsim::problem::{Problem, Problems};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::column_data::{ColumnBuilder, Values};
use crate::detached::{StopFlag, attended};
use crate::document::{DICTIONARY_FILE, Document};
use crate::error;
use crate::pickled::{Pickled, again, pickled};
use crate::progress::{ProgressReporter, Tally};
use crate::project;
use crate::table::Table;
use crate::table_data::TableData;

/// A sweep or a study with its points.
struct Plan {
    study: Study,
    points: Vec<points::Point>,
    places: SearchPath,
    quick: bool,
    /// The arguments of `sweep`, used to recreate it in another process.
    target: Py<PyAny>,
    options: Py<PyDict>,
}

/// A sweep: the points at which a system runs, and the metrics measured at each.
#[pyclass(frozen, module = "npsim")]
pub struct Sweep(Arc<Plan>);

/// A point of a sweep: one run.
///
/// A point can be sent to another process or machine, where `run` returns the same outcome.
#[pyclass(frozen, module = "npsim")]
pub struct Point {
    plan: Arc<Plan>,
    index: usize,
}

/// Read a sweep.
///
/// `target` is a sweep file, the name of a shipped study (`"zhang"`), or a dictionary with the keys
/// of a sweep file. Systems are searched for in the file's folder and then in `root` or, without
/// it, in the current folder and its ancestors. `quick` selects the fewer points and shorter
/// windows that the file defines for a quick run. Raises `npsim.Error` if the sweep cannot be read.
#[pyfunction]
#[pyo3(signature = (target, *, quick = false, root = None))]
pub fn sweep(
    py: Python<'_>,
    target: Bound<'_, PyAny>,
    quick: bool,
    root: Option<PathBuf>,
) -> PyResult<Sweep> {
    let options = PyDict::new(py);
    options.set_item("quick", quick)?;
    options.set_item("root", &root)?;
    let (study, path) = if let Ok(keys) = target.cast::<PyDict>() {
        let document = Document::of(keys)?;
        let study = Study::parse(DICTIONARY_FILE, document.text());
        (study.map_err(|it| document.relocated(it)), None)
    } else {
        let path = project::read_path(&target)?;
        (studies::find(&path.to_string_lossy()), Some(path))
    };
    let study = study.map_err(|it| error::problem(&it))?;
    let points = points::points(&study, quick).map_err(|it| error::problem(&it))?;
    Ok(Sweep(Arc::new(Plan {
        places: SearchPath::new(path.as_deref(), root.as_deref()),
        study,
        points,
        quick,
        target: target.unbind(),
        options: options.unbind(),
    })))
}

impl Plan {
    fn campaign<'a>(&'a self, results: &'a Path, jobs: usize) -> Campaign<'a> {
        Campaign {
            study: &self.study,
            quick: self.quick,
            places: &self.places,
            results,
            jobs,
            observe: &[],
        }
    }

    /// Runs points, keeping their outcomes in `results` or, without it, in a temporary folder.
    fn run(
        &self,
        py: Python<'_>,
        points: Vec<points::Point>,
        results: Option<PathBuf>,
        jobs: usize,
        mut shown: ProgressReporter,
    ) -> PyResult<Vec<(CachedPoint, PointOutcome)>> {
        let stop = StopFlag::default();
        let tally = Tally::new(points.len());
        let attend = |py: Python<'_>| shown.show(py, tally.progress());
        let ran = attended(py, &stop, attend, || {
            let passing = match &results {
                Some(_) => None,
                None => Some(tempfile::tempdir().map_err(|error| {
                    Problem::new(format!("no folder for the run can be made: {error}"))
                })?),
            };
            let folder = match (&results, &passing) {
                (Some(results), _) => results.as_path(),
                (None, Some(passing)) => passing.path(),
                (None, None) => Path::new("."),
            };
            let results = self.campaign(folder, jobs).run(points, &stop, &tally)?;
            let outcomes = results.points.iter().filter_map(|cached| {
                let outcome = results.outcome(cached)?;
                Some((cached.clone(), outcome.clone()))
            });
            Ok(outcomes.collect())
        });
        let ran = ran.and_then(|ran| {
            let ran = ran.map_err(|it: Problems| error::problems(&it))?;
            shown.show(py, tally.progress())?;
            Ok(ran)
        });
        let closed = shown.close(py);
        let ran = ran?;
        closed?;
        Ok(ran)
    }
}

/// The table of outcomes: one row per point, with its axes and metrics as columns.
fn table(outcomes: &[(CachedPoint, PointOutcome)]) -> TableData {
    let mut axes: Vec<&str> = Vec::new();
    let mut metrics: Vec<&str> = Vec::new();
    for (cached, outcome) in outcomes {
        for place in &cached.point.coordinates {
            if !axes.contains(&place.axis.as_str()) {
                axes.push(&place.axis);
            }
        }
        for name in outcome.metrics.keys() {
            if !metrics.contains(&name.as_str()) {
                metrics.push(name);
            }
        }
    }
    let mut columns = Vec::new();
    let mut add =
        |name: &str, column: ColumnBuilder| columns.push((name.to_owned(), column.finish()));
    let mut number = ColumnBuilder::new(Values::U64(Vec::new()));
    let mut sweep = ColumnBuilder::texts();
    let mut run = ColumnBuilder::new(Values::U64(Vec::new()));
    let mut ending = ColumnBuilder::texts();
    for (cached, outcome) in outcomes {
        number.put(Some(cached.point.number as u64));
        sweep.put(Some(cached.point.sweep.as_str()));
        run.put(Some(cached.point.run as u64));
        ending.put(Some(outcome.ending.as_str()));
    }
    add("point", number);
    add("sweep", sweep);
    for axis in axes {
        let mut column = ColumnBuilder::new(Values::F64(Vec::new()));
        for (cached, _) in outcomes {
            let places = &cached.point.coordinates;
            column.put(places.iter().find(|it| it.axis == axis).map(|it| it.x));
        }
        add(axis, column);
    }
    add("run", run);
    add("ending", ending);
    for metric in metrics {
        let mut column = ColumnBuilder::new(Values::F64(Vec::new()));
        for (_, outcome) in outcomes {
            column.put(outcome.metrics.get(metric).and_then(|it| it.value));
        }
        add(metric, column);
    }
    TableData::new(columns)
}

#[pymethods]
impl Sweep {
    /// The name of the sweep.
    #[getter]
    fn name(&self) -> &str {
        &self.0.study.name
    }

    /// The points, in order.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = (0..self.0.points.len()).map(|index| {
            Py::new(
                py,
                Point {
                    plan: Arc::clone(&self.0),
                    index,
                },
            )
        });
        PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    fn __len__(&self) -> usize {
        self.0.points.len()
    }

    /// Run all points, `jobs` at a time, and return a table with one row per point.
    ///
    /// A row has the number of the point, its position on each axis, which of several runs it is,
    /// and the value of each metric. With `results`, outcomes are stored in this folder, as by the
    /// command, and those already there are reused.
    ///
    /// A terminal or notebook shows a progress line. `progress` is `False` for no line, `True` for
    /// a line anywhere, or a callable that receives an `npsim.Progress` on the calling thread
    /// whenever there is news, up to twenty times a second.
    ///
    /// Raises `npsim.Error` for mistakes in the input. An exception raised by `progress` ends the
    /// sweep, as does `KeyboardInterrupt` within a second; finished points remain in `results`.
    #[pyo3(signature = (*, jobs = 1, results = None, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        jobs: usize,
        results: Option<PathBuf>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        let points = self.0.points.clone();
        let shown = ProgressReporter::of(py, progress)?;
        let outcomes = self.0.run(py, points, results, jobs.max(1), shown)?;
        Ok(Table(Arc::new(table(&outcomes))))
    }

    /// Pass all points to the `map` of a Dask client or of another executor, such as those of
    /// `concurrent.futures`, and return what it returns: futures or results, as from `Point.run`.
    fn submit<'py>(
        slf: Bound<'py, Self>,
        client: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let run = py.import("npsim")?.getattr("Point")?.getattr("run")?;
        client.call_method1("map", (run, slf.getattr("points")?))
    }

    fn __repr__(&self) -> String {
        format!("<npsim.Sweep {} of {} points>", self.name(), self.__len__())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        pickled(py, "sweep", &self.0.target, &self.0.options)
    }
}

#[pymethods]
impl Point {
    /// The number of the point, from 1.
    #[getter]
    fn number(&self) -> usize {
        self.point().number
    }

    /// The name of the sweep to which the point belongs.
    #[getter]
    fn sweep(&self) -> &str {
        &self.point().sweep
    }

    /// The position of the point on each axis.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let coordinates = PyDict::new(py);
        for place in &self.point().coordinates {
            coordinates.set_item(&place.axis, place.x)?;
        }
        Ok(coordinates)
    }

    /// The settings of the point, as `PATH=VALUE`.
    #[getter]
    fn settings(&self) -> Vec<String> {
        self.point().shown_settings()
    }

    /// Run the point, and return its outcome as a dictionary.
    ///
    /// It has `ending`, `fault`, the window, and for each metric its value or why there is none.
    /// With `results`, the outcome is stored in this folder, as by the command, and reused if
    /// already there.
    #[pyo3(signature = (*, results = None))]
    fn run<'py>(&self, py: Python<'py>, results: Option<PathBuf>) -> PyResult<Bound<'py, PyAny>> {
        let points = vec![self.point().clone()];
        let ran = self
            .plan
            .run(py, points, results, 1, ProgressReporter::default())?;
        let outcome = ran.first().map(|(_, outcome)| outcome);
        let json = serde_json::to_string(&outcome);
        let json = json.map_err(|it| error::mistake(it.to_string(), ""))?;
        py.import("json")?.call_method1("loads", (json,))
    }

    fn __repr__(&self) -> String {
        format!("<npsim.Point {}: {}>", self.number(), self.point().shown())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Py<PyAny>, Py<PyDict>, usize))> {
        let again = py.import("npsim")?.getattr("_point_again")?;
        let plan = &self.plan;
        Ok((
            again,
            (
                plan.target.clone_ref(py),
                plan.options.clone_ref(py),
                self.index,
            ),
        ))
    }
}

impl Point {
    fn point(&self) -> &points::Point {
        &self.plan.points[self.index]
    }
}

/// Recreate a point of a sweep in another process.
#[pyfunction]
#[pyo3(name = "_point_again")]
pub fn point_again<'py>(
    py: Python<'py>,
    target: Bound<'py, PyAny>,
    options: Bound<'py, PyDict>,
    index: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let points = again(py, "sweep", target, options)?.getattr("points")?;
    points.get_item(index).map_err(|_| {
        PyTypeError::new_err("the sweep has fewer points here than where the point comes from")
    })
}
