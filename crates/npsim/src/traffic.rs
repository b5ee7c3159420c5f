//! The source of a run's frames.

use std::path::PathBuf;
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_net::Ratio;
use npsim_net::capture::{CaptureOptions, LinkTypes};
use npsim_net::load::Load;
use npsim_net::pace::{Pace, PaceError, PortAssignment, Replay, ReplayError, Survey};
use npsim_net::recording::RecordingSurvey;
use npsim_project::Project;
use npsim_project::problem::Problem;
use npsim_session::links::Frames;
use npsim_session::session::Endpoints;

const PICO: u128 = 1_000_000_000_000;

/// The traffic that arrives at the ports of a system.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// No traffic.
    None,
    /// Frames generated during the run.
    Load(Box<Load>),
    /// The frames of a capture.
    Capture(Box<CaptureTraffic>),
}

/// A capture, and how its frames are assigned to ports and times.
#[derive(Clone, Debug)]
pub struct CaptureTraffic {
    /// The path of the file: pcap or pcapng, optionally compressed.
    pub path: PathBuf,
    /// The file's contents, if it is not on disk.
    pub bytes: Option<Arc<[u8]>>,
    /// When frames arrive.
    pub pace: Pace,
    /// The ports at which frames arrive.
    pub ports: PortAssignment,
    /// Which captures are accepted, and how truncated frames are handled.
    pub options: CaptureOptions,
}

impl CaptureTraffic {
    /// The capture's frames at their recorded times, on the ports of their interfaces.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            bytes: None,
            pace: Pace::Trace { speed: Ratio::ONE },
            ports: PortAssignment::ByInterface,
            options: LinkTypes::Ethernet.into(),
        }
    }
}

impl Traffic {
    /// Generated traffic at a share of the line rate (`0.33`), or at a number of bits (`1Gbps`) or
    /// frames (`1Mpps`) per second; everything else has the defaults of a load.
    ///
    /// # Errors
    /// Returns an error if `rate` is not a valid rate.
    pub fn load(rate: &str) -> Result<Self, Problem> {
        let rate = rate
            .parse()
            .map_err(|error| Problem::new(format!("{error}")))?;
        Ok(Self::Load(Box::new(Load {
            rate: Some(rate),
            ..Load::default()
        })))
    }

    /// The frames of a capture, as in [`CaptureTraffic::new`].
    #[must_use]
    pub fn capture(path: impl Into<PathBuf>) -> Self {
        Self::Capture(Box::new(CaptureTraffic::new(path)))
    }

    /// Limits generated traffic to a duration such as `2ms`; other traffic is unchanged.
    ///
    /// # Errors
    /// Returns an error if `time` is not a valid time.
    pub fn lasting(mut self, time: &str) -> Result<Self, Problem> {
        if let Self::Load(load) = &mut self {
            load.time = time
                .parse()
                .map_err(|error| Problem::new(format!("{error}")))?;
        }
        Ok(self)
    }
}

/// Traffic checked against a project's ports, which can be sent any number of times.
#[derive(Debug)]
pub struct TrafficSource<'a> {
    project: &'a Project,
    load: Option<Load>,
    replay: Option<Replay>,
}

impl<'a> TrafficSource<'a> {
    /// Surveys the capture, or fills in the load's defaults.
    ///
    /// # Errors
    /// Returns an error if the capture cannot be read, or does not fit the ports.
    pub fn open(traffic: Traffic, project: &'a Project) -> Result<Self, Problem> {
        let (load, replay) = match traffic {
            Traffic::None => (None, None),
            Traffic::Load(load) => (Some(npsim_project::load::resolved(*load, project)), None),
            Traffic::Capture(capture) => (None, Some(replay(&capture, project)?)),
        };
        Ok(Self {
            project,
            load,
            replay,
        })
    }

    /// Whether there is any traffic.
    #[must_use]
    pub fn has_traffic(&self) -> bool {
        self.load.is_some() || self.replay.is_some()
    }

    /// The load with its defaults filled in, if frames are generated.
    #[must_use]
    pub fn load(&self) -> Option<&Load> {
        self.load.as_ref()
    }

    /// What a recording contains besides its frames.
    #[must_use]
    pub fn recording(&self) -> Option<&RecordingSurvey> {
        self.survey()?.recording.as_ref()
    }

    /// The survey of the capture, if there is one.
    #[must_use]
    pub fn survey(&self) -> Option<&Survey> {
        self.replay.as_ref().map(Replay::survey)
    }

    /// The frames, and the offset of their times in captures, in nanoseconds since 1970.
    fn frames(&self) -> Result<(Frames, u64), Problem> {
        let frames: Frames = match (&self.load, &self.replay) {
            (Some(load), _) => {
                Box::new(npsim_project::load::generator(load, self.project)?.map(Ok))
            }
            (None, Some(replay)) => Box::new(
                replay
                    .frames()
                    .map_err(|error| Problem::new(error.to_string()))?,
            ),
            (None, None) => Box::new(std::iter::empty()),
        };
        // Times that can be written to a capture fit.
        let first_ns = self.survey().map_or(0, |survey| survey.first_timestamp_ns);
        let origin_ns = u64::try_from(first_ns).unwrap_or(0);
        Ok((frames, origin_ns))
    }

    /// The endpoints of a network that no frame has entered yet.
    ///
    /// # Errors
    /// Returns an error if the load does not fit the ports, or the capture can no longer be read.
    pub fn ends(&self) -> Result<Endpoints, Problem> {
        let (frames, origin_ns) = self.frames()?;
        Ok(Endpoints {
            frames: Some(frames),
            load: self.load.clone(),
            origin_ns,
            ..Endpoints::default()
        })
    }

    /// The time at which the last frame has arrived, in microengine cycles.
    #[must_use]
    pub fn arrivals_end(&self) -> Cycle {
        let end = match (&self.load, self.survey()) {
            (Some(load), _) => u128::from(load.time.picoseconds()),
            (None, Some(survey)) => survey.plan.end_ps(),
            (None, None) => 0,
        };
        let hertz = u128::from(self.project.capacity.hertz);
        Cycle::try_from((end * hertz).div_ceil(PICO)).unwrap_or(Cycle::MAX)
    }
}

/// The capture on the project's ports.
fn replay(capture: &CaptureTraffic, project: &Project) -> Result<Replay, Problem> {
    let lines = npsim_project::load::lines(project);
    let CaptureTraffic {
        path,
        bytes,
        pace,
        ports,
        options,
    } = capture;
    let replay = match bytes {
        Some(bytes) => {
            let file = (path.as_path(), Arc::clone(bytes));
            Replay::from_bytes(file, &lines, *ports, *pace, *options)
        }
        None => Replay::open_with(path, &lines, *ports, *pace, *options),
    };
    replay.map_err(|error| {
        let ReplayError::Pace(error) = error else {
            return Problem::new(error.to_string());
        };
        let problem = Problem::new(format!(
            "the capture cannot be put on the project's ports: {error}"
        ));
        match error {
            PaceError::RecordedPorts => problem.help("leave `--ports` out"),
            PaceError::PortCount { .. } | PaceError::LineRateMismatch { .. } => problem.help(
                "run what was recorded, or play the frames at the times of the capture with `--pace trace`",
            ),
            PaceError::Overlap { .. } => problem.help(
                "play its frames at their times, one behind the other, with `--pace trace`",
            ),
            PaceError::NoSuchPort { .. } => problem
                .help("name a port of the project with `--ports`, or add a [[port]] to it"),
            _ => problem,
        }
    })
}
