//! A measurement of the whole run: like `npsim run` with the same project and traffic, in
//! stretches, with the results.

use std::ops::ControlFlow;

use npsim::bottleneck::{self, Analysis};
use npsim::net::egress::{CaptureFormat, CapturePort, SharedBytes, TraceSink};
use npsim::observe::set::{Observations, ObserverConfig, ObserverSet};
use npsim::observed_run::ObservedRun;
use npsim::project::Project;
use npsim::report::Report;
use npsim::session::{Plan, Session};
use npsim::simulation::Ending;
use npsim::{advisories, run_limits, stats_file, summary};
use serde::Serialize;
use serde_json::Value;

use crate::answer::{Answer, Failure};
use crate::capture_table::{self, RunClock};
use crate::fault_text::FaultText;
use crate::scenario::Scenario;

/// The width of a summary, in columns.
const WIDTH: usize = 100;

/// An observed run from cycle 0, independent of the debugger.
#[derive(Debug)]
pub struct Measurement {
    session: Session,
    observers: Vec<ObserverSet>,
    sent: SharedBytes,
    /// The offset added to times in the capture of departures, in nanoseconds since 1970.
    origin_ns: u64,
    of: u64,
    is_open: bool,
    outcome: Option<Outcome>,
}

#[derive(Debug)]
struct Outcome {
    ending: Ending,
    report: Report,
    seen: Observations,
}

/// The progress of a run.
#[derive(Debug, Serialize)]
pub struct Progress {
    done: bool,
    cycle: u64,
    of: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ending: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultText>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The traffic, if there was too little of it to show a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    slow: Option<SlowTraffic>,
}

#[derive(Debug, Serialize)]
struct SlowTraffic {
    frames: u64,
    seconds: f64,
    line_percent: f64,
}

/// The ports of a project, as a capture describes them.
fn capture_ports(project: &Project) -> Vec<CapturePort> {
    let ports = project.boot.ports.iter().enumerate();
    ports
        .map(|(number, port)| CapturePort::port(number, port.bits_per_second))
        .collect()
}

fn capture_write_error(error: &std::io::Error) -> Failure {
    Failure::new(format!("the capture cannot be written: {error}"))
}

impl Measurement {
    /// A run at its beginning. If it is not observed, time in which nothing happens is skipped,
    /// and there is neither a report nor a bottleneck.
    ///
    /// # Errors
    /// Returns an error if the traffic does not fit the ports, or the programs do not fit the
    /// chip.
    pub fn begin(scenario: &Scenario, observe: bool) -> Result<Self, Failure> {
        let source = scenario.source()?;
        let settings = scenario.settings(&source);
        let of = settings.until.unwrap_or_else(|| source.arrivals_end());
        let sent = SharedBytes::default();
        let ports = capture_ports(&scenario.project);
        let sink = TraceSink::in_memory(sent.clone(), CaptureFormat::PcapNg, &ports);
        let mut ends = source.ends()?;
        ends.sink = Some(sink.map_err(|error| capture_write_error(&error))?);
        let origin_ns = ends.origin_ns;
        let (project, programs) = (scenario.project.clone(), scenario.programs.clone());
        let session = Session::new(&Plan::one(project, programs, settings), ends)?;
        let mut config = ObserverConfig::default();
        if observe {
            config = config.and_report();
        }
        let observers = vec![config.open(&scenario.project, session.node(0).chip())?];
        Ok(Self {
            is_open: scenario.limits.is_unbounded(&source),
            session,
            observers,
            sent,
            origin_ns,
            of,
            outcome: None,
        })
    }

    /// Continues for a number of cycles.
    ///
    /// # Errors
    /// Returns an error if the frames of a capture cannot be read, or nothing ends the run.
    pub fn resume(&mut self, cycles: u64) -> Result<Progress, Failure> {
        if self.outcome.is_none() {
            let pause = self.session.now().saturating_add(cycles.max(1));
            let each = &mut |_| ControlFlow::Continue(());
            let ending = self.session.run_to(pause, &mut self.observers, each);
            if let Some(ending) = ending {
                self.end(ending)?;
            }
        }
        Ok(self.progress())
    }

    fn end(&mut self, ending: Ending) -> Result<(), Failure> {
        let finished = self.session.finish();
        finished.map_err(|error| capture_write_error(&error))?;
        let node = self.session.node(0);
        if let Some(reason) = node.unread() {
            return Err(Failure::new(reason));
        }
        if self.is_open && ending == Ending::Reached {
            return Err(run_limits::endless_run_problem().into());
        }
        let seen = { self.observers.pop() }.map(|set| set.finish(node.chip()));
        self.outcome = Some(Outcome {
            ending,
            report: self.session.stats(),
            seen: seen.unwrap_or_default(),
        });
        Ok(())
    }

    fn progress(&self) -> Progress {
        let cycle = self.session.node(0).now();
        let Some(outcome) = &self.outcome else {
            return Progress {
                done: false,
                cycle: self.session.now(),
                of: self.of,
                ending: None,
                fault: None,
                notes: Vec::new(),
                slow: None,
            };
        };
        let chip = self.session.node(0).chip();
        let place = |me: u8, at| {
            let core = chip.microengines().get(usize::from(me));
            core.map_or_else(String::new, |core| core.program().image().place(at))
        };
        let fault = match &outcome.ending {
            Ending::Fault(fault) => Some(FaultText::of(fault, place)),
            _ => None,
        };
        let nodes = outcome.report.nodes.iter();
        let notes = nodes.flat_map(|it| advisories::of_results(it, chip));
        let hertz = self.session.project().capacity.hertz;
        let slow = outcome.report.nodes.first().and_then(|it| {
            Some(SlowTraffic {
                frames: it.packets.offered,
                seconds: cycle as f64 / hertz as f64,
                line_percent: advisories::slow_arrivals(it)?,
            })
        });
        Progress {
            done: true,
            cycle,
            of: self.of,
            ending: Some(outcome.ending.name()),
            fault,
            notes: notes.collect(),
            slow,
        }
    }

    fn outcome(&self) -> Result<&Outcome, Failure> {
        self.outcome.as_ref().ok_or_else(|| {
            Failure::new("the run has not come to its end").help("ask `measure` until it is `done`")
        })
    }

    /// All counters, as in the stats file.
    ///
    /// # Errors
    /// Returns an error if the run has not ended.
    pub fn stats(&self) -> Result<Answer, Failure> {
        let text = stats_file::to_json(&self.outcome()?.report);
        let text = text.map_err(|error| Failure::new(error.to_string()))?;
        Ok(Answer::Json(format!(r#"{{"ok":true,"stats":{text}}}"#)))
    }

    /// The output of `npsim run`, without the time that it took.
    ///
    /// # Errors
    /// Returns an error if the run has not ended.
    pub fn summary(&self) -> Result<String, Failure> {
        Ok(summary::summary(&self.outcome()?.report, None, WIDTH))
    }

    fn observed(&self) -> Result<ObservedRun<'_>, Failure> {
        let outcome = self.outcome()?;
        let system = (self.session.project(), self.session.programs());
        let node = outcome.report.nodes.first();
        let traffic = self.session.node(0).traffic();
        let seen = node.and_then(|it| ObservedRun::of(system, (it, traffic), &outcome.seen));
        seen.ok_or_else(|| {
            Failure::new("the run was not observed, or was too short to say what limits it")
                .help("ask `measure` again without `observe: false`")
        })
    }

    /// The bottleneck of the run.
    ///
    /// # Errors
    /// Returns an error if the run has not ended.
    pub fn bottleneck(&self) -> Result<(Analysis, String), Failure> {
        let analysis = self.observed()?.analysis();
        let text = bottleneck::as_text(&analysis);
        Ok((analysis, text))
    }

    /// The report page of the run.
    ///
    /// # Errors
    /// Returns an error if the run has not ended.
    pub fn page(&self) -> Result<String, Failure> {
        let seen = self.observed()?;
        let settings = [("Project".to_owned(), self.session.project().name.clone())];
        let page = seen.page(&seen.analysis(), &settings);
        page.map_err(|error| Failure::new(error.to_string()))
    }

    /// The frames that left, as a capture.
    ///
    /// # Errors
    /// Returns an error if the run has not ended, or there is no such format.
    pub fn capture(&self, format: &str) -> Result<Vec<u8>, Failure> {
        self.outcome()?;
        let form = match format {
            "pcapng" => return Ok(self.sent.to_vec()),
            "pcap" => CaptureFormat::Pcap,
            other => {
                return Err(Failure::new(format!("there is no format `{other}`"))
                    .help("choose one of `pcapng`, `pcap` and `json`"));
            }
        };
        let bytes = SharedBytes::default();
        let ports = capture_ports(self.session.project());
        let sink = TraceSink::in_memory(bytes.clone(), form, &ports);
        let mut sink = sink.map_err(|error| capture_write_error(&error))?;
        capture_table::each("departures", self.sent.to_vec(), |frame, time_ns| {
            let written = sink.write(frame.port, time_ns, &frame.bytes);
            written.map_err(|error| capture_write_error(&error))
        })?;
        sink.finish().map_err(|error| capture_write_error(&error))?;
        Ok(bytes.to_vec())
    }

    /// Some of the frames that left, as a table.
    ///
    /// # Errors
    /// Returns an error if the run has not ended.
    pub fn table(&self, from: usize, count: usize) -> Result<Value, Failure> {
        self.outcome()?;
        let clock = RunClock {
            hertz: self.session.project().capacity.hertz,
            origin_ns: self.origin_ns,
        };
        capture_table::table("departures", self.sent.to_vec(), (from, count), Some(clock))
    }
}
