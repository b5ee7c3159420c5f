//! Checks that sweeps can be run.

use super::is_sound;
use crate::chip_points::ChipPoint;
use crate::fluid_points::FluidPoint;
use crate::network_points::NetworkPoint;
use crate::petri_points::PetriPoint;
use crate::rounding::close;
use crate::study::{Axis, Replicated, Study, SubjectKind, Sweep, WindowText};
use crate::subject::Subject as _;
use npsim_project::Setting;
use npsim_project::problem::Problem;
use npsim_project::quantity::Time;
use std::collections::BTreeSet;

/// Maximum points of a sweep: more than a day of the quickest runs.
const MAX_POINTS: usize = 100_000;

pub(super) fn check_window(window: &WindowText) -> Result<(), Problem> {
    let detected = window.is_detected();
    let given = Some(&window.warm_up).filter(|_| !detected);
    let times = [&window.warm_up_most, &window.measure];
    for text in given.into_iter().chain(times).flatten() {
        text.parse::<Time>().map_err(Problem::new)?;
    }
    if !detected && window.warm_up.is_some() && window.warm_up_most.is_some() {
        return Err(Problem::new(
            "`warm_up_most` bounds a warm-up that is detected; this one is given",
        )
        .help("write `warm_up = \"detected\"`, or leave `warm_up_most` out"));
    }
    if let Some(text) = &window.measure
        && text.parse() == Ok(Time::Picoseconds(0))
    {
        return Err(Problem::new(
            "nothing can be measured in a `measure` of no time",
        ));
    }
    Ok(())
}

pub(super) fn check_sweep(study: &Study, name: &str, sweep: &Sweep) -> Result<(), Problem> {
    let at = |message: String| Problem::new(format!("sweep `{name}`: {message}"));
    for metric in &sweep.metrics {
        if !study.metric.contains_key(metric) {
            return Err(at(format!("there is no metric `{metric}`"))
                .suggest_or_list(metric, study.metric.keys()));
        }
    }
    if name.contains('.') {
        return Err(at(
            "a dot in the name would be confused with the metric's".into()
        ));
    }
    check_paths(sweep.set.keys()).map_err(at)?;
    let systems = [
        !sweep.system.is_empty(),
        sweep.net,
        sweep.fluid,
        !sweep.network.is_empty(),
    ];
    if systems.iter().filter(|given| **given).count() != 1 {
        return Err(at(
            "it needs either a `system`, or `net = true`, or `fluid = true`, or a `network`".into(),
        ));
    }
    match sweep.kind() {
        SubjectKind::Chip => ChipPoint::check(study, sweep),
        SubjectKind::PetriNet => PetriPoint::check(study, sweep),
        SubjectKind::Fluid => FluidPoint::check(study, sweep),
        SubjectKind::Network => NetworkPoint::check(study, sweep),
    }
    .map_err(at)?;
    let points = sweep.axis.iter().try_fold(1_usize, |points, axis| {
        points.checked_mul(axis.levels().len())
    });
    if points.is_none_or(|points| points > MAX_POINTS) {
        return Err(at(format!(
            "its axes make more points than {MAX_POINTS}, one for each choice of a value on every axis"
        )));
    }
    let mut names = BTreeSet::new();
    for axis in &sweep.axis {
        if !names.insert(axis.name()) {
            return Err(at(format!("two axes are called `{}`", axis.name())));
        }
        check_axis(axis).map_err(|message| at(format!("axis `{}`: {message}", axis.name())))?;
    }
    if let Some(Replicated::At(places)) = &sweep.replicate {
        let known = sweep.axis.first().map(sorted_places).unwrap_or_default();
        let none = |x: &&f64| !has_close(&known, **x);
        if let Some(x) = places.iter().find(none) {
            return Err(at(format!("`replicate` has {x}, where there is no point")));
        }
    }
    Ok(())
}

/// Whether one of the numbers, which are in ascending order, is equal to `x` up to rounding.
fn has_close(sorted: &[f64], x: f64) -> bool {
    let behind = sorted.partition_point(|other| *other < x);
    let around = &sorted[behind.saturating_sub(1)..sorted.len().min(behind + 1)];
    around.iter().any(|other| close(*other, x))
}

/// The places of an axis in ascending order.
fn sorted_places(axis: &Axis) -> Vec<f64> {
    let mut places: Vec<f64> = axis.levels().iter().map(|place| place.x).collect();
    places.sort_by(f64::total_cmp);
    places
}

fn check_axis(axis: &Axis) -> Result<(), String> {
    if axis.every.is_some() {
        if axis.key.is_some() || !axis.values.is_empty() || !axis.step.is_empty() {
            return Err("it needs either `key` and `values`, or `step`, or `every`".into());
        }
        axis.windows()?;
    } else if let Some(key) = [("from", &axis.from), ("until", &axis.until)]
        .iter()
        .find_map(|(key, text)| text.is_some().then_some(key))
    {
        return Err(format!("`{key}` belongs to `every`"));
    }
    match (&axis.key, axis.values.is_empty(), axis.step.is_empty()) {
        (Some(_), false, true) | (None, true, false) => {}
        (None, true, true) if axis.every.is_some() => {}
        (Some(_), true, true) => return Err("`values` has no value".into()),
        _ => return Err("it needs either `key` and `values`, or `step`".into()),
    }
    if !axis.x.is_empty() && axis.x.len() != axis.values.len() {
        return Err(format!(
            "it has {} values and {} places `x`",
            axis.values.len(),
            axis.x.len()
        ));
    }
    axis.places()?;
    check_paths(axis.key.iter())?;
    for step in &axis.step {
        check_paths(step.set.keys())?;
    }
    let mut places = axis.levels();
    if let Some(place) = places.iter().find(|place| !is_sound(place.x)) {
        return Err(format!("`{}` lies at {}", place.label, place.x));
    }
    // A stable sort: of two at one place, the first in the file comes first.
    places.sort_by(|one, other| one.x.total_cmp(&other.x));
    let mut pairs = places.windows(2);
    if let Some([one, other]) = pairs.find(|pair| close(pair[0].x, pair[1].x)) {
        return Err(format!(
            "`{}` and `{}` lie at the same place {}; give the places with `x`",
            one.label, other.label, other.x
        ));
    }
    let sorted: Vec<f64> = places.iter().map(|place| place.x).collect();
    if let Some(quick) = axis.quick.iter().find(|quick| !has_close(&sorted, **quick)) {
        return Err(format!("`quick` has {quick}, where there is no point"));
    }
    Ok(())
}

pub(super) fn check_paths<'a>(paths: impl Iterator<Item = &'a String>) -> Result<(), String> {
    for path in paths {
        Setting::new(path, "")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{close, has_close};

    #[test]
    fn close_value_search_agrees_with_linear_search() {
        let places = [
            -1e12,
            -3.0,
            0.0,
            5e-10,
            1.0,
            1.0 + 1.2e-9,
            1e12,
            1e12 + 900.0,
        ];
        let others = [
            1.0 - 9e-10,
            1.0 + 1.4e-9,
            1e12 - 500.0,
            1e12 + 1800.0,
            2e12,
            -1e12 + 1001.0,
            2.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        for x in places.into_iter().chain(others) {
            let any = places.iter().any(|place| close(*place, x));
            assert_eq!(has_close(&places, x), any, "{x}");
        }
        assert!(!has_close(&[], 1.0));
    }
}
