//! Points that run on a chip or on a chain of chips: the project with all settings, assembled, its
//! traffic, and the key under which the outcome is saved.

mod chain;
mod execute;

use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::kernel::check::Check;
use npsim_net::Frame;
use npsim_net::capture::Capture;
use npsim_net::load::{Load, TimeSpan};
use npsim_net::pace::{ArrivalSchedule, Pace, PortAssignment, schedule};
use npsim_project::assemble::Program;
use npsim_project::problem::{Problem, Problems};
use npsim_project::quantity::Time;
use npsim_project::{Overrides, Project};
use serde_json::{Value, json};

use crate::fingerprint::{hash, metrics_data, system_data};
use crate::places::SearchPath;
use crate::points::Point;
use crate::results::PointChip;
use crate::store::PointOutcome;
use crate::study::{Study, Sweep, TraceText, WindowText};
use crate::subject::{Execution, Metrics, PointInputs, Subject, one_by_one};
use crate::warm_up::MeasureWindow;
use execute::execute;

/// A capture that is played.
#[derive(Clone, Debug)]
pub(crate) struct PlayedCapture {
    /// The frames.
    pub frames: Arc<[Frame]>,
    /// When they arrive.
    pub plan: Arc<ArrivalSchedule>,
}

/// What comes in at the ports.
#[derive(Clone, Debug)]
pub(crate) enum PointTraffic {
    /// No traffic.
    Nothing,
    /// A capture.
    Trace(PlayedCapture),
    /// What the project's load makes.
    Load(Box<Load>),
}

/// A point that can be run.
#[derive(Clone, Debug)]
pub(crate) struct ChipPoint {
    /// Names its outcome.
    pub key: String,
    /// The project with all settings.
    pub project: Arc<Project>,
    /// What its microengines run.
    pub programs: Arc<[Program]>,
    /// What comes in.
    pub traffic: PointTraffic,
    /// When it is measured.
    pub window: MeasureWindow,
    /// Checks that do not stop it.
    pub allow: Vec<Check>,
    /// Begins the microengines' pseudo-random numbers; the load has it too.
    pub seed: Option<u64>,
    /// How many routers stand one behind the other.
    pub hops: usize,
    /// The chip that it runs on.
    pub chip: PointChip,
}

impl Subject for ChipPoint {
    fn check(study: &Study, sweep: &Sweep) -> Result<(), String> {
        for (name, metric) in study.metrics_of(sweep) {
            if !metric.fits_chips() {
                return Err(format!(
                    "of a chip `{name}` cannot be measured, only of a `network`"
                ));
            }
        }
        match sweep.axis.iter().find(|axis| axis.every.is_some()) {
            Some(axis) => Err(format!(
                "axis `{}`: `every` is of a `network`; a chip is measured in the study's `window`",
                axis.name()
            )),
            None => Ok(()),
        }
    }

    fn prepare(inputs: &PointInputs<'_>, point: &Point) -> Result<Self, Problems> {
        let overrides = Overrides {
            set: point.settings.clone(),
            ..Overrides::default()
        };
        let project = Project::load(
            &inputs.places.find(&inputs.sweep.system)?,
            &overrides,
            &npsim_protocols::registry(),
        )?;
        let programs = assemble(inputs, &project)?;
        let hertz = project.capacity.hertz;
        let window = window(inputs, hertz)?;
        let (traffic, traffic_key) = match (&point.trace, &project.load) {
            (Some(text), _) => {
                let (trace, key) = play(text, &project, inputs.places)?;
                (PointTraffic::Trace(trace), key)
            }
            (None, Some(load)) => {
                let load = make(load, &project, window, point.seed)?;
                let key = serde_json::to_value(&load).map_err(|e| Problem::new(e.to_string()))?;
                (PointTraffic::Load(Box::new(load)), key)
            }
            (None, None) => (PointTraffic::Nothing, Value::Null),
        };
        let mut allow = Vec::new();
        for name in &inputs.sweep.allow {
            let check = name.parse::<Check>().map_err(|_| {
                Problem::new(format!("there is no check `{name}`"))
                    .help("`npsim checks` lists them")
            })?;
            allow.push(check);
        }
        if matches!(traffic, PointTraffic::Nothing) && window.measure.is_none() {
            return Err(Problem::new("without traffic a point needs an end")
                .help("give the study `[window]` with `measure`, such as \"1ms\"")
                .into());
        }
        let key = json!({
            "npsim": env!("CARGO_PKG_VERSION"),
            "model": env!("NPSIM_MODEL"),
            "system": system_data(&project, &programs)?,
            "traffic": traffic_key,
            "window": [window.warm_up, window.measure.unwrap_or(0), u64::from(window.detected)],
            "seed": point.seed,
            "hops": point.hops.unwrap_or(1),
            "allow": inputs.sweep.allow,
            "metrics": metrics_data(&inputs.metrics()),
        });
        Ok(Self {
            chip: PointChip::of(&project).meant(inputs.sweep.other_chip.as_ref()),
            key: hash(key.to_string().as_bytes()),
            project: project.into(),
            programs,
            traffic,
            window,
            allow,
            seed: point.seed,
            hops: point.hops.unwrap_or(1),
        })
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn chip(&self) -> Option<PointChip> {
        Some(self.chip.clone())
    }

    /// Cycles that all its routers simulate if none of them ends early: until the end of
    /// the window, or of the traffic.
    fn cost(&self) -> Cycle {
        let arrivals = || {
            let picoseconds = match &self.traffic {
                PointTraffic::Nothing => 0,
                PointTraffic::Trace(trace) => trace.plan.end_ps(),
                PointTraffic::Load(load) => u128::from(load.time.picoseconds()),
            };
            let hertz = u128::from(self.project.capacity.hertz);
            let cycles = picoseconds * hertz / 1_000_000_000_000;
            Cycle::try_from(cycles).unwrap_or(Cycle::MAX)
        };
        let measured = self.window.measure;
        let end = measured.map(|measure| self.window.warm_up.saturating_add(measure));
        end.unwrap_or_else(arrivals)
            .saturating_mul(self.hops as Cycle)
    }

    fn execute(
        points: &[(Self, Metrics<'_>)],
        execution: &Execution<'_>,
    ) -> Result<Option<Vec<PointOutcome>>, Problem> {
        one_by_one(points, |point, metrics| execute(point, metrics, execution))
    }
}

/// The programs of a project.
fn assemble(inputs: &PointInputs<'_>, project: &Project) -> Result<Arc<[Program]>, Problem> {
    let (programs, messages) = inputs.assemblies.assemble(project);
    let Some(programs) = programs else {
        let first = messages.items.iter().find(|item| item.level == "error");
        let said = first.map_or("it has errors", |item| item.message.as_str());
        let mut problem = Problem::new(format!("the microcode does not assemble: {said}"));
        if let Some(place) = first.and_then(|item| item.primary.as_ref()) {
            problem = problem.note(format!("at {}:{}", place.range.file, place.range.line));
        }
        return Err(problem.help(format!(
            "`npsim check {}` shows the place",
            inputs.sweep.system
        )));
    };
    Ok(programs.into())
}

/// When the points of a sweep are measured.
fn window(inputs: &PointInputs<'_>, hertz: u64) -> Result<MeasureWindow, Problem> {
    let windows = inputs.study.windows(inputs.sweep, inputs.quick);
    let pick = |part: fn(&WindowText) -> &Option<String>| {
        let text = windows.clone().find_map(|w| part(w).as_ref());
        text.map(|text| text.parse::<Time>().map(|time| time.cycles(hertz)))
            .transpose()
            .map_err(Problem::new)
    };
    let measure = pick(|window| &window.measure)?;
    let warm_up = windows.clone().find(|w| w.warm_up.is_some());
    if warm_up.is_some_and(WindowText::is_detected) {
        let most = pick(|window| &window.warm_up_most)?;
        let (Some(warm_up), Some(_)) = (most, measure) else {
            return Err(Problem::new("a warm-up that is detected needs bounds")
                .help("give the longest as `warm_up_most`, and a `measure`"));
        };
        return Ok(MeasureWindow {
            warm_up,
            detected: true,
            measure,
        });
    }
    Ok(MeasureWindow {
        warm_up: pick(|window| &window.warm_up)?.unwrap_or(0),
        detected: false,
        measure,
    })
}

/// The project's load as it comes in at a point: with the destinations of the
/// project, the point's seed if it has one, and for as long as is measured.
fn make(
    load: &Load,
    project: &Project,
    window: MeasureWindow,
    seed: Option<u64>,
) -> Result<Load, Problem> {
    let mut load = npsim_project::load::resolved(load.clone(), project);
    load.seed = seed.unwrap_or(load.seed);
    if let Some(measure) = window.measure {
        let cycles = u128::from(window.warm_up.saturating_add(measure));
        let picoseconds = cycles * 1_000_000_000_000 / u128::from(project.capacity.hertz.max(1));
        load.time = TimeSpan::from_picoseconds(u64::try_from(picoseconds).unwrap_or(u64::MAX));
    }
    // Whether it fits the ports is found before anything runs.
    npsim_project::load::generator(&load, project)?;
    Ok(load)
}

/// A capture on the project's ports, and what of it belongs to the key.
fn play(
    text: &TraceText,
    project: &Project,
    places: &SearchPath,
) -> Result<(PlayedCapture, Value), Problem> {
    let path = places.find(&text.file)?;
    let capture = Capture::open(&path).map_err(|error| Problem::new(error.to_string()))?;
    let pace: Pace = text
        .pace
        .as_deref()
        .unwrap_or("trace")
        .parse()
        .map_err(|error: npsim_net::pace::PaceError| Problem::new(error.to_string()))?;
    let ports: PortAssignment = text
        .ports
        .as_deref()
        .unwrap_or("interface")
        .parse()
        .map_err(|error: npsim_net::pace::PaceError| Problem::new(error.to_string()))?;
    let lines = npsim_project::load::lines(project);
    let plan = schedule(&capture.frames, &lines, ports, pace)
        .map_err(|error| Problem::new(format!("`{}` cannot be played: {error}", path.display())))?;
    let bytes = std::fs::read(&path).map_err(|error| Problem::io("read", &path, &error))?;
    let key = json!([hash(&bytes), format!("{pace:?}"), format!("{ports:?}")]);
    let trace = PlayedCapture {
        frames: capture.frames.into(),
        plan: plan.into(),
    };
    Ok((trace, key))
}
