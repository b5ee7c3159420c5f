//! Checks that sweeps can be run.

use super::{is_sound, unknown};
use crate::chip_points::ChipPoint;
use crate::fluid_points::FluidPoint;
use crate::network_points::NetworkPoint;
use crate::petri_points::PetriPoint;
use crate::rounding::{close, rounding};
use crate::study::{Axis, Replicated, Study, SubjectKind, Sweep, WindowText};
use crate::subject::Subject as _;
use npsim_project::Setting;
use npsim_project::problem::Problem;
use npsim_project::quantity::Time;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum points of a sweep: more than a day of the quickest runs.
const MOST_POINTS: usize = 100_000;

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
            return Err(unknown(
                at(format!("there is no metric `{metric}`")),
                metric,
                study.metric.keys(),
            ));
        }
    }
    if name.contains('.') {
        return Err(at(
            "a dot in the name would not be told from the metric's".into()
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
            "it has either a `system`, or `net = true`, or `fluid = true`, or a `network`".into(),
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
    if points.is_none_or(|points| points > MOST_POINTS) {
        return Err(at(format!(
            "its axes make more points than {MOST_POINTS}, one for each choice of a value on every axis"
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
        let levels = sweep.axis.first().map(Axis::levels).unwrap_or_default();
        let mut known = SortedPlaces::default();
        for (at, place) in levels.iter().enumerate() {
            known.add(place.x, at);
        }
        let none = |x: &&f64| known.first_close(**x).is_none();
        if let Some(x) = places.iter().find(none) {
            return Err(at(format!("`replicate` has {x}, where no point is")));
        }
    }
    Ok(())
}

/// Places in ascending order, with their indices.
#[derive(Default)]
struct SortedPlaces(BTreeMap<OrderedNumber, usize>);

/// A number in the order of [`f64::total_cmp`].
#[derive(Clone, Copy, Debug)]
struct OrderedNumber(f64);

impl Ord for OrderedNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for OrderedNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OrderedNumber {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OrderedNumber {}

impl SortedPlaces {
    fn add(&mut self, x: f64, index: usize) {
        self.0.entry(OrderedNumber(x)).or_insert(index);
    }

    /// The lowest index of a place that is equal up to rounding.
    fn first_close(&self, x: f64) -> Option<usize> {
        // All places are finite.
        if !x.is_finite() {
            return None;
        }
        // The allowed error depends on the larger number, which is hardly larger than this one.
        let most = 2.0 * rounding(x);
        let around = OrderedNumber(x - most)..=OrderedNumber(x + most);
        let around = self.0.range(around);
        let close = around.filter(|(other, _)| close(other.0, x));
        close.map(|(_, index)| *index).min()
    }
}

fn check_axis(axis: &Axis) -> Result<(), String> {
    if axis.every.is_some() {
        if axis.key.is_some() || !axis.values.is_empty() || !axis.step.is_empty() {
            return Err("it has either `key` and `values`, or `step`, or `every`".into());
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
        _ => return Err("it has either `key` and `values`, or `step`".into()),
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
    let places = axis.levels();
    let mut before = SortedPlaces::default();
    for (at, place) in places.iter().enumerate() {
        if !is_sound(place.x) {
            return Err(format!("`{}` lies at {}", place.label, place.x));
        }
        let other = before.first_close(place.x);
        before.add(place.x, at);
        if let Some(other) = other.map(|other| &places[other]) {
            return Err(format!(
                "`{}` and `{}` lie at the same place {}; give the places with `x`",
                other.label, place.label, place.x
            ));
        }
    }
    for &quick in &axis.quick {
        if before.first_close(quick).is_none() {
            return Err(format!("`quick` has {quick}, where no point is"));
        }
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
    use super::{SortedPlaces, close};

    #[test]
    fn sorted_places_find_the_first_that_is_close() {
        let places = [
            0.0,
            -0.0,
            1.0,
            1.0 + 5e-10,
            1.0 + 1.2e-9,
            1e12,
            1e12 + 900.0,
            -1e12,
            -3.0,
            5e-10,
        ];
        let others = [
            1.0 - 9e-10,
            1.0 + 1.4e-9,
            1e12 - 500.0,
            1e12 + 1800.0,
            -1e12 + 1001.0,
            2.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        let mut sorted = SortedPlaces::default();
        for (at, place) in places.iter().enumerate() {
            for x in places.iter().chain(&others) {
                let first = places[..at].iter().position(|other| close(*other, *x));
                assert_eq!(sorted.first_close(*x), first, "{x} among {at}");
            }
            sorted.add(*place, at);
        }
    }
}
