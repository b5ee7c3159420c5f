//! Runs and their results.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use npsim::advisories;
use npsim::chip::Cycle;
use npsim::chip::core::CoreKind;
use npsim::chip::kernel::check::Check;
use npsim::diagnostics::render_fault;
use npsim::engine::ENGINE;
use npsim::flow_tap::FlowTap;
use npsim::node::Node;
use npsim::observe::packets::{Flows, PacketRows};
use npsim::observe::set::{Observations, ObserverConfig};
use npsim::observed_run::ObservedRun;
use npsim::problem::Problem;
use npsim::reference::REFERENCE;
use npsim::report::Report;
use npsim::run_limits::RunLimits;
use npsim::session::Session;
use npsim::simulation::{Ending, RunSettings};
use npsim::system::System;
use npsim::traffic::{Traffic, TrafficSource};
use npsim::{bottleneck, stats_file, summary};
use pyo3::prelude::*;

use crate::detached::StopFlag;
use crate::error::{self, fault_of, mistake, not_pickled};
use crate::event_batches::EventObserver;
use crate::observers::RunObservers;
use crate::packet_table::PacketTable;
use crate::progress::{RunTally, run_reporting_progress};
use crate::project::{Project, time};
use crate::series_table;
use crate::table::{Table, escaped};
use crate::table_data::TableData;
use crate::text::{parsed, text_of};
use crate::traffic::{CaptureArguments, traffic};

/// Width of texts in columns.
const WIDTH: usize = 100;

/// Returns the core with this name.
pub fn core(name: &str) -> PyResult<CoreKind> {
    let cores = [ENGINE, REFERENCE];
    let found = cores.into_iter().find(|core| core.name == name);
    found.ok_or_else(|| {
        let message = format!("there is no core `{name}`");
        mistake(message, "the cores are `engine` and `reference`")
    })
}

/// Returns the checks with these names.
pub fn checks(allow: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Check>> {
    let Some(allow) = allow else {
        return Ok(Vec::new());
    };
    let names = text_of("allow", allow)?;
    let names = names.split(',').filter(|name| !name.is_empty());
    names.map(|name| parsed("allow", name)).collect()
}

/// What to observe in a run.
struct ObservationOptions {
    packets: bool,
    series: bool,
    report: bool,
    observer: Option<EventObserver>,
}

/// A finished run.
struct RunResults {
    report: Report,
    host_seconds: f64,
    ending: String,
    fault: Option<String>,
    failed: Option<Problem>,
    notes: Vec<String>,
    routers: Vec<RouterResults>,
}

/// Observations of one router.
struct RouterResults {
    packets: Option<Arc<TableData>>,
    series: Option<Arc<TableData>>,
    analysis: Option<bottleneck::Analysis>,
    page: Option<Result<String, String>>,
}

#[pymethods]
impl Project {
    /// Run the project to its end, and return the results.
    ///
    /// Traffic comes from a capture (`trace`, with the timing and the ports given by `pace` and
    /// `ports`) or is generated (`load`: a fraction of the line rate such as 0.5, a rate such as
    /// "1Mpps", or a dictionary with keys of a project's `[load]`); `load=False` means no traffic.
    /// Without either, it is generated as in the project's own `[load]`, if that has a rate. The
    /// run ends when the traffic is handled (the media interface has been idle for `drain`), at
    /// `until`, or when no events are pending. Times are strings ("2ms") or cycles. `link`, `pad`,
    /// `seed`, `core` and `allow` are as for `npsim run`.
    ///
    /// `packets`, `series` and `report` select what is recorded: the fate of each packet, counters
    /// and depths over time, and the data for `Run.why` and `Run.report`. An `observer` is an
    /// object with `wants`, the names of kinds of events, and `see_batch(table)`, which is called
    /// with up to 10,000 events at a time. None of them changes the run.
    ///
    /// `hops` connects this many routers in a chain, each running this project: a frame that leaves
    /// one router by a port enters the next at the same port. `threads` routers run at a time (only
    /// one if Python classes or a Python observer take part), with the same results. `Run.routers`
    /// has the observations of each.
    ///
    /// `pace="recorded"` replays a recording of `npsim live`: each frame begins in its recorded
    /// cycle, routes change when they did, and the run ends where it ended.
    ///
    /// `progress` is a callable that receives a `Progress` while the run continues. By default, a
    /// terminal or notebook shows a progress line after half a second; `True` shows it anywhere,
    /// and `False` nowhere.
    ///
    /// Raises `npsim.Error` for mistakes in the input, and `npsim.Fault` if a check stops the run.
    /// `KeyboardInterrupt` ends the run within a second. Other Python threads continue during the
    /// run.
    #[pyo3(signature = (*, trace = None, load = None, pace = None, ports = None, link = false, pad = None, until = None, drain = None, seed = None, core = "engine", allow = None, hops = 1, threads = 1, packets = false, series = false, report = false, observer = None, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        trace: Option<PathBuf>,
        load: Option<Bound<'_, PyAny>>,
        pace: Option<Bound<'_, PyAny>>,
        ports: Option<Bound<'_, PyAny>>,
        link: bool,
        pad: Option<String>,
        until: Option<Bound<'_, PyAny>>,
        drain: Option<Bound<'_, PyAny>>,
        seed: Option<u64>,
        core: &str,
        allow: Option<Bound<'_, PyAny>>,
        hops: usize,
        threads: usize,
        packets: bool,
        series: bool,
        report: bool,
        observer: Option<Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Run> {
        let capture = CaptureArguments::of(trace, pace.as_ref(), ports.as_ref(), link, pad)?;
        let stop = StopFlag::default();
        let wanted = ObservationOptions {
            packets,
            series,
            report,
            observer: observer.map(|it| EventObserver::new(&it)).transpose()?,
        };
        let traffic = traffic(self.system.project(), capture, load.as_ref(), seed)?;
        let mut limits = RunLimits {
            until: until.map(|it| time("until", &it)).transpose()?,
            ..RunLimits::default()
        };
        if let Some(drain) = drain {
            limits.drain = time("drain", &drain)?;
        }
        let machine = RunSettings {
            allow: checks(allow.as_ref())?,
            seed,
            ..RunSettings::new(crate::run::core(core)?)
        };
        // An exception raised by Python is reported through the thread that started the run.
        let alone = wanted.observer.is_some() || self.has_python();
        let chain = (hops, if alone { 1 } else { threads.max(1) });
        let tally = RunTally::new();
        let done = run_reporting_progress(py, (progress, &stop), &tally, || {
            let (system, remarks) = self.system_for(&traffic, seed)?;
            let told = (&stop, &tally);
            let mut done = simulate(&system, traffic, (limits, machine), chain, wanted, told)?;
            done.notes.splice(..0, remarks);
            Ok(done)
        })?;
        let done = done.map_err(|problems| error::problems(&problems))?;
        Run::of(py, done)
    }
}

/// Runs to the end.
fn simulate(
    system: &System,
    traffic: Traffic,
    (limits, machine): (RunLimits, RunSettings),
    (hops, threads): (usize, usize),
    wanted: ObservationOptions,
    (stop, tally): (&StopFlag, &RunTally),
) -> Result<RunResults, Problem> {
    let project = system.project();
    let source = TrafficSource::open(traffic, project)?;
    if hops > 1 && !source.has_traffic() {
        let problem = Problem::new("nothing comes in at the first router");
        return Err(problem.help("give it traffic with `trace` or `load`, or leave `hops` out"));
    }
    let settings = limits.settings(machine, project.capacity.hertz, &source);
    let traffic_ends = Some(source.arrivals_end()).filter(|end| *end > 0);
    let end = traffic_ends.into_iter().chain(settings.until).min();
    tally.ends(end, project.capacity.hertz as f64);
    let flows = Flows::default();
    let mut ends = source.ends()?;
    if wanted.packets {
        ends.entry = Some(Box::new(FlowTap::new(&flows)));
    }
    let mut session = Session::new(&system.plan(settings, hops, threads), ends)?;
    let mut observers = Vec::with_capacity(hops);
    for (index, node) in session.nodes().iter().enumerate() {
        let mut config = ObserverConfig::default();
        if wanted.report {
            config = config.and_report();
        }
        config.series |= wanted.series;
        // After the first router, frames are numbered differently.
        let flows = if index == 0 {
            flows.clone()
        } else {
            Flows::default()
        };
        let chip = node.chip();
        observers.push(RunObservers {
            set: config.open(project, chip)?,
            packets: wanted
                .packets
                .then(|| PacketRows::new(PacketTable::new(), chip, flows)),
            events: { wanted.observer.as_ref() }.map(|it| it.batches(index + 1)),
        });
    }
    let go_on = &mut |now: Cycle| {
        tally.at(now);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let started = Instant::now();
    while session.run_to(Cycle::MAX, &mut observers, go_on).is_none() {}
    tally.at(session.now());
    let host_seconds = started.elapsed().as_secs_f64();
    let finished = session.finish();
    finished.map_err(|error| Problem::new(error.to_string()))?;
    let open_end = limits.is_unbounded(&source);
    let capture = source.survey().map(advisories::of_capture);
    Ok(RunResults {
        host_seconds,
        notes: capture.unwrap_or_default(),
        ..done(&session, observers, wanted.report, open_end)
    })
}

/// Collects the observations of a router, numbered from 0.
fn seen(
    session: &Session,
    report: &Report,
    number: usize,
    seen: RunObservers,
    page: bool,
) -> RouterResults {
    if let Some(events) = seen.events {
        events.finish();
    }
    let node = session.node(number);
    let packets = seen.packets.and_then(|rows| rows.finish().ok());
    let observed: Observations = seen.set.finish(node.chip());
    let series = observed.series.as_ref().map(series_table::table);
    let own = report.nodes.get(number).filter(|_| page);
    let shown = own.and_then(|own| {
        let system = (session.project(), session.programs());
        ObservedRun::of(system, (own, node.traffic()), &observed)
    });
    let analysis = shown.map(|it| it.analysis());
    let page = shown.zip(analysis.as_ref()).map(|(shown, analysis)| {
        let mut settings = vec![("Project".to_owned(), session.project().name.clone())];
        if report.nodes.len() > 1 {
            let place = format!("{} of {}", number + 1, report.nodes.len());
            settings.push(("Router".to_owned(), place));
        }
        shown.page(analysis, &settings).map_err(|it| it.to_string())
    });
    RouterResults {
        packets: packets.map(Arc::new),
        series: series.map(Arc::new),
        analysis,
        page,
    }
}

/// The prefix of a line about a router, if there are several.
fn prefix(number: usize, of: usize) -> String {
    if of > 1 {
        format!("router {}: ", number + 1)
    } else {
        String::new()
    }
}

/// Collects the results of a run.
fn done(session: &Session, observers: Vec<RunObservers>, page: bool, open_end: bool) -> RunResults {
    let report = session.stats();
    let routers = { observers.into_iter().enumerate() }
        .map(|(number, observers)| seen(session, &report, number, observers, page));
    let routers = routers.collect();
    let of = report.nodes.len();
    let nodes = report.nodes.iter().zip(session.nodes()).enumerate();
    let notes = nodes.flat_map(|(number, (report, node))| {
        let lines = advisories::of_results(report, node.chip()).into_iter();
        lines.map(move |line| format!("{}{line}", prefix(number, of)))
    });
    let notes = notes.collect();
    let ending = session.ending().map(|(_, ending)| ending.clone());
    let fault = match &ending {
        Some(Ending::Fault(fault)) => Some(error::plain(&render_fault(fault, session.programs()))),
        _ => None,
    };
    let failed = session
        .nodes()
        .iter()
        .find_map(Node::unread)
        .map(Problem::new);
    let failed = failed.or_else(|| {
        (open_end && ending == Some(Ending::Reached)).then(npsim::run_limits::endless_run_problem)
    });
    RunResults {
        report,
        host_seconds: 0.0,
        ending: ending.map_or("interrupted", |it| it.name()).to_owned(),
        fault,
        failed,
        notes,
        routers,
    }
}

/// The results of a run.
#[pyclass(frozen, module = "npsim")]
pub struct Run {
    json: String,
    summary: String,
    ending: String,
    notes: Vec<String>,
    routers: Vec<Arc<RouterResults>>,
}

/// The observations of one router of a run.
#[pyclass(frozen, module = "npsim")]
pub struct Router {
    number: usize,
    seen: Arc<RouterResults>,
}

impl Run {
    fn of(py: Python<'_>, done: RunResults) -> PyResult<Self> {
        if let Some(problem) = done.failed {
            return Err(error::problem(&problem));
        }
        let json = stats_file::to_json(&done.report);
        let json = json.map_err(|error| mistake(error.to_string(), ""))?;
        let run = Self {
            json,
            summary: summary::summary(&done.report, Some(done.host_seconds), WIDTH),
            ending: done.ending,
            notes: done.notes,
            routers: done.routers.into_iter().map(Arc::new).collect(),
        };
        match done.fault {
            None => Ok(run),
            Some(text) => Err(fault_of(py, text, run)?),
        }
    }

    /// The observations of the only router.
    fn only(&self) -> PyResult<&RouterResults> {
        match self.routers.as_slice() {
            [only] => Ok(only),
            several => Err(mistake(
                format!(
                    "the run is of {} routers, each observed by itself",
                    several.len()
                ),
                "take one of them, such as `run.routers[0]`, which has the same names",
            )),
        }
    }
}

impl RouterResults {
    fn report(&self) -> PyResult<Page> {
        match &self.page {
            Some(Ok(html)) => Ok(Page(html.clone())),
            Some(Err(error)) => Err(mistake(
                format!("the report could not be made: {error}"),
                "",
            )),
            None => Err(unobserved("report")),
        }
    }

    fn why(&self) -> PyResult<String> {
        let analysis = self.analysis.as_ref();
        analysis
            .map(bottleneck::as_text)
            .ok_or_else(|| unobserved("report"))
    }

    /// The page in a frame or, if there is none, these words.
    fn html(&self, words: &str) -> String {
        match &self.page {
            Some(Ok(html)) => in_iframe(html),
            _ => format!("<pre>{}</pre>", escaped(words)),
        }
    }
}

#[pymethods]
impl Run {
    /// All counters, as in the command's stats file (`npsim docs stats`): a new dictionary each
    /// time.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.json,))
    }

    /// The stats file as JSON, byte for byte as the command writes it.
    #[getter]
    fn stats_json(&self) -> &str {
        &self.json
    }

    /// Why the run ended: `drained`, `quiet`, `reached`, `fault`.
    #[getter]
    fn ending(&self) -> &str {
        &self.ending
    }

    /// The fate of each packet: one row per packet, in the order of arrival (`npsim docs packets`).
    ///
    /// Times are in cycles, lengths in bytes. Raises `npsim.Error` unless the run had
    /// `packets=True`, or if it had several routers (use `routers`).
    #[getter]
    fn packets(&self) -> PyResult<Table> {
        observed(self.only()?.packets.as_ref(), "packets")
    }

    /// Counters and depths over time, sampled at even intervals.
    ///
    /// Each row has the counts up to the sample, and the minimum, maximum and mean depth of each
    /// place since the previous sample. Raises `npsim.Error` unless the run had `series=True` or
    /// `report=True`, or if it had several routers (use `routers`).
    #[getter]
    fn series(&self) -> PyResult<Table> {
        observed(self.only()?.series.as_ref(), "series")
    }

    /// The observations of each router, in chain order: `packets`, `series`, `why()` and
    /// `report()`.
    ///
    /// A run without `hops` has one router, and `Run` has the same names itself.
    #[getter]
    fn routers(&self) -> Vec<Router> {
        let routers = self.routers.iter().enumerate();
        let routers = routers.map(|(number, seen)| Router {
            number: number + 1,
            seen: Arc::clone(seen),
        });
        routers.collect()
    }

    /// Notes on the run, a list of texts as the command prints them: how a capture was played, why
    /// frames stayed inside, which locks are still held.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Explain what limits the run: a sentence, the numbers behind it, and what would help.
    ///
    /// In a chain, the text covers each router. Raises `npsim.Error` unless the run had
    /// `report=True`.
    fn why(&self) -> PyResult<String> {
        let of = self.routers.len();
        let routers = self.routers.iter().enumerate();
        let texts = routers.map(|(number, it)| Ok(format!("{}{}", prefix(number, of), it.why()?)));
        Ok(texts.collect::<PyResult<Vec<_>>>()?.join("\n"))
    }

    /// Return the report as a page, which a notebook displays.
    ///
    /// `str(page)` is its HTML, which needs no other file. Raises `npsim.Error` unless the run had
    /// `report=True`, or if it had several routers (use `routers`).
    fn report(&self) -> PyResult<Page> {
        self.only()?.report()
    }

    fn __str__(&self) -> &str {
        &self.summary
    }

    fn __repr__(&self) -> String {
        format!("<npsim.Run, {}>", self.ending)
    }

    fn _repr_html_(&self) -> String {
        match self.routers.as_slice() {
            [only] => only.html(&self.summary),
            _ => format!("<pre>{}</pre>", escaped(&self.summary)),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled(
            "a run",
            "send its `stats`, or its tables as Arrow's,",
        ))
    }
}

#[pymethods]
impl Router {
    /// The position of the router in the chain, from 1.
    #[getter]
    fn number(&self) -> usize {
        self.number
    }

    /// The fate of each packet that entered this router, as in `Run.packets`.
    #[getter]
    fn packets(&self) -> PyResult<Table> {
        observed(self.seen.packets.as_ref(), "packets")
    }

    /// Counters and depths of this router over time, as in `Run.series`.
    #[getter]
    fn series(&self) -> PyResult<Table> {
        observed(self.seen.series.as_ref(), "series")
    }

    /// Explain what limits this router. Raises `npsim.Error` unless the run had `report=True`.
    fn why(&self) -> PyResult<String> {
        self.seen.why()
    }

    /// Return the report of this router as a page, as `Run.report` does.
    ///
    /// Raises `npsim.Error` unless the run had `report=True`.
    fn report(&self) -> PyResult<Page> {
        self.seen.report()
    }

    fn __repr__(&self) -> String {
        format!("<npsim.Router {}>", self.number)
    }

    fn _repr_html_(&self) -> String {
        self.seen.html(&self.__repr__())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled(
            "a router of a run",
            "send its tables as Arrow's,",
        ))
    }
}

fn observed(table: Option<&Arc<TableData>>, what: &str) -> PyResult<Table> {
    let table = table.map(|table| Table(Arc::clone(table)));
    table.ok_or_else(|| unobserved(what))
}

fn unobserved(what: &str) -> PyErr {
    mistake(
        "the run was not observed for this",
        &format!("call `run` with `{what}=True`"),
    )
}

/// An HTML page that needs no other file; `str(page)` is its text.
#[pyclass(frozen, module = "npsim")]
pub struct Page(String);

#[pymethods]
impl Page {
    /// Write the page to a file. Raises `npsim.Error` if it cannot be written.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        npsim::atomic_file::write_atomically(&path, self.0.as_bytes())
            .map_err(|error| error::problem(&Problem::io("write", &path, &error)))
    }

    fn __str__(&self) -> &str {
        &self.0
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("a page", "send its text, `str(page)`,"))
    }

    fn _repr_html_(&self) -> String {
        in_iframe(&self.0)
    }
}

/// Wraps a page in an iframe, so that its styles do not mix with the notebook's.
fn in_iframe(html: &str) -> String {
    format!(
        "<iframe srcdoc=\"{}\" style=\"width:100%;height:700px;border:0\"></iframe>",
        escaped(html)
    )
}
