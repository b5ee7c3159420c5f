//! The subject of a run: a project with its programs and traffic.

use std::path::Path;
use std::sync::Arc;

use npsim::assemble::{Program, assemble_project_from};
use npsim::engine::ENGINE;
use npsim::files::Files as _;
use npsim::load as project_load;
use npsim::net::capture::{CaptureOptions, LinkTypes};
use npsim::net::load::Load;
use npsim::net::pace::Pace;
use npsim::project::{Overrides, Project};
use npsim::quantity::Time;
use npsim::run_limits::RunLimits;
use npsim::simulation::RunSettings;
use npsim::traffic::{CaptureTraffic, Traffic, TrafficSource};
use serde_json::Value;

use crate::answer::Failure;
use crate::file_store::FileStore;
use crate::message::Message;
use crate::request::{OpenRequest, TrafficRequest, text_of};

/// A project with its programs and traffic.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub project: Arc<Project>,
    pub programs: Arc<[Program]>,
    pub traffic: Traffic,
    pub limits: RunLimits,
    pub machine: RunSettings,
}

impl Scenario {
    /// Reads the requested project, and returns the assembler's messages with it.
    ///
    /// # Errors
    /// Returns an error if there are mistakes in the project, in its sources, or in the request.
    pub fn read(files: &FileStore, asked: &OpenRequest) -> Result<(Self, Vec<Message>), Failure> {
        let project = project(files, &asked.target, &overrides(asked)?)?;
        let (programs, messages) = programs(files, &project)?;
        let until = asked.until.as_ref().filter(|it| !it.is_null());
        let until = until.map(|it| parsed::<Time>("until", &text_of(it)));
        let allow = asked.allow.iter().map(|it| parsed("allow", it));
        let scenario = Self {
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
        Ok((scenario, messages))
    }

    /// The settings of a run.
    pub fn settings(&self, source: &TrafficSource<'_>) -> RunSettings {
        let hertz = self.project.capacity.hertz;
        self.limits.settings(self.machine.clone(), hertz, source)
    }

    /// The traffic.
    ///
    /// # Errors
    /// Returns an error if the traffic does not fit the ports.
    pub fn source(&self) -> Result<TrafficSource<'_>, Failure> {
        Ok(TrafficSource::open(self.traffic.clone(), &self.project)?)
    }
}

/// Reads a project from the files, with the overrides.
///
/// # Errors
/// Returns all mistakes in the project file, as messages with their locations.
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

/// Assembles the programs of a project, and returns the assembler's messages with them.
///
/// # Errors
/// Returns an error if there are mistakes in the sources, or they are empty.
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

/// A load with some keys overridden.
fn override_load(load: &Load, keys: &serde_json::Map<String, Value>) -> Result<Load, Failure> {
    let defect = |error: serde_json::Error| {
        Failure::new(format!("`load`: {error}"))
            .help("the keys are those of a project's [load], `npsim docs traffic`")
    };
    let mut all = serde_json::to_value(load).map_err(defect)?;
    for (key, value) in keys {
        // Rates are strings, even if they look like numbers.
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
            load = override_load(&load, keys)?;
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
                    .help("drop a file on the page, or use one of those in /traces")
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
