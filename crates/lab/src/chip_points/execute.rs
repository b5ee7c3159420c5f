//! Runs the chips of a point and measures them.

use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_engine::ENGINE;
use npsim_inspect::stats::Stats;
use npsim_project::load::generator;
use npsim_project::problem::Problem;
use npsim_session::links::{Frames, captured};
use npsim_session::simulation::{Ending, RunSettings};

use super::{ChipPoint, PointTraffic, chain};
use crate::metric::{Measure, Metric};
use crate::observation::{LossCounts, Observation};
use crate::ordering::Ordering as FrameOrder;
use crate::ran::{FinishedRun, FrameJournal, FrameTimes};
use crate::static_counts as code;
use crate::store::PointOutcome;
use crate::subject::{Execution, Metrics};
use crate::warm_up;

/// Reason why nothing was counted.
const SEVERAL_ROUTERS: &str =
    "counts of several routers need a warm-up that is given, not detected";

/// Idle time of the media interface after which a capture counts as handled.
const DRAIN_US: u64 = 100;

/// Runs a point; `None` if it was interrupted.
///
/// There are three kinds of metrics: static ones need no run, counted ones are differences of the
/// chip's counters between the ends of the window, and the others come from the frames seen
/// entering and leaving. If the warm-up is to be detected, the beginning of the window is known
/// only after the run. Frames are therefore recorded from the start, and counters are read at
/// each of the `pauses`, of which [`begin`] then picks one.
///
/// # Errors
/// Returns an error if the programs do not fit the chip, the set-up contradicts itself, or an
/// observation cannot be written.
pub(super) fn execute(
    point: &ChipPoint,
    metrics: &Metrics<'_>,
    execution: &Execution<'_>,
) -> Result<Option<PointOutcome>, Problem> {
    execution.files.refuse_chain(point.hops)?;
    let window = point.window;
    if !metrics.is_empty() && metrics.values().all(|metric| metric.is_static()) {
        let mut outcome = PointOutcome::new(&point.key);
        "not run".clone_into(&mut outcome.ending);
        outcome.hertz = point.project.capacity.hertz;
        outcome.measure(metrics, |metric| static_value(point, metric));
        return Ok(Some(outcome));
    }
    let (frames, flow_slots) = frames(point)?;
    let pauses = warm_up::pauses(window);
    let watch = FrameJournal {
        from: if window.detected { 0 } else { window.warm_up },
        stamps: metrics
            .values()
            .any(|metric| matches!(metric.measure, Measure::Order { .. })),
        seen: Arc::default(),
    };
    let ran = chain::run(point, settings(point), frames, &watch, &pauses, execution)?;
    if ran.ending == Ending::Interrupted {
        return Ok(None);
    }
    let seen = std::mem::take(&mut *watch.seen());
    let (mut outcome, begun) = begin(point, &ran, &seen, &pauses);
    let (observation, counted) = observe(point, &outcome, &ran, begun, (seen, flow_slots))?;
    outcome.fault = fault(&ran.ending);
    let stopped = outcome.fault.clone();
    outcome.measure(metrics, |metric| match &stopped {
        _ if metric.is_static() => static_value(point, metric),
        Some(fault) => Err(format!("the run was stopped: {fault}")),
        None if metric.is_counted() => counted.clone().and_then(|()| observation.value(metric)),
        None => observation.value(metric),
    });
    Ok(Some(outcome))
}

/// The cycle in which the window ends, if its length is given.
fn end(point: &ChipPoint) -> Option<Cycle> {
    let window = point.window;
    let measure = window.measure?;
    Some(window.warm_up.saturating_add(measure))
}

fn settings(point: &ChipPoint) -> RunSettings {
    let end = end(point);
    let megahertz = point.project.capacity.hertz / 1_000_000;
    RunSettings {
        until: end,
        drain: end.is_none().then_some(megahertz * DRAIN_US),
        allow: point.allow.clone(),
        seed: point.seed,
        ..RunSettings::new(ENGINE)
    }
}

/// The incoming frames, and the number of concurrent flows of generated traffic.
fn frames(point: &ChipPoint) -> Result<(Frames, Option<u32>), Problem> {
    Ok(match &point.traffic {
        PointTraffic::Trace(trace) => {
            let frames = captured(Arc::clone(&trace.frames), Arc::clone(&trace.plan));
            (frames, None)
        }
        PointTraffic::Load(load) => {
            let frames = generator(load, &point.project)?;
            let flow_slots = frames.flow_slots();
            (Box::new(frames.map(Ok)), Some(flow_slots))
        }
        PointTraffic::Nothing => (Box::new(std::iter::empty()), None),
    })
}

/// The counts at the beginning of the window, or why they are unknown.
type StartCounts<'a> = Result<&'a (Stats, LossCounts), String>;

/// The outcome with its window, which may have been detected.
fn begin<'a>(
    point: &ChipPoint,
    ran: &'a FinishedRun,
    seen: &FrameTimes,
    pauses: &[Cycle],
) -> (PointOutcome, StartCounts<'a>) {
    let mut outcome = PointOutcome::new(&point.key);
    ran.ending.name().clone_into(&mut outcome.ending);
    outcome.until = end(point).unwrap_or(ran.rest);
    outcome.hertz = point.project.capacity.hertz;
    if !point.window.detected {
        outcome.from = point.window.warm_up;
        return (outcome, Ok(&ran.before));
    }
    let found = warm_up::detect(&seen.left, outcome.until, pauses);
    outcome.from = found.cycle;
    outcome.settled = Some(found.settled);
    let begun = match ran.at_pauses.get(found.pause) {
        // Routers before the last one may have run past a pause.
        _ if point.hops > 1 => Err(SEVERAL_ROUTERS.to_owned()),
        Some(counts) => Ok(counts),
        None => Err("the run ended before the window began".to_owned()),
    };
    (outcome, begun)
}

/// Returns what the run showed in its window, and whether the chip's counts are known at both
/// ends of it.
///
/// `begun` has the counts at the beginning. They are missing if a detected warm-up ends at a
/// cycle at which the counters were not read; metrics that need them then have that reason as
/// their value. Metrics of frames do not need them.
fn observe(
    point: &ChipPoint,
    outcome: &PointOutcome,
    ran: &FinishedRun,
    begun: StartCounts<'_>,
    (seen, flow_slots): (FrameTimes, Option<u32>),
) -> Result<(Observation, Result<(), String>), Problem> {
    let (from, until) = (outcome.from, outcome.until);
    // A first bit belongs to the cycle that it begins, a last bit to the cycle that it ends.
    let begins_inside = |cycle: Cycle| cycle >= from && cycle < until;
    let ends_inside = |cycle: Cycle| cycle > from && cycle <= until;
    let came = seen.came.iter().filter(|&&cycle| begins_inside(cycle));
    let left = { seen.left.into_iter() }.filter(|(end, _)| ends_inside(*end));
    let mut observation = Observation {
        cycles: until.saturating_sub(from),
        hertz: outcome.hertz,
        offered: came.count() as u64,
        left: left.map(|(_, left)| left).collect(),
        ordering: FrameOrder::new(seen.stamps, from, until, flow_slots),
        lost_after: ran.after.1,
        after: json(&ran.after.0)?,
        stages: point.project.stages.clone(),
        ..Observation::default()
    };
    let counted = match begun {
        Ok((stats, lost)) => {
            observation.lost_before = *lost;
            observation.before = json(stats)?;
            Ok(())
        }
        Err(why) => Err(why),
    };
    Ok((observation, counted))
}

/// The fault message if a check stopped the run.
fn fault(ending: &Ending) -> Option<String> {
    let Ending::Fault(fault) = ending else {
        return None;
    };
    let check = fault.check.map(|check| format!(" [{}]", check.name()));
    Some(format!(
        "{}{} at cycle {}",
        fault.message,
        check.unwrap_or_default(),
        fault.cycle
    ))
}

/// The value of a metric that is counted in the programs.
fn static_value(point: &ChipPoint, metric: &Metric) -> Result<f64, String> {
    match &metric.measure {
        Measure::Code(count) => code::value(count, &point.programs, &point.project.stages),
        _ => Err("it is counted in runs, not in programs".into()),
    }
}

fn json(stats: &Stats) -> Result<serde_json::Value, Problem> {
    serde_json::to_value(stats).map_err(|error| Problem::new(error.to_string()))
}
