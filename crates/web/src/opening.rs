//! Opening a run: a project with its programs and traffic, under a debugger.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use npsim::assemble::{Program, assemble_project_from};
use npsim::debug::Debugger;
use npsim::debug::timeline::{NoDebug, Setup};
use npsim::engine::ENGINE;
use npsim::files::Files as _;
use npsim::links::Frames;
use npsim::net::capture::{CaptureOptions, LinkTypes};
use npsim::net::load::Load;
use npsim::net::pace::Pace;
use npsim::project::{Overrides, Project};
use npsim::quantity::Time;
use npsim::run_limits::RunLimits;
use npsim::simulation::{RunSettings, Simulation};
use npsim::traffic::{CaptureTraffic, Traffic, TrafficSource};
use npsim::{advisories, load as project_load};
use serde::Serialize;
use serde_json::Value;

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::measurement::Measurement;
use crate::message::Message;
use crate::request::{OpenRequest, TrafficRequest, text_of};

/// Bytes of a megabyte.
const MEGABYTE: usize = 1_000_000;
/// Megabytes for states of the past, unless more or less is asked for.
const MEMORY: usize = 64;

/// How many cycles a request may run through.
#[derive(Debug, Default)]
pub struct CycleBudget {
    from: AtomicU64,
    cycles: AtomicU64,
}

impl CycleBudget {
    /// Begins anew at a cycle.
    pub fn begin(&self, from: u64, cycles: u64) {
        self.from.store(from, Ordering::Relaxed);
        self.cycles.store(cycles, Ordering::Relaxed);
    }

    fn is_used_up(&self, at: u64) -> bool {
        let from = self.from.load(Ordering::Relaxed);
        at.abs_diff(from) >= self.cycles.load(Ordering::Relaxed)
    }
}

/// A project with its programs and what comes in.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub project: Arc<Project>,
    pub programs: Arc<[Program]>,
    pub traffic: Traffic,
    pub limits: RunLimits,
    pub machine: RunSettings,
}

impl Scenario {
    /// The settings of its run.
    pub fn settings(&self, source: &TrafficSource<'_>) -> RunSettings {
        let hertz = self.project.capacity.hertz;
        self.limits.settings(self.machine.clone(), hertz, source)
    }

    /// What comes in.
    ///
    /// # Errors
    /// The traffic does not fit the ports.
    pub fn source(&self) -> Result<TrafficSource<'_>, Failure> {
        Ok(TrafficSource::open(self.traffic.clone(), &self.project)?)
    }
}

/// A run that is open.
#[derive(Debug)]
pub struct OpenRun {
    pub scenario: Scenario,
    pub debugger: Debugger,
    pub budget: Arc<CycleBudget>,
    /// The last cycle, if there is one.
    pub until: Option<u64>,
    pub measurement: Option<Measurement>,
}

/// What a page is told of a run that was opened.
#[derive(Debug, Serialize)]
pub struct Opened {
    name: String,
    target: String,
    hertz: u64,
    chip: String,
    ports: Vec<u64>,
    until: Option<u64>,
    arrivals_end: u64,
    programs: Vec<ProgramInfo>,
    sources: Vec<String>,
    rings: Vec<String>,
    memories: Vec<MemoryInfo>,
    goals: usize,
    messages: Vec<Message>,
    notes: Vec<String>,
    explain: String,
}

#[derive(Debug, Serialize)]
struct ProgramInfo {
    me: u8,
    stage: String,
    source: String,
    words: usize,
    room: usize,
    contexts: Vec<u8>,
}

#[derive(Debug, Serialize)]
struct MemoryInfo {
    name: String,
    memory: String,
    address: u32,
    bytes: u32,
}

/// A project of the files, read with what is set over it.
///
/// # Errors
/// All mistakes in the project file, as messages with their places.
pub fn project(files: &FileStore, target: &str, overrides: &Overrides) -> Result<Project, Failure> {
    let registry = npsim::protocols::registry();
    let read = Project::load_from(files, Path::new(target), overrides, &registry);
    read.map_err(|problems| {
        let messages = problems.0.iter();
        let messages = messages.map(|it| Message::of_problem(files, it)).collect();
        Failure {
            messages,
            ..problems.into()
        }
    })
}

/// The programs of a project, and what the assembler said.
///
/// # Errors
/// There are mistakes in the sources, or nothing in them.
pub fn programs(
    files: &FileStore,
    project: &Project,
) -> Result<(Vec<Program>, Vec<Message>), Failure> {
    let (programs, said) = assemble_project_from(files, project, &[]);
    let messages: Vec<_> = { said.items.iter() }
        .map(|it| Message::of_assembler(files, it))
        .collect();
    match programs {
        Some(programs) if !programs.is_empty() => Ok((programs, messages)),
        Some(_) => Err(Failure {
            messages,
            ..Failure::new("there is nothing to run: no instruction was assembled")
                .help("run a program that includes the macros")
        }),
        None => Err(Failure {
            messages,
            ..Failure::new(format!("the sources have {}", said.count()))
        }),
    }
}

fn overrides(asked: &OpenRequest) -> Result<Overrides, Failure> {
    let settings = asked.set.iter().map(|(path, value)| {
        let setting = format!("{path}={}", text_of(value));
        setting.parse().map_err(|error: String| Failure::new(error))
    });
    Ok(Overrides {
        set: settings.collect::<Result<_, _>>()?,
        ..Overrides::default()
    })
}

fn parsed<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, Failure>
where
    T::Err: std::fmt::Display,
{
    let read = text.parse();
    read.map_err(|error: T::Err| Failure::new(format!("`{what}`: {error}")))
}

/// A load with some keys set.
fn loaded(load: &Load, keys: &serde_json::Map<String, Value>) -> Result<Load, Failure> {
    let defect = |error: serde_json::Error| {
        Failure::new(format!("`load`: {error}"))
            .help("the keys are those of a project's [load], `npsim docs traffic`")
    };
    let mut all = serde_json::to_value(load).map_err(defect)?;
    for (key, value) in keys {
        // Rates are texts, also where they are numbers.
        let value = match value {
            Value::Number(number) if key == "rate" => Value::String(number.to_string()),
            other => other.clone(),
        };
        all[key] = value;
    }
    serde_json::from_value(all).map_err(defect)
}

fn traffic(files: &FileStore, project: &Project, asked: &OpenRequest) -> Result<Traffic, Failure> {
    let mut load = project.load.clone().unwrap_or_default();
    match &asked.traffic {
        TrafficRequest::None => return Ok(Traffic::None),
        TrafficRequest::Project => {}
        TrafficRequest::Load { load: keys } => {
            load = loaded(&load, keys)?;
            if load.rate.is_none() {
                return Err(
                    Failure::new("`load` shapes traffic, and no traffic is asked for")
                        .help("say how much with `rate`, such as \"0.5\" or \"1Mpps\""),
                );
            }
        }
        TrafficRequest::Capture {
            path,
            pace,
            ports,
            link,
            pad,
        } => {
            let bytes = files.read(path.as_ref()).map_err(|_| {
                Failure::new(format!("there is no capture `{path}`"))
                    .help("drop a file on the page, or take one of those in /traces")
            })?;
            let default = CaptureTraffic::new(path);
            let pace = pace.as_ref().map(|it| parsed("pace", &text_of(it)));
            let ports = ports.as_ref().map(|it| parsed("ports", &text_of(it)));
            let pace = pace.transpose()?.unwrap_or(default.pace);
            if pace == Pace::Recorded {
                return Err(
                    Failure::new("a recording of a live run is not repeated here").help(
                        "play its frames with the pace `trace`, or run `npsim run --pace recorded`",
                    ),
                );
            }
            let padding = pad.as_ref().map(|it| parsed("pad", it)).transpose()?;
            return Ok(Traffic::Capture(Box::new(CaptureTraffic {
                path: path.into(),
                bytes: Some(bytes.into()),
                pace,
                ports: ports.transpose()?.unwrap_or(default.ports),
                options: CaptureOptions {
                    links: if *link {
                        LinkTypes::Framed
                    } else {
                        LinkTypes::Ethernet
                    },
                    padding: padding.unwrap_or_default(),
                },
            })));
        }
    }
    load.seed = asked.seed.unwrap_or(load.seed);
    if load.rate.is_none() {
        return Ok(Traffic::None);
    }
    let load = project_load::resolved(load, project);
    Ok(Traffic::Load(Box::new(load)))
}

/// Opens a run.
///
/// # Errors
/// There are mistakes in the project, in its sources, or in what is asked for.
pub fn open(files: &FileStore, asked: &OpenRequest) -> Result<(OpenRun, Opened), Failure> {
    let project = project(files, &asked.target, &overrides(asked)?)?;
    let (programs, messages) = programs(files, &project)?;
    let until = asked.until.as_ref().filter(|it| !it.is_null());
    let until = until.map(|it| parsed::<Time>("until", &text_of(it)));
    let allow = asked.allow.iter().map(|it| parsed("allow", it));
    let scenario = Scenario {
        traffic: traffic(files, &project, asked)?,
        project: Arc::new(project),
        programs: programs.into(),
        limits: RunLimits {
            until: until.transpose()?,
            ..RunLimits::default()
        },
        machine: RunSettings {
            allow: allow.collect::<Result<_, _>>()?,
            seed: asked.seed,
            ..RunSettings::new(ENGINE)
        },
    };
    let source = scenario.source()?;
    let (run, notes) = debugged(&scenario, &source, asked.memory.unwrap_or(MEMORY))?;
    let arrivals_end = source.arrivals_end();
    drop(source);
    let opened = Opened::of(files, asked, &run, (messages, notes, arrivals_end));
    Ok((run, opened))
}

fn debugged(
    scenario: &Scenario,
    source: &TrafficSource<'_>,
    memory: usize,
) -> Result<(OpenRun, Vec<String>), Failure> {
    let project = &scenario.project;
    let settings = scenario.settings(source);
    let (until, allowed) = (settings.until, settings.allow.clone());
    let none = || -> Frames { Box::new(std::iter::empty()) };
    let setup = Setup {
        simulation: Simulation::new(project, &scenario.programs, settings)?,
        frames: NoDebug(source.ends()?.frames.unwrap_or_else(none)),
        until,
        hertz: project.capacity.hertz,
        budget: memory.saturating_mul(MEGABYTE),
    };
    let debugger = Debugger::new(setup, project, &allowed);
    let mut debugger = debugger.map_err(|error| {
        let least = error.needed.div_ceil(MEGABYTE);
        Failure::new(error.to_string()).help(format!("give at least {least} MB, `memory`"))
    })?;
    let budget = Arc::new(CycleBudget::default());
    let asked = Arc::clone(&budget);
    debugger.ask(move |cycle| asked.is_used_up(cycle));
    let notes = source.survey().map(advisories::of_capture);
    let run = OpenRun {
        scenario: scenario.clone(),
        debugger,
        budget,
        until,
        measurement: None,
    };
    Ok((run, notes.unwrap_or_default()))
}

impl Opened {
    fn of(
        files: &FileStore,
        asked: &OpenRequest,
        run: &OpenRun,
        (messages, notes, arrivals_end): (Vec<Message>, Vec<String>, u64),
    ) -> Self {
        let (project, debugger) = (&run.scenario.project, &run.debugger);
        let threads = debugger.threads();
        let programs = run.scenario.programs.iter().map(|program| {
            let own = threads.iter().filter(|it| it.thread.me == program.me);
            ProgramInfo {
                me: program.me,
                stage: debugger.stage(program.me),
                source: files.path(&program.source),
                words: program.image.words.len(),
                room: usize::from(project.profile.control_store_words()),
                contexts: own.map(|it| it.thread.context).collect(),
            }
        });
        let names = debugger.names();
        let memories = names
            .memories()
            .iter()
            .map(|(name, memory, address, bytes)| MemoryInfo {
                name: name.clone(),
                memory: memory.name(),
                address: *address,
                bytes: *bytes,
            });
        let sources = debugger.files().into_iter();
        let mut sources: Vec<_> = sources.map(|it| files.path(it)).collect();
        sources.sort();
        sources.dedup();
        let target = if project.is_default {
            asked.target.as_ref()
        } else {
            Path::new(&project.text.path)
        };
        Self {
            name: project.name.clone(),
            target: files.path(target),
            hertz: project.capacity.hertz,
            chip: project.profile.name().to_owned(),
            ports: { project.boot.ports.iter() }
                .map(|it| it.bits_per_second)
                .collect(),
            until: run.until,
            arrivals_end,
            programs: programs.collect(),
            sources,
            rings: names.rings().iter().map(|it| it.0.clone()).collect(),
            memories: memories.collect(),
            goals: project.goals.len(),
            messages,
            notes,
            explain: project.explain(),
        }
    }
}
