//! Where the frames of a run come from.

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

/// What comes in at the ports of a system.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// No traffic.
    None,
    /// Frames that are made as they come.
    Load(Box<Load>),
    /// The frames of a capture.
    Capture(Box<CaptureTraffic>),
}

/// A capture, and how its frames are put on the ports.
#[derive(Clone, Debug)]
pub struct CaptureTraffic {
    /// The file, pcap or pcapng, also compressed.
    pub path: PathBuf,
    /// The file's bytes, if it is not on the disk.
    pub bytes: Option<Arc<[u8]>>,
    /// When frames arrive.
    pub pace: Pace,
    /// By which ports.
    pub ports: PortAssignment,
    /// Which captures are taken, and what becomes of cut frames.
    pub options: CaptureOptions,
}

impl CaptureTraffic {
    /// The frames at the times of the capture, on the ports of its interfaces.
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
    /// Generated traffic at a share of the lines' rate (`0.33`), at so many bits (`1Gbps`) or
    /// frames (`1Mpps`) a second; everything else as a load has it that says nothing else.
    ///
    /// # Errors
    /// It is no rate.
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

    /// Generated traffic for so long, such as `2ms`; other traffic stays as it is.
    ///
    /// # Errors
    /// It is no time.
    pub fn lasting(mut self, time: &str) -> Result<Self, Problem> {
        if let Self::Load(load) = &mut self {
            load.time = time
                .parse()
                .map_err(|error| Problem::new(format!("{error}")))?;
        }
        Ok(self)
    }
}

/// Traffic that fits a project's ports, and can be put on its lines again and again.
#[derive(Debug)]
pub struct TrafficSource<'a> {
    project: &'a Project,
    load: Option<Load>,
    replay: Option<Replay>,
}

impl<'a> TrafficSource<'a> {
    /// Looks through the capture, or completes the load.
    ///
    /// # Errors
    /// The capture cannot be read, or does not fit the ports.
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

    /// Whether any frames are to come.
    #[must_use]
    pub fn comes(&self) -> bool {
        self.load.is_some() || self.replay.is_some()
    }

    /// The load, complete, if frames are made.
    #[must_use]
    pub fn load(&self) -> Option<&Load> {
        self.load.as_ref()
    }

    /// What a recording says besides its frames.
    #[must_use]
    pub fn recording(&self) -> Option<&RecordingSurvey> {
        self.survey()?.recording.as_ref()
    }

    /// What was found in the capture.
    #[must_use]
    pub fn survey(&self) -> Option<&Survey> {
        self.replay.as_ref().map(Replay::survey)
    }

    /// The frames, and what is added to times for captures, ns since 1970.
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
        // Where a capture is to be written, they fit.
        let first_ns = self.survey().map_or(0, |survey| survey.first_timestamp_ns);
        let origin_ns = u64::try_from(first_ns).unwrap_or(0);
        Ok((frames, origin_ns))
    }

    /// Both ends of a network into which nothing has come yet.
    ///
    /// # Errors
    /// The load does not fit the ports, or the capture can no longer be read.
    pub fn ends(&self) -> Result<Endpoints, Problem> {
        let (frames, origin_ns) = self.frames()?;
        Ok(Endpoints {
            frames: Some(frames),
            load: self.load.clone(),
            origin_ns,
            ..Endpoints::default()
        })
    }

    /// When the last frame has come, in cycles of the microengines.
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
            Replay::of_bytes(file, &lines, *ports, *pace, *options)
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
            PaceError::PortCount { .. } | PaceError::OtherLine { .. } => problem.help(
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
