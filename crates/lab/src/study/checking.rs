//! Whether every name in a study means something, before anything is run.

use std::collections::{BTreeMap, BTreeSet};

use npsim_asm::spelling::closest;
use npsim_project::Setting;
use npsim_project::problem::Problem;
use npsim_project::quantity::Time;

use super::{
    Axis, Cell, Chosen, Kind, Published, Replicated, Replication, SettingValue, Study, Sweep,
    Table, WindowText, same_place, windows,
};
use crate::counters::fits;
use crate::derived::{Derived, Operand};
use crate::expression::{CurveName, Measured, Shape, ShapeKind};
use crate::formula::Formula;
use crate::tolerance::Tolerance;

/// Points that a sweep may have: more than a day of the quickest runs.
const MOST_POINTS: usize = 100_000;
/// Runs that a point may have; more say little more.
const MOST_RUNS: usize = 100;
/// Numbers beyond this can be drawn on no scale.
const LARGEST: f64 = 1e12;

/// Whether a number of a study can be compared and drawn.
fn is_sound(number: f64) -> bool {
    number.is_finite() && number.abs() <= LARGEST
}

/// Finds the first thing in a study that means nothing.
pub fn check(study: &Study) -> Result<(), Problem> {
    let name_is_plain = !study.name.is_empty()
        && study
            .name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !name_is_plain {
        return Err(Problem::new(format!(
            "the name `{}` cannot be a folder's everywhere",
            study.name
        ))
        .help("use letters, digits, `-` and `_`"));
    }
    let Replication { runs, quick } = study.replication;
    if runs == 0 || quick == 0 || runs.max(quick) > MOST_RUNS {
        return Err(Problem::new(format!(
            "`replication` asks for {runs} runs of a point, {quick} in a quick run; 1 to {MOST_RUNS} can be"
        )));
    }
    let of_sweeps = study.sweep.values();
    let of_sweeps = of_sweeps.flat_map(|sweep| [sweep.window.as_ref(), sweep.quick.as_ref()]);
    for window in [Some(&study.window), study.quick.as_ref()]
        .into_iter()
        .chain(of_sweeps)
        .flatten()
    {
        check_window(window)?;
    }
    for (name, metric) in &study.metric {
        if let Some(mistake) = metric.mistake() {
            return Err(Problem::new(format!("metric `{name}`: {mistake}")));
        }
    }
    for (name, sweep) in &study.sweep {
        check_sweep(study, name, sweep)?;
    }
    for (name, derived) in &study.curve {
        let at = |problem: Problem| {
            let message = format!("curve `{name}`: {}", problem.message);
            Problem { message, ..problem }
        };
        if name.contains('.') {
            return Err(at(Problem::new(
                "a dot in the name would make it a sweep's curve",
            )));
        }
        check_derived(study, derived).map_err(at)?;
    }
    for row in &study.published {
        check_row(study, row).map_err(|problem| {
            let message = format!("published `{}`: {}", row.id, problem.message);
            Problem { message, ..problem }
        })?;
    }
    check_tolerances(study)?;
    let mut names = BTreeSet::new();
    for chosen in &study.chosen {
        check_chosen(study, chosen).map_err(|problem| {
            let message = format!("chosen `{}`: {}", chosen.name, problem.message);
            Problem { message, ..problem }
        })?;
        if !names.insert(&chosen.name) {
            return Err(Problem::new(format!(
                "chosen `{}`: there are two of this name",
                chosen.name
            )));
        }
    }
    let mut names = BTreeSet::new();
    for table in &study.table {
        let at = |problem: Problem| {
            let message = format!("table `{}`: {}", table.name, problem.message);
            Problem { message, ..problem }
        };
        if !names.insert(&table.name) {
            return Err(at(Problem::new("there are two of this name")));
        }
        check_table(study, table).map_err(at)?;
    }
    let mut names = BTreeSet::new();
    for figure in &study.figure {
        let at = |problem: Problem| {
            let message = format!("figure `{}`: {}", figure.name, problem.message);
            Problem { message, ..problem }
        };
        if !names.insert(&figure.name) {
            return Err(at(Problem::new("there are two of this name")));
        }
        check_file_name(&figure.name).map_err(at)?;
        for (scale, name) in [(&figure.x, "x"), (&figure.y, "y")] {
            let (from, to) = (scale.from.unwrap_or(0.0), scale.to.unwrap_or(LARGEST));
            if !is_sound(from) || !is_sound(to) || from >= to {
                return Err(at(Problem::new(format!(
                    "the scale `{name}` goes from {from} to {to}"
                ))
                .help("give finite numbers, the smaller one as `from`")));
            }
        }
        for curve in &figure.curve {
            check_curve(study, &curve.of, &curve.at).map_err(at)?;
        }
        for mark in &figure.mark {
            if !is_sound(mark.x) {
                return Err(at(Problem::new(format!(
                    "`{}` cannot be marked at {}",
                    mark.id, mark.x
                ))));
            }
            let rows = study.published.iter().filter(|row| row.id == mark.id);
            let row = rows.clone().nth(mark.nth);
            match row {
                None => {
                    let message =
                        format!("no published value is `{}`, number {}", mark.id, mark.nth);
                    return Err(at(Problem::new(message)));
                }
                Some(row) if bound(row).is_none() => {
                    return Err(at(Problem::new(format!(
                        "`{}` is a shape, which cannot be marked",
                        mark.id
                    ))));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

/// The number of a row that has one.
fn bound(row: &Published) -> Option<f64> {
    row.value.or(row.at_least).or(row.at_most)
}

fn check_window(window: &WindowText) -> Result<(), Problem> {
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

fn check_sweep(study: &Study, name: &str, sweep: &Sweep) -> Result<(), Problem> {
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
        Kind::Chip => check_chip(study, sweep),
        Kind::Net => crate::nets::check(study, sweep),
        Kind::Fluid => crate::fluids::check(study, sweep),
        Kind::Network => crate::networks::check(study, sweep),
    }
    .map_err(at)?;
    let points = sweep.axis.iter().try_fold(1_usize, |points, axis| {
        points.checked_mul(axis.places().len())
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
        let known: Vec<_> = sweep.axis.first().map(Axis::places).unwrap_or_default();
        let none = |x: &&f64| !known.iter().any(|place| same_place(place.x, **x));
        if let Some(x) = places.iter().find(none) {
            return Err(at(format!("`replicate` has {x}, where no point is")));
        }
    }
    Ok(())
}

/// Nothing that only networks have is asked of a chip.
fn check_chip(study: &Study, sweep: &Sweep) -> Result<(), String> {
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

fn check_axis(axis: &Axis) -> Result<(), String> {
    if axis.every.is_some() {
        if axis.key.is_some() || !axis.values.is_empty() || !axis.step.is_empty() {
            return Err("it has either `key` and `values`, or `step`, or `every`".into());
        }
        windows::of_axis(axis)?;
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
    check_paths(axis.key.iter())?;
    for step in &axis.step {
        check_paths(step.set.keys())?;
    }
    let places = axis.places();
    for (at, place) in places.iter().enumerate() {
        if !is_sound(place.x) {
            return Err(format!("`{}` lies at {}", place.label, place.x));
        }
        if let Some(other) = places[..at].iter().find(|o| same_place(o.x, place.x)) {
            return Err(format!(
                "`{}` and `{}` lie at the same place {}; give the places with `x`",
                other.label, place.label, place.x
            ));
        }
    }
    for &quick in &axis.quick {
        if !places.iter().any(|place| same_place(place.x, quick)) {
            return Err(format!("`quick` has {quick}, where no point is"));
        }
    }
    Ok(())
}

fn check_paths<'a>(paths: impl Iterator<Item = &'a String>) -> Result<(), String> {
    for path in paths {
        Setting::new(path, "")?;
    }
    Ok(())
}

fn check_row(study: &Study, row: &Published) -> Result<(), Problem> {
    if row.arithmetic.is_some() && row.calibrated.is_some() {
        return Err(Problem::new(
            "what is `arithmetic` cannot fail, so nothing can have been `calibrated` by it",
        ));
    }
    let values = [row.value, row.at_least, row.at_most];
    if let Some(wrong) = values.iter().flatten().find(|value| !is_sound(**value)) {
        return Err(Problem::new(format!("{wrong} is no value to compare with")));
    }
    let count = values.iter().flatten().count();
    match (&row.measured, &row.shape, count) {
        (Some(measured), None, 1) => {
            if row.value.is_some() != row.tolerance.is_some() {
                return Err(Problem::new(
                    "a `value` needs a `tolerance`, a bound has none",
                ));
            }
            check_measured(study, measured)
        }
        (None, Some(shape), 0) => {
            if row.stated.is_none() {
                return Err(Problem::new(
                    "a shape needs `stated`: what the source says of it",
                ));
            }
            let curves = shape.curves();
            if shape.is.compares() != (curves.len() > 1) {
                return Err(Problem::new(format!(
                    "`{}` is about {}",
                    shape.is.name(),
                    if shape.is.compares() {
                        "several curves"
                    } else {
                        "one curve"
                    }
                )));
            }
            let surplus = if shape.is.has_margin() {
                shape.within
            } else {
                shape.margin
            };
            check_bounds(shape)?;
            if surplus.is_some() {
                let key = if shape.is.has_margin() {
                    "margin"
                } else {
                    "within"
                };
                return Err(Problem::new(format!("`{}` has `{key}`", shape.is.name())));
            }
            curves
                .into_iter()
                .try_for_each(|curve| check_curve(study, curve.of(), &curve.at()))
        }
        _ => Err(Problem::new(
            "it has either `measured` and one of `value`, `at_least`, `at_most`, or a `shape`",
        )),
    }
}

/// The bounds of `bounded`, and of nothing else.
fn check_bounds(shape: &Shape) -> Result<(), Problem> {
    let bounds = [shape.least, shape.most];
    if shape.is != ShapeKind::Bounded {
        return match bounds.iter().flatten().next() {
            Some(_) => Err(Problem::new(format!(
                "`{}` has neither `least` nor `most`",
                shape.is.name()
            ))),
            None => Ok(()),
        };
    }
    if bounds.iter().flatten().any(|bound| !is_sound(*bound)) {
        return Err(Problem::new("its bounds must be finite numbers"));
    }
    match bounds {
        [None, None] => Err(Problem::new("`bounded` needs `least` or `most`")),
        [Some(least), Some(most)] if least > most => Err(Problem::new(format!(
            "no value is between `least` {least} and `most` {most}"
        ))),
        _ => Ok(()),
    }
}

/// One id has one tolerance, whatever is compared under it. What cannot fail needs none.
fn check_tolerances(study: &Study) -> Result<(), Problem> {
    let mut known: BTreeMap<&str, Tolerance> = BTreeMap::new();
    for row in study.published.iter().filter(|r| r.arithmetic.is_none()) {
        let Some(tolerance) = row.tolerance else {
            continue;
        };
        let first = *known.entry(&row.id).or_insert(tolerance);
        if first != tolerance {
            return Err(Problem::new(format!(
                "published `{}`: one row has the tolerance {first}, another one {tolerance}",
                row.id
            ))
            .help("an id has one tolerance, so that none is chosen to fit"));
        }
    }
    Ok(())
}

/// What was chosen has rows that it served, and settings if it is a number.
fn check_chosen(study: &Study, chosen: &Chosen) -> Result<(), Problem> {
    for id in &chosen.rows {
        let ids = study.published.iter().map(|row| row.id.as_str());
        if !ids.clone().any(|known| known == id) {
            let known: BTreeSet<&str> = ids.collect();
            return Err(unknown(
                Problem::new(format!("no published value is `{id}`")),
                id,
                known.iter(),
            ));
        }
    }
    if chosen.rows.is_empty() {
        return Err(Problem::new("`rows` names no row that it served"));
    }
    for pattern in &chosen.sweeps {
        if !study.sweep.keys().any(|name| fits(pattern, name)) {
            return Err(Problem::new(format!("no sweep is called `{pattern}`")));
        }
    }
    if chosen.value.is_some() == chosen.set.is_empty() {
        return Err(Problem::new(
            "a number has a `value` and the settings that change it in `set`, a decision has neither",
        ));
    }
    let is_number = matches!(chosen.value, Some(SettingValue::Integer(_)));
    if !chosen.set.is_empty() && !is_number && chosen.instead.is_empty() {
        return Err(Problem::new(
            "`instead` has to say what else it could be, since it is no whole number",
        ));
    }
    check_paths(chosen.set.iter()).map_err(Problem::new)
}

/// Whether a name can be that of a file.
fn check_file_name(name: &str) -> Result<(), Problem> {
    if name.is_empty() || name.contains(['/', '\\', '.']) {
        return Err(Problem::new("the name cannot be a file's"));
    }
    Ok(())
}

fn check_table(study: &Study, table: &Table) -> Result<(), Problem> {
    check_file_name(&table.name)?;
    for row in &table.row {
        if row.cell.len() != table.columns.len() {
            return Err(Problem::new(format!(
                "row `{}` has {} cells, but there are {} columns",
                row.label,
                row.cell.len(),
                table.columns.len()
            )));
        }
        for cell in &row.cell {
            match cell {
                Cell::Text(_) => {}
                Cell::Measured { measured } => check_measured(study, measured)?,
                Cell::Published { id, nth } => {
                    let mut rows = study.published.iter().filter(|row| row.id == *id);
                    if rows.nth(*nth).is_none() {
                        return Err(Problem::new(format!(
                            "row `{}`: no published value is `{id}`, number {nth}",
                            row.label
                        )));
                    }
                }
            }
        }
    }
    Ok(())
}

/// A curve that is computed from measured ones, and from no others.
fn check_derived(study: &Study, derived: &Derived) -> Result<(), Problem> {
    let formula = Formula::parse(&derived.is).map_err(Problem::new)?;
    let measured_only = |curve: &CurveName| {
        if study.curve.contains_key(curve.of()) {
            return Err(Problem::new(format!(
                "`{}` is computed itself; name the curves that it is computed from",
                curve.of()
            )));
        }
        check_curve(study, curve.of(), &curve.at())
    };
    measured_only(&derived.over)?;
    check_names(&formula, &derived.with, true)?;
    for (curve, _) in derived.behind(None) {
        measured_only(curve)?;
    }
    for operand in derived.with.values() {
        if let Operand::Value(measured) = operand {
            check_measured(study, measured)?;
        }
    }
    Ok(())
}

/// Every name of a formula means something, and everything named is used.
fn check_names(
    formula: &Formula,
    with: &BTreeMap<String, Operand>,
    has_place: bool,
) -> Result<(), Problem> {
    let names = formula.names();
    if let Some(name) = names
        .iter()
        .find(|&&name| !(with.contains_key(name) || has_place && name == "x"))
    {
        let problem = Problem::new(format!("`with` does not say what `{name}` is"));
        return Err(unknown(problem, name, with.keys()));
    }
    if has_place && with.contains_key("x") {
        return Err(Problem::new(
            "`x` is the place on the abscissa; give the name another one",
        ));
    }
    for (name, operand) in with {
        if !names.contains(name.as_str()) {
            return Err(Problem::new(format!("nothing is computed from `{name}`")));
        }
        if let Operand::Number(number) = operand
            && !is_sound(*number)
        {
            return Err(Problem::new(format!("`{name}` is {number}")));
        }
    }
    Ok(())
}

fn check_measured(study: &Study, measured: &Measured) -> Result<(), Problem> {
    if let Measured::Formula { formula, with } = measured {
        let formula = Formula::parse(formula).map_err(Problem::new)?;
        check_names(&formula, with, false)?;
        return with.iter().try_for_each(|(name, operand)| match operand {
            Operand::Number(_) => Ok(()),
            Operand::Value(measured) => check_measured(study, measured),
            Operand::Curve(curve) => Err(Problem::new(format!(
                "`{name}` is the curve `{}`, which is no single value",
                curve.of()
            ))
            .help("say which of its values, such as { is = \"max\", of = CURVE }")),
        });
    }
    if let Measured::LargestDifference { of, .. } = measured
        && of.len() != 2
    {
        return Err(Problem::new("a largest difference is between two curves"));
    }
    if let Measured::Ratio { of } | Measured::Difference { of } = measured {
        if of.len() != 2 {
            return Err(Problem::new("a ratio or difference is of two values"));
        }
        return of.iter().try_for_each(|part| check_measured(study, part));
    }
    for (curve, place) in measured.curves() {
        check_curve(study, curve.of(), &curve.at())?;
        if let Some(x) = place {
            check_place(study, curve, x)?;
        }
    }
    Ok(())
}

fn check_place(study: &Study, curve: &CurveName, x: f64) -> Result<(), Problem> {
    let derived = study.curve.get(curve.of());
    let measured = derived.map_or(curve, |derived| &derived.over);
    let axis = measured
        .of()
        .split_once('.')
        .and_then(|(sweep, _)| study.sweep.get(sweep))
        .and_then(|sweep| sweep.axis.first());
    let Some(axis) = axis else {
        return Err(Problem::new(format!("`{}` has no axis", curve.of())));
    };
    let there = axis.places().iter().any(|place| same_place(place.x, x));
    let quick = axis.quick.is_empty() || axis.quick.iter().any(|&q| same_place(q, x));
    match (there, quick) {
        (true, true) => Ok(()),
        (true, false) => Err(Problem::new(format!(
            "`quick` of axis `{}` lacks {x}, where `{}` is evaluated",
            axis.name(),
            curve.of()
        ))),
        (false, _) => Err(Problem::new(format!(
            "axis `{}` has no point at {x}",
            axis.name()
        ))),
    }
}

fn check_curve(
    study: &Study,
    of: &str,
    at: &BTreeMap<String, SettingValue>,
) -> Result<(), Problem> {
    if study.curve.contains_key(of) {
        if at.is_empty() {
            return Ok(());
        }
        return Err(Problem::new(format!(
            "`{of}` is computed: what it is `over` says the values of the axes"
        )));
    }
    let Some((name, metric)) = of.split_once('.') else {
        let problem = Problem::new(format!("`{of}` is not a curve"));
        return Err(match closest(of, study.curve.keys().map(String::as_str)) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("a curve is a sweep and a metric with a dot between them"),
        });
    };
    let Some(sweep) = study.sweep.get(name) else {
        let problem = Problem::new(format!("`{of}`: there is no sweep `{name}`"));
        return Err(unknown(problem, name, study.sweep.keys()));
    };
    let metrics = study.metrics_of(sweep);
    if !metrics.contains_key(metric) {
        let problem = Problem::new(format!("`{of}`: sweep `{name}` measures no `{metric}`"));
        return Err(unknown(problem, metric, metrics.keys()));
    }
    let others = sweep.axis.iter().skip(1);
    for axis in others.clone() {
        let Some(value) = at.get(axis.name()) else {
            return Err(
                Problem::new(format!("`{of}` needs a value of axis `{}`", axis.name())).help(
                    format!(
                        "write {{ of = \"{of}\", where = {{ {} = VALUE }} }}",
                        axis.name()
                    ),
                ),
            );
        };
        if place_of(axis, value).is_none() {
            return Err(Problem::new(format!(
                "axis `{}` has no `{}`",
                axis.name(),
                value.text()
            )));
        }
    }
    if let Some(surplus) = at
        .keys()
        .find(|key| !others.clone().any(|axis| axis.name() == key.as_str()))
    {
        return Err(Problem::new(format!(
            "`{of}` has no axis `{surplus}` besides its abscissa"
        )));
    }
    Ok(())
}

/// The place of an axis that a value in `where` means.
#[must_use]
pub fn place_of(axis: &Axis, value: &SettingValue) -> Option<super::Place> {
    let text = value.text();
    axis.places().into_iter().find(|place| {
        place.label == text || text.parse().is_ok_and(|x: f64| same_place(place.x, x))
    })
}

fn unknown<S: AsRef<str>>(
    problem: Problem,
    name: &str,
    known: impl Iterator<Item = S> + Clone,
) -> Problem {
    let known: Vec<S> = known.collect();
    let names: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    match closest(name, names.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("there are {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests;
