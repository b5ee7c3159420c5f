//! Where the frames of a run come from.

use npsim::checkpoint::inputs::{self, CheckpointInput};
use npsim::links::Frames;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::session::Endpoints;
use npsim_chip::Cycle;
use npsim_net::capture::{CaptureOptions, LinkTypes};
use npsim_net::load::Load;
use npsim_net::pace::{Pace, PaceError, PortLine, Replay, ReplayError, Survey};
use npsim_net::recording::RecordingSurvey;

use super::system::SystemArguments;
use crate::output;

const PICO: u128 = 1_000_000_000_000;

/// The traffic of a run, which can be put on its lines again and again.
pub struct TrafficSource<'a> {
    project: &'a Project,
    /// What is made, if anything is.
    pub load: Option<Load>,
    replay: Option<Replay>,
}

impl<'a> TrafficSource<'a> {
    /// The capture or the load that the arguments and the project name.
    pub fn open(
        arguments: &SystemArguments,
        project: &'a Project,
        load: Option<Load>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            project,
            load,
            replay: replay(arguments, project)?,
        })
    }

    /// Whether any frames are to come.
    pub fn comes(&self) -> bool {
        self.load.is_some() || self.replay.is_some()
    }

    /// What a recording says besides its frames.
    pub fn recording(&self) -> Option<&RecordingSurvey> {
        self.survey()?.recording.as_ref()
    }

    /// What was found in the capture.
    pub fn survey(&self) -> Option<&Survey> {
        self.replay.as_ref().map(Replay::survey)
    }

    /// The frames, and what is added to times for captures, ns since 1970.
    fn frames(&self) -> Result<(Frames, u64), Problem> {
        let frames: Frames = match (&self.load, &self.replay) {
            (Some(load), _) => Box::new(npsim::load::generator(load, self.project)?.map(Ok)),
            (None, Some(replay)) => Box::new(
                replay
                    .frames()
                    .map_err(|error| Problem::new(error.to_string()))?,
            ),
            (None, None) => Box::new(std::iter::empty()),
        };
        // Where a capture is to be written, they fit.
        let first_ns = self.survey().map_or(0, |survey| survey.first_timestamp_ns);
        let origin_ns = u64::try_from(first_ns).unwrap_or(0);
        Ok((frames, origin_ns))
    }

    /// Both ends of a network into which nothing has come yet.
    pub fn ends(&self) -> Result<Endpoints, Problem> {
        let (frames, origin_ns) = self.frames()?;
        Ok(Endpoints {
            frames: Some(frames),
            load: self.load.clone(),
            origin_ns,
            ..Endpoints::default()
        })
    }

    /// When the last frame has come.
    pub fn arrivals_end(&self) -> Cycle {
        let end = match (&self.load, self.survey()) {
            (Some(load), _) => u128::from(load.time.picoseconds()),
            (None, Some(survey)) => survey.plan.end_ps(),
            (None, None) => 0,
        };
        let hertz = u128::from(self.project.capacity.hertz);
        Cycle::try_from((end * hertz).div_ceil(PICO)).unwrap_or(Cycle::MAX)
    }

    /// What must not change while a run is saved.
    pub fn inputs(&self, arguments: &SystemArguments) -> Result<Vec<CheckpointInput>, Problem> {
        let mut list: Vec<_> = self.load.iter().map(inputs::load).collect();
        if let Some(trace) = &arguments.trace {
            list.push(CheckpointInput::capture(trace)?);
        }
        Ok(list)
    }
}

/// The traffic to make, if any is to be made.
pub fn load(arguments: &SystemArguments, project: &Project) -> Result<Option<Load>, Problem> {
    if arguments.trace.is_some() {
        return Ok(None);
    }
    let options = &arguments.traffic;
    let load = options.over(project.load.as_ref(), arguments.machine.seed);
    match (load, options.shape()) {
        (Some(load), _) => {
            let asked = load.flows;
            let load = npsim::load::resolved(load, project);
            if load.flows > asked {
                output::line(&format!(
                    "note: there are {} flows, not {asked}: each port has one at least",
                    load.flows
                ));
            }
            Ok(Some(load))
        }
        (None, None) => Ok(None),
        (None, Some(option)) => Err(Problem::new(format!(
            "`{option}` shapes traffic, and no traffic is asked for"
        ))
        .help("say how much, such as `--load 0.5` or `--rate 1Mpps`, or give `rate` in the project's [load]")),
    }
}

/// The capture of the run on the project's ports, if there is one.
fn replay(arguments: &SystemArguments, project: &Project) -> anyhow::Result<Option<Replay>> {
    let Some(path) = &arguments.trace else {
        return Ok(None);
    };
    let lines: Vec<_> = project
        .boot
        .ports
        .iter()
        .map(|port| PortLine {
            bits_per_second: port.bits_per_second,
        })
        .collect();
    let pace = arguments
        .speed
        .map_or(arguments.pace, |speed| Pace::Trace { speed });
    let links = if arguments.link {
        LinkTypes::Framed
    } else {
        LinkTypes::Ethernet
    };
    let options = CaptureOptions {
        links,
        padding: arguments.pad.unwrap_or_default(),
    };
    let replay =
        Replay::open_with(path, &lines, arguments.ports, pace, options).map_err(|error| {
            let ReplayError::Pace(error) = error else {
                return anyhow::Error::from(error);
            };
            let problem = Problem::new(format!(
                "the capture cannot be put on the project's ports: {error}"
            ));
            match error {
                PaceError::RecordedPorts => problem.help("leave `--ports` out"),
                PaceError::PortCount { .. } | PaceError::OtherLine { .. } => problem.help(
                    "run what was recorded, or play the frames at the times of the capture with `--pace trace`",
                ),
                PaceError::Overlap { .. } => {
                    problem.help("play its frames at their times, one behind the other, with `--pace trace`")
                }
                PaceError::NoSuchPort { .. } => problem
                    .help("name a port of the project with `--ports`, or add a [[port]] to it"),
                _ => problem,
            }
            .into()
        })?;
    Ok(Some(replay))
}
