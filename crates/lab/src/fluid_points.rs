//! Points without chips or packets: the fluid model of XCP, for comparison with
//! networks.

use std::ops::Range;

use npsim_chip::Cycle;
use npsim_project::Setting;
use npsim_project::problem::{Problem, Problems};
use npsim_protocols::xcp::fluid::{Fluid, FluidState};
use serde_json::json;

use crate::fingerprint::{hash, metrics_data};
use crate::metric::{Measure, Metric, Utilisation};
use crate::points::Point;
use crate::store::PointOutcome;
use crate::study::{Study, Sweep};
use crate::subject::{Execution, Metrics, PointInputs, Subject, one_by_one};
use crate::windows;

/// Settings of a point: the model's parameters.
const NAMES: [&str; 10] = [
    "capacity_mbps",
    "estimated_mbps",
    "alpha",
    "beta",
    "rtt_ms",
    "waits",
    "linear",
    "max_interval_ms",
    "rate_mbps",
    "limit_kb",
];
/// Bytes per second in a megabit per second.
const MEGABIT: f64 = 125_000.0;
/// Picoseconds in a second.
const SECOND: f64 = 1e12;

/// The model of a point, with the key under which its outcome is saved.
pub(crate) struct FluidPoint {
    key: String,
    model: Fluid,
    /// In picoseconds.
    window: Range<u64>,
}

impl Subject for FluidPoint {
    fn check(study: &Study, sweep: &Sweep) -> Result<(), String> {
        for name in sweep.keys() {
            if !NAMES.contains(&name.as_str()) && name != windows::KEY {
                return Err(format!(
                    "there is no `{name}`; the fluid model has {}",
                    NAMES.join(", ")
                ));
            }
        }
        if sweep.trace.is_some() || !sweep.allow.is_empty() || sweep.other_chip.is_some() {
            return Err("the fluid model has no capture, no checks and no chip".into());
        }
        for (name, metric) in study.metrics_of(sweep) {
            let known = matches!(
                metric.measure,
                Measure::Queue { .. } | Measure::Utilisation(Utilisation::Link(_))
            );
            if !known {
                return Err(format!(
                    "`{name}` cannot be measured on the fluid model; the queue and the utilisation of its one link can"
                ));
            }
        }
        Ok(())
    }

    fn prepare(inputs: &PointInputs<'_>, point: &Point) -> Result<Self, Problems> {
        let at = |message: String| point.problem(&message);
        let model = model(&point.settings).map_err(at)?;
        let window = match &point.window {
            Some(text) => windows::window(text).map_err(at)?,
            None => match inputs
                .study
                .time_window(inputs.sweep, inputs.quick)
                .map_err(at)?
            {
                (from, Some(until)) => from.unwrap_or(0)..until,
                _ => {
                    return Err(at("the fluid model needs a window with a `measure`".into()).into());
                }
            },
        };
        if (window.end as f64 / SECOND) / model.step() > 1e7 {
            return Err(at("the window ends after more steps than can be kept".into()).into());
        }
        let key = json!({
            "model": env!("NPSIM_MODEL"),
            "fluid": format!("{model:?}"),
            "window": [window.start, window.end],
            "metrics": metrics_data(&inputs.metrics()),
        });
        Ok(Self {
            key: hash(key.to_string().as_bytes()),
            model,
            window,
        })
    }

    fn key(&self) -> &str {
        &self.key
    }

    /// Steps of the model, each of which costs about as much as a cycle of a chip.
    fn cost(&self) -> Cycle {
        (self.window.end as f64 / SECOND / self.model.step()) as u64
    }

    fn execute(
        points: &[(Self, Metrics<'_>)],
        execution: &Execution<'_>,
    ) -> Result<Option<Vec<PointOutcome>>, Problem> {
        let proceed = || (execution.proceed)(0);
        one_by_one(points, |point, metrics| Ok(point.run(metrics, &proceed)))
    }
}

impl FluidPoint {
    /// Runs the model as long as `proceed` returns `true`; `None` if interrupted.
    fn run(&self, metrics: &Metrics<'_>, proceed: &dyn Fn() -> bool) -> Option<PointOutcome> {
        let mut outcome = PointOutcome::new(&self.key);
        "end of the window".clone_into(&mut outcome.ending);
        outcome.from = self.window.start;
        outcome.until = self.window.end;
        // Times are in picoseconds.
        outcome.hertz = SECOND as u64;
        let until = self.window.end as f64 / SECOND;
        let states = self.model.run_while(until, proceed)?;
        let first = (self.window.start as f64 / SECOND / self.model.step()) as usize;
        let seen = states.get(first..).unwrap_or_default();
        outcome.measure(metrics, |metric| value(&self.model, seen, metric));
        Some(outcome)
    }
}

/// Builds the model with the settings as its parameters.
fn model(settings: &[Setting]) -> Result<Fluid, String> {
    let mut model = Fluid {
        capacity: 10.0 * MEGABIT,
        estimated: 10.0 * MEGABIT,
        alpha: 0.4,
        beta: 0.226,
        rtt: 0.5,
        waits: false,
        linear: false,
        max_interval: 1.0,
        rate: 0.5 * MEGABIT,
        limit: None,
    };
    for setting in settings {
        let (name, text) = (setting.path(), setting.value());
        let wrong = || format!("`{setting}`: a number above 0 is needed");
        let switch = match name.as_str() {
            "waits" => Some(&mut model.waits),
            "linear" => Some(&mut model.linear),
            _ => None,
        };
        if let Some(switch) = switch {
            *switch = text
                .parse()
                .map_err(|_| format!("`{setting}`: `true` or `false` is needed"))?;
            continue;
        }
        let number: f64 = text.parse().map_err(|_| wrong())?;
        if !(number > 0.0 && number < 1e9) {
            return Err(wrong());
        }
        match name.as_str() {
            "capacity_mbps" => model.capacity = number * MEGABIT,
            "estimated_mbps" => model.estimated = number * MEGABIT,
            "alpha" => model.alpha = number,
            "beta" => model.beta = number,
            "rtt_ms" => model.rtt = number / 1e3,
            "max_interval_ms" => model.max_interval = number / 1e3,
            "rate_mbps" => model.rate = number * MEGABIT,
            _ => model.limit = Some(number * 1e3),
        }
    }
    Ok(model)
}

fn value(model: &Fluid, states: &[FluidState], metric: &Metric) -> Result<f64, String> {
    if states.is_empty() {
        return Err("the window is shorter than a step".into());
    }
    let mean =
        |of: &dyn Fn(&FluidState) -> f64| states.iter().map(of).sum::<f64>() / states.len() as f64;
    match metric.measure {
        Measure::Queue { longest: true, .. } => {
            let queues = states.iter().map(|state| state.queue);
            Ok(queues.fold(0.0, f64::max) / 1e3)
        }
        Measure::Queue { .. } => Ok(mean(&|state| state.queue) / 1e3),
        // The link forwards everything that arrives, and sends at full rate while
        // there is a queue.
        _ => Ok(100.0
            * mean(&|state| {
                let busy = state.queue > 0.0 || state.rate >= model.capacity;
                if busy {
                    1.0
                } else {
                    state.rate / model.capacity
                }
            })),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::FluidPoint;
    use crate::assemblies::Assemblies;
    use crate::places::SearchPath;
    use crate::points::points;
    use crate::study::Study;
    use crate::subject::{PointInputs, Subject as _};

    fn study(sweep: &str) -> Result<Study, String> {
        let text = format!(
            "name = \"s\"\ntitle = \"t\"\n[window]\nwarm_up = \"30s\"\nmeasure = \"60s\"\n\
             [metric.queue]\nmeasure = \"queue\"\nlink = \"any\"\n\
             [metric.used]\nmeasure = \"utilisation\"\nlink = \"any\"\n\
             [metric.jain]\nmeasure = \"jain\"\n[sweep.a]\nfluid = true\n{sweep}"
        );
        Study::parse("s.toml", &text).map_err(|problem| problem.to_string())
    }

    /// Prepares the first point of the only sweep.
    fn prepare(study: &Study) -> Result<FluidPoint, String> {
        let inputs = PointInputs {
            study,
            sweep: &study.sweep["a"],
            quick: false,
            places: &SearchPath::default(),
            assemblies: &Assemblies::default(),
        };
        let point = &points(study, false).unwrap()[0];
        FluidPoint::prepare(&inputs, point).map_err(|problems| problems.to_string())
    }

    #[test]
    fn fluid_model_measures_queue_and_utilisation() {
        let good = "metrics = [\"queue\", \"used\"]\nset = { estimated_mbps = 11 }";
        let study = study(good).unwrap();
        let ready = prepare(&study).unwrap();
        let metrics = study.metrics_of(&study.sweep["a"]);
        let outcome = ready.run(&metrics, &|| true).unwrap();
        let of = |name: &str| outcome.metrics[name].value.unwrap();
        // alpha / beta x 0.5 s x 125 KB/s
        assert!((of("queue") - 110.6).abs() < 1.0, "{}", of("queue"));
        assert!(of("used") > 99.9);
    }

    #[test]
    fn interrupted_fluid_run_stops_early() {
        let study = study("metrics = [\"queue\"]\nset = { rtt_ms = 5 }").unwrap();
        let ready = prepare(&study).unwrap();
        let asked = Cell::new(0);
        let proceed = || asked.replace(asked.get() + 1) < 3;
        let metrics = study.metrics_of(&study.sweep["a"]);
        assert!(ready.run(&metrics, &proceed).is_none());
        assert_eq!(asked.get(), 4);
    }

    #[test]
    fn unknown_fluid_keys_and_metrics_are_refused() {
        let refused = |sweep: &str| study(sweep).unwrap_err();
        assert!(refused("metrics = [\"jain\"]").contains("`jain` cannot be measured"));
        let metrics = "metrics = [\"queue\"]\n";
        let unknown = refused(&format!("{metrics}set = {{ gamma = 1 }}"));
        assert!(unknown.contains("no `gamma`") && unknown.contains("alpha"));
        let study = study(&format!("{metrics}set = {{ alpha = 0 }}")).unwrap();
        let problem = prepare(&study).err().expect("a mistake");
        assert!(problem.contains("above 0"));
    }
}
