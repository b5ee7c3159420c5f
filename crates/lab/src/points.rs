//! The points of a study: one run each.

use std::collections::BTreeSet;

use npsim_project::Setting;
use npsim_project::problem::Problem;
use npsim_session::session::MAX_ROUTERS;
use serde::Serialize;

use crate::rounding::close;
use crate::study::{AxisLevel, Study, SubjectKind, Sweep, TraceText};
use crate::windows;

/// The place of a point on an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coordinate {
    /// The axis's name.
    pub axis: String,
    /// The label of the place.
    pub label: String,
    /// Its position.
    pub x: f64,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The point's number, from 1.
    pub number: usize,
    /// The sweep that it belongs to.
    pub sweep: String,
    /// The place on each axis of the sweep.
    pub coordinates: Vec<Coordinate>,
    /// Settings that override the project's.
    pub settings: Vec<Setting>,
    /// The capture to replay, if any.
    pub trace: Option<TraceText>,
    /// Seed of the pseudo-random numbers of generated traffic and of the microengines.
    pub seed: Option<u64>,
    /// The number of routers in series; one if absent.
    pub hops: Option<usize>,
    /// What runs. Settings are parameters for a model, and keys of the file for a
    /// network.
    pub kind: SubjectKind,
    /// The measurement window, such as `10s..20s`, if it is a setting; networks and the
    /// fluid model only.
    pub window: Option<String>,
    /// The number of this run of the place, from 0. Runs differ in their seeds and in
    /// when frames begin to arrive.
    pub run: usize,
}

/// The seed of the second run of a point is one more than this.
const SEED_BASE: u64 = 1000;
/// Bits of a point's own seed that distinguish its runs from those of points with other
/// seeds.
const POINT_SEED_MASK: u64 = 0xffff_ffff;
/// Position of these bits in the seed of a run.
const POINT_SEED_SHIFT: u32 = 24;

impl Point {
    /// All settings as `PATH=VALUE`, including those of the capture, the seed and the
    /// number of routers.
    #[must_use]
    pub fn shown_settings(&self) -> Vec<String> {
        let mut shown: Vec<_> = self.settings.iter().map(ToString::to_string).collect();
        if let Some(trace) = &self.trace {
            shown.push(format!("trace.file={}", trace.file));
            let rest = [("pace", &trace.pace), ("ports", &trace.ports)];
            for (key, value) in rest {
                shown.extend(value.iter().map(|value| format!("trace.{key}={value}")));
            }
        }
        shown.extend(self.seed.map(|seed| format!("seed={seed}")));
        shown.extend(self.hops.map(|hops| format!("hops={hops}")));
        let window = self.window.iter();
        shown.extend(window.map(|window| format!("{}={window}", windows::KEY)));
        shown
    }

    /// The point's name: `normal: load 1.5Mpps, mes 4-5`.
    #[must_use]
    pub fn shown(&self) -> String {
        let places = self.shown_coordinates();
        if places.is_empty() {
            self.sweep.clone()
        } else {
            format!("{}: {places}", self.sweep)
        }
    }

    /// The point as part of a sentence: `in "Normal operation" at load 1.5Mpps, mes 4-5`.
    #[must_use]
    pub fn as_phrase(&self, title: &str) -> String {
        let places = self.shown_coordinates();
        if places.is_empty() {
            format!("in \"{title}\"")
        } else {
            format!("in \"{title}\" at {places}")
        }
    }

    /// A mistake in the point's sweep.
    pub(crate) fn problem(&self, message: &str) -> Problem {
        Problem::new(format!("sweep `{}`: {message}", self.sweep))
    }

    fn shown_coordinates(&self) -> String {
        let places = self.coordinates.iter();
        let places = places.map(|place| format!("{} {}", place.axis, place.label));
        let run = (self.run > 0).then(|| format!("run {}", self.run + 1));
        places.chain(run).collect::<Vec<_>>().join(", ")
    }
}

/// Returns all points of a study, sweep by sweep; the first axis varies fastest. The runs
/// of a point that has several follow one another.
///
/// # Errors
/// Returns an error if a setting is invalid.
pub fn points(study: &Study, quick: bool) -> Result<Vec<Point>, Problem> {
    let mut points = Vec::new();
    let mut taken = BTreeSet::new();
    for (name, sweep) in &study.sweep {
        let mut choices: Vec<Vec<(&str, AxisLevel)>> = vec![Vec::new()];
        for axis in sweep.axis.iter().rev() {
            let places: Vec<AxisLevel> = axis
                .levels()
                .into_iter()
                .filter(|place| {
                    !quick || axis.quick.is_empty() || axis.quick.iter().any(|&q| close(q, place.x))
                })
                .collect();
            choices = choices
                .into_iter()
                .flat_map(|before| {
                    places.iter().map(move |place| {
                        let mut now = before.clone();
                        now.insert(0, (axis.name(), place.clone()));
                        now
                    })
                })
                .collect();
        }
        for choice in choices {
            let x = choice.first().map_or(0.0, |(_, place)| place.x);
            let runs = study.runs(sweep, x, quick);
            let mut first = point(points.len() + 1, name, sweep, choice)?;
            for (path, value) in &study.overrides {
                if first.kind.takes(path) {
                    first.set(path, value)?;
                    taken.insert(path);
                }
            }
            for run in 0..runs {
                points.push(first.again(points.len() + 1, run)?);
            }
        }
    }
    let mut paths = study.overrides.iter().map(|(path, _)| path);
    if let Some(path) = paths.find(|path| !taken.contains(path)) {
        return Err(Problem::new(format!(
            "`{path}` cannot be set in any sweep of the study `{}`",
            study.name
        ))
        .help("systems have `profile.GROUP.NAME`, `define.NAME` and the keys of project files, networks the keys of network files"));
    }
    Ok(points)
}

fn point(
    number: usize,
    name: &str,
    sweep: &Sweep,
    places: Vec<(&str, AxisLevel)>,
) -> Result<Point, Problem> {
    let mut point = Point {
        number,
        sweep: name.to_owned(),
        coordinates: Vec::new(),
        settings: Vec::new(),
        trace: sweep.trace.clone(),
        seed: sweep.seed,
        hops: None,
        kind: sweep.kind(),
        window: None,
        run: 0,
    };
    for (path, value) in &sweep.set {
        point.set(path, &value.text())?;
    }
    for (axis, place) in places {
        for (path, value) in &place.set {
            point.set(path, value)?;
        }
        point.coordinates.push(Coordinate {
            axis: axis.to_owned(),
            label: place.label,
            x: place.x,
        });
    }
    Ok(point)
}

impl Point {
    /// Returns another run of the point, with other seeds and, for generated traffic,
    /// with frames that begin to arrive at other moments on each port.
    fn again(&self, number: usize, run: usize) -> Result<Self, Problem> {
        let mut again = Self {
            number,
            run,
            ..self.clone()
        };
        if run > 0 {
            let seed = SEED_BASE
                + run as u64
                + ((again.point_seed() & POINT_SEED_MASK) << POINT_SEED_SHIFT);
            again.set("seed", &seed.to_string())?;
            if again.trace.is_none() && again.kind == SubjectKind::Chip {
                again.set("load.seed", &seed.to_string())?;
                again.set("load.phase", "random")?;
            }
        }
        Ok(again)
    }

    /// The seed that the study gives the point or its load.
    fn point_seed(&self) -> u64 {
        let loads = self.settings.iter().rev();
        let mut loads = loads.filter_map(|setting| {
            let text = setting.to_string();
            text.strip_prefix("load.seed=")?.parse().ok()
        });
        self.seed.or_else(|| loads.next()).unwrap_or(0)
    }

    fn set(&mut self, path: &str, value: &str) -> Result<(), Problem> {
        let at = |message: String| Problem::new(format!("sweep `{}`: {message}", self.sweep));
        if path == "seed" {
            let seed = value
                .parse()
                .map_err(|_| at(format!("the seed `{value}` is not a whole number from 0")))?;
            self.seed = Some(seed);
            return Ok(());
        }
        if path == windows::KEY {
            if !self.kind.has_windows() {
                return Err(at(format!("`{path}` is a setting of networks"))
                    .help("`[window]` and `[sweep.NAME.window]` have `warm_up` and `measure`"));
            }
            windows::window(value).map_err(at)?;
            self.window = Some(value.to_owned());
            return Ok(());
        }
        if path == "hops" {
            self.hops = Some(routers(value).map_err(at)?);
            return Ok(());
        }
        if let Some(key) = path.strip_prefix("trace.") {
            let Some(trace) = &mut self.trace else {
                return Err(at(format!("`{path}` needs a `trace` with a `file`")));
            };
            match key {
                "file" => value.clone_into(&mut trace.file),
                "pace" => trace.pace = Some(value.to_owned()),
                "ports" => trace.ports = Some(value.to_owned()),
                _ => {
                    return Err(at(format!("there is no `{path}`"))
                        .help("a trace has `file`, `pace` and `ports`"));
                }
            }
            return Ok(());
        }
        if self.trace.is_some() && path.split('.').next() == Some("load") {
            return Err(at(format!(
                "`{path}` shapes generated traffic, but a `trace` replaces it"
            ))
            .help(
                "remove one of them; `trace.pace` and `trace.ports` say how a capture is played",
            ));
        }
        self.settings.push(Setting::new(path, value).map_err(at)?);
        Ok(())
    }
}

/// Parses a number of routers.
///
/// # Errors
/// Returns a description of the problem if it is not a valid number of routers.
fn routers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(hops) if (1..=MAX_ROUTERS).contains(&hops) => Ok(hops),
        _ => Err(format!(
            "`{text}` is not a number of routers; `hops` is a whole number from 1 to {MAX_ROUTERS}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::points;
    use crate::study::Study;

    const TEXT: &str = r#"
name = "s"
title = "t"
[metric.rate]
measure = "egress-rate"
[sweep.a]
system = "x"
set = { "port.0.rate" = "1Gbps" }
trace = { file = "t.pcap" }
[[sweep.a.axis]]
name = "pace"
key = "trace.pace"
values = ["1Mpps", "2Mpps"]
quick = [2]
[[sweep.a.axis]]
name = "variant"
step = [{ x = 1, set = { "define.A" = 1 } }, { x = 2, label = "two", set = { "define.A" = 2, seed = 7 } }]
[sweep.b]
system = "y"
"#;

    #[test]
    fn first_axis_varies_fastest() {
        let study = Study::parse("s", TEXT).unwrap();
        let all = points(&study, false).unwrap();
        let shown: Vec<_> = all.iter().map(super::Point::shown).collect();
        assert_eq!(
            shown,
            [
                "a: pace 1Mpps, variant 1",
                "a: pace 2Mpps, variant 1",
                "a: pace 1Mpps, variant two",
                "a: pace 2Mpps, variant two",
                "b"
            ]
        );
        let last = &all[3];
        let settings: Vec<_> = last.settings.iter().map(ToString::to_string).collect();
        assert_eq!(settings, ["port.0.rate=1Gbps", "define.A=2"]);
        assert_eq!(last.trace.as_ref().unwrap().pace.as_deref(), Some("2Mpps"));
        assert_eq!((last.seed, last.number), (Some(7), 4));
        assert_eq!(points(&study, true).unwrap().len(), 3);
    }

    #[test]
    fn runs_of_a_point_differ_in_seeds_and_phases() {
        let text = r#"
name = "s"
title = "t"
[replication]
runs = 3
[metric.rate]
measure = "egress-rate"
[sweep.a]
system = "x"
replicate = [2]
[[sweep.a.axis]]
name = "load"
key = "load.rate"
values = ["1Mpps", "2Mpps"]
"#;
        let study = Study::parse("s", text).unwrap();
        let all = points(&study, false).unwrap();
        let shown: Vec<_> = all.iter().map(super::Point::shown).collect();
        assert_eq!(
            shown,
            [
                "a: load 1Mpps",
                "a: load 2Mpps",
                "a: load 2Mpps, run 2",
                "a: load 2Mpps, run 3"
            ]
        );
        let settings: Vec<_> = all.iter().map(super::Point::shown_settings).collect();
        assert_eq!(settings[1], ["load.rate=2Mpps"], "the first is as it was");
        assert_eq!(
            settings[3],
            [
                "load.rate=2Mpps",
                "load.seed=1002",
                "load.phase=random",
                "seed=1002"
            ]
        );
        assert_eq!((all[3].run, all[3].number), (2, 4));
        assert_eq!(points(&study, true).unwrap().len(), 2);
        for key in ["seed", "load.seed"] {
            let axis = "[[sweep.a.axis]]\nname = \"seed\"\nkey = \"KEY\"\nvalues = [1, 2]\n";
            let seeds = format!("{text}{}", axis.replace("KEY", key));
            let all = points(&Study::parse("s", &seeds).unwrap(), false).unwrap();
            let mut seen: Vec<_> = all.iter().map(super::Point::shown_settings).collect();
            let count = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), count, "no run is that of another {key}");
        }
        let wrong = text.replace("replicate = [2]", "replicate = [5]");
        let message = Study::parse("s", &wrong).unwrap_err().to_string();
        assert!(message.contains("where there is no point"), "{message}");
        let wrong = text.replace("runs = 3", "runs = 0");
        assert!(Study::parse("s", &wrong).is_err());
    }

    #[test]
    fn load_and_trace_together_are_refused() {
        for (there, load) in [
            (r#""port.0.rate" = "1Gbps""#, r#""load.size" = 64"#),
            (
                r#"set = { "define.A" = 1 }"#,
                r#"set = { "load.rate" = "1Mpps" }"#,
            ),
        ] {
            assert!(TEXT.contains(there));
            let both = TEXT.replace(there, load);
            let message = points(&Study::parse("s", &both).unwrap(), false)
                .unwrap_err()
                .to_string();
            assert!(message.contains("shapes generated traffic"), "{message}");
            let made = both
                .replace("trace = { file = \"t.pcap\" }", "")
                .replace("trace.pace", "define.B");
            assert!(points(&Study::parse("s", &made).unwrap(), false).is_ok());
        }
    }

    #[test]
    fn a_trace_key_needs_a_trace() {
        let without = TEXT.replace("trace = { file = \"t.pcap\" }", "");
        let message = points(&Study::parse("s", &without).unwrap(), false)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("`trace.pace` needs a `trace`"),
            "{message}"
        );
        let wrong = TEXT.replace("trace.pace", "trace.speed");
        assert!(points(&Study::parse("s", &wrong).unwrap(), false).is_err());
    }
}
