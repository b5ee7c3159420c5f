//! Runs one point and measures it.

use std::collections::BTreeMap;
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_engine::ENGINE;
use npsim_inspect::stats::Stats;
use npsim_project::load::generator;
use npsim_project::problem::Problem;
use npsim_session::links::{Frames, captured};
use npsim_session::simulation::{Ending, Settings};

use crate::hops;
use crate::metric::{Measure, Metric};
use crate::observation::Observation;
use crate::observed::PointFiles;
use crate::ordering::Ordering as FrameOrder;
use crate::prepare::{Ready, Traffic};
use crate::ran::{Journal, Ran};
use crate::static_counts as code;
use crate::store::{Outcome, Reading};
use crate::warm_up;

/// Why nothing was counted.
const SEVERAL: &str = "counts of several routers need a warm-up that is given, not detected";

/// How long the media interface rests before a capture counts as handled.
const DRAIN_US: u64 = 100;

/// Runs a point; `None` if it was broken off. `come_to` is told how far it is, in
/// cycles, from any thread, and whether to go on is its answer. Routers of a chain run
/// on so many `threads`.
///
/// # Errors
/// The programs do not fit the chip, the set-up contradicts itself, or what is
/// observed cannot be written.
pub fn execute(
    ready: &Ready,
    metrics: &BTreeMap<&str, &Metric>,
    files: &PointFiles,
    threads: usize,
    come_to: &(dyn Fn(Cycle) -> bool + Sync),
) -> Result<Option<Outcome>, Problem> {
    files.refuse_chain(ready.hops)?;
    let hertz = ready.project.capacity.hertz;
    let window = ready.window;
    if !metrics.is_empty() && metrics.values().all(|metric| metric.is_static()) {
        let mut outcome = Outcome::new(&ready.key);
        "not run".clone_into(&mut outcome.ending);
        outcome.hertz = hertz;
        for (&name, metric) in metrics {
            let value = static_value(ready, metric);
            outcome
                .metrics
                .insert(name.to_owned(), Reading::from(value));
        }
        return Ok(Some(outcome));
    }
    let end = window
        .measure
        .map(|measure| window.warm_up.saturating_add(measure));
    let settings = Settings {
        until: end,
        drain: end.is_none().then_some(hertz / 1_000_000 * DRAIN_US),
        allow: ready.allow.clone(),
        seed: ready.seed,
        core: ENGINE,
        no_skip: false,
    };
    let mut flow_slots = None;
    let frames: Frames = match &ready.traffic {
        Traffic::Trace(trace) => captured(Arc::clone(&trace.frames), Arc::clone(&trace.plan)),
        Traffic::Load(load) => {
            let frames = generator(load, &ready.project)?;
            flow_slots = Some(frames.flow_slots());
            Box::new(frames.map(Ok))
        }
        Traffic::Nothing => Box::new(std::iter::empty()),
    };
    let pauses = warm_up::pauses(window);
    let watch = Journal {
        from: if window.detected { 0 } else { window.warm_up },
        stamps: metrics
            .values()
            .any(|metric| matches!(metric.measure, Measure::Order { .. })),
        seen: Arc::default(),
    };
    let Ran {
        ending,
        before,
        at_pauses,
        after,
        rest,
    } = hops::run(
        ready,
        settings,
        frames,
        (&watch, files),
        &pauses,
        threads,
        come_to,
    )?;
    if ending == Ending::Interrupted {
        return Ok(None);
    }
    let until = end.unwrap_or(rest);
    let mut outcome = Outcome::new(&ready.key);
    ending.name().clone_into(&mut outcome.ending);
    let seen = std::mem::take(&mut *watch.seen());
    let mut from = window.warm_up;
    let mut before = Ok(before);
    if window.detected {
        let found = warm_up::detect(&seen.left, until, &pauses);
        from = found.cycle;
        outcome.settled = Some(found.settled);
        before = match at_pauses.into_iter().nth(found.pause) {
            // Those before the last router may have run ahead of a pause.
            _ if ready.hops > 1 => Err(SEVERAL.to_owned()),
            Some(counts) => Ok(counts),
            None => Err("the run ended before the window began".to_owned()),
        };
    }
    (outcome.from, outcome.until, outcome.hertz) = (from, until, hertz);
    let mut observation = Observation {
        cycles: until.saturating_sub(from),
        hertz,
        lost_after: after.1,
        after: json(&after.0)?,
        stages: ready.project.stages.clone(),
        ..Observation::default()
    };
    let counted = before.map(|(stats, lost)| {
        observation.lost_before = lost;
        stats
    });
    let counted = match counted {
        Ok(stats) => {
            observation.before = json(&stats)?;
            Ok(())
        }
        Err(why) => Err(why),
    };
    // A first bit belongs to the cycle that it begins, a last bit to the one that it ends.
    let begins_inside = |cycle: Cycle| cycle >= from && cycle < until;
    let ends_inside = |cycle: Cycle| cycle > from && cycle <= until;
    observation.offered = seen
        .came
        .iter()
        .filter(|&&cycle| begins_inside(cycle))
        .count() as u64;
    observation.ordering = FrameOrder::new(seen.stamps, from, until, flow_slots);
    observation.left = seen
        .left
        .into_iter()
        .filter(|(end, _)| ends_inside(*end))
        .map(|(_, left)| left)
        .collect();
    outcome.fault = match &ending {
        Ending::Fault(fault) => Some(match fault.check {
            Some(check) => format!(
                "{} [{}] at cycle {}",
                fault.message,
                check.name(),
                fault.cycle
            ),
            None => format!("{} at cycle {}", fault.message, fault.cycle),
        }),
        _ => None,
    };
    for (&name, metric) in metrics {
        let value = match &outcome.fault {
            _ if metric.is_static() => static_value(ready, metric),
            Some(fault) => Err(format!("the run was stopped: {fault}")),
            None if metric.is_counted() => counted.clone().and_then(|()| observation.value(metric)),
            None => observation.value(metric),
        };
        outcome
            .metrics
            .insert(name.to_owned(), Reading::from(value));
    }
    Ok(Some(outcome))
}

/// The value of a metric that is counted in the programs.
fn static_value(ready: &Ready, metric: &Metric) -> Result<f64, String> {
    match &metric.measure {
        Measure::Code(count) => code::value(count, &ready.programs, &ready.project.stages),
        _ => Err("it is counted in runs, not in programs".into()),
    }
}

fn json(stats: &Stats) -> Result<serde_json::Value, Problem> {
    serde_json::to_value(stats).map_err(|error| Problem::new(error.to_string()))
}
