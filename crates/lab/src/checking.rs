//! Checks that every name in a study has a meaning, before anything runs.

mod names;
mod sweeps;

use crate::counters::fits;
use crate::drawing;
use crate::expression::{CurveName, Derived, ExpressionOperand, Shape, ShapeKind};
use crate::formula::Formula;
use crate::study::{
    ModelChoice, Published, PublishedCell, PublishedFigure, Replication, SettingValue, Study, Table,
};
use crate::tolerance::Tolerance;
use names::{check_curve, check_measured, check_names};
use npsim_project::problem::Problem;
use std::collections::{BTreeMap, BTreeSet};
use sweeps::{check_paths, check_sweep, check_window};

/// Maximum runs per point; more would add little.
const MAX_RUNS: usize = 100;
/// Largest number that can be drawn on a scale.
const MAX_ON_SCALE: f64 = 1e12;

/// Whether a number in a study can be compared and drawn.
fn is_sound(number: f64) -> bool {
    number.is_finite() && number.abs() <= MAX_ON_SCALE
}

/// Returns an error for the first thing in a study that is invalid.
pub(crate) fn check(study: &Study) -> Result<(), Problem> {
    let name_is_plain = !study.name.is_empty()
        && study
            .name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !name_is_plain {
        return Err(Problem::new(format!(
            "the name `{}` is not valid for a folder on all systems",
            study.name
        ))
        .help("use letters, digits, `-` and `_`"));
    }
    let Replication { runs, quick } = study.replication;
    if runs == 0 || quick == 0 || runs.max(quick) > MAX_RUNS {
        return Err(Problem::new(format!(
            "`replication` asks for {runs} runs of a point, {quick} in a quick run; 1 to {MAX_RUNS} are possible"
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
    for (name, sweep) in &study.sweep {
        check_sweep(study, name, sweep)?;
    }
    for (name, derived) in &study.curve {
        let at = |problem| named("curve", name, problem);
        if name.contains('.') {
            return Err(at(Problem::new(
                "a dot in the name would make it a sweep's curve",
            )));
        }
        check_derived(study, derived).map_err(at)?;
    }
    for row in &study.published {
        check_row(study, row).map_err(|problem| named("published", &row.id, problem))?;
    }
    check_tolerances(study)?;
    let chosen = study.chosen.iter();
    check_each("chosen", chosen.map(|it| (&it.name, it)), |it| {
        check_chosen(study, it)
    })?;
    let tables = study.table.iter();
    check_each("table", tables.map(|it| (&it.name, it)), |it| {
        check_table(study, it)
    })?;
    let figures = study.figure.iter();
    check_each("figure", figures.map(|it| (&it.name, it)), |it| {
        check_figure(study, it)
    })?;
    // In a study without figures, the default ones are named after sweep and metric.
    for figure in drawing::figures(study) {
        if figure.name.contains(['/', '\\']) {
            let problem = Problem::new("the name cannot be a file name")
                .help("leave slashes out of the names of the sweep and the metric");
            return Err(named("figure", &figure.name, problem));
        }
    }
    Ok(())
}

/// Prefixes a problem with the kind and name of what it concerns.
fn named(kind: &str, name: &str, problem: Problem) -> Problem {
    let message = format!("{kind} `{name}`: {}", problem.message);
    Problem { message, ..problem }
}

/// Checks things one by one, including that their names are unique.
fn check_each<'a, T: 'a>(
    kind: &str,
    things: impl Iterator<Item = (&'a String, &'a T)>,
    check: impl Fn(&T) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut names = BTreeSet::new();
    for (name, thing) in things {
        let unique = if names.insert(name) {
            Ok(())
        } else {
            Err(Problem::new("there are two of this name"))
        };
        let checked = unique.and_then(|()| check(thing));
        checked.map_err(|problem| named(kind, name, problem))?;
    }
    Ok(())
}

fn check_figure(study: &Study, figure: &PublishedFigure) -> Result<(), Problem> {
    check_file_name(&figure.name)?;
    for (scale, name) in [(&figure.x, "x"), (&figure.y, "y")] {
        let (from, to) = (scale.from.unwrap_or(0.0), scale.to.unwrap_or(MAX_ON_SCALE));
        if !is_sound(from) || !is_sound(to) || from >= to {
            return Err(
                Problem::new(format!("the scale `{name}` goes from {from} to {to}"))
                    .help("give finite numbers, the smaller one as `from`"),
            );
        }
    }
    for curve in &figure.curve {
        check_curve(study, &curve.of, &curve.at)?;
    }
    for mark in &figure.mark {
        if !is_sound(mark.x) {
            let message = format!("`{}` cannot be marked at {}", mark.id, mark.x);
            return Err(Problem::new(message));
        }
        let mut rows = study.published.iter().filter(|row| row.id == mark.id);
        let Some(row) = rows.nth(mark.nth) else {
            let message = format!("no published value is `{}`, number {}", mark.id, mark.nth);
            return Err(Problem::new(message));
        };
        if bound(row).is_none() {
            let message = format!("`{}` is a shape, which cannot be marked", mark.id);
            return Err(Problem::new(message));
        }
    }
    Ok(())
}

/// The number that a row compares with, if any.
fn bound(row: &Published) -> Option<f64> {
    row.value.or(row.at_least).or(row.at_most)
}

fn check_row(study: &Study, row: &Published) -> Result<(), Problem> {
    if row.arithmetic.is_some() && row.calibrated.is_some() {
        return Err(Problem::new(
            "an `arithmetic` row cannot fail, so it cannot be `calibrated`",
        ));
    }
    let values = [row.value, row.at_least, row.at_most];
    if let Some(wrong) = values.iter().flatten().find(|value| !is_sound(**value)) {
        return Err(Problem::new(format!(
            "{wrong} is not a value to compare with"
        )));
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
            "it needs either `measured` and one of `value`, `at_least`, `at_most`, or a `shape`",
        )),
    }
}

/// Checks that `bounded`, and no other shape, has bounds.
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

/// Checks that each id has one tolerance, whatever is compared under it. Arithmetic rows need
/// none.
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

/// Checks that a model choice names existing rows that it served, and has settings if it is a
/// number.
fn check_chosen(study: &Study, chosen: &ModelChoice) -> Result<(), Problem> {
    for id in &chosen.rows {
        let ids = study.published.iter().map(|row| row.id.as_str());
        if !ids.clone().any(|known| known == id) {
            let known: BTreeSet<&str> = ids.collect();
            return Err(
                Problem::new(format!("no published value is `{id}`")).suggest_or_list(id, known)
            );
        }
    }
    if chosen.rows.is_empty() {
        return Err(Problem::new(
            "`rows` must name at least one row that the value served",
        ));
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
            "`instead` must list other values to try, since the value is not a whole number",
        ));
    }
    check_paths(chosen.set.iter()).map_err(Problem::new)
}

/// Checks that a name can be a file name.
fn check_file_name(name: &str) -> Result<(), Problem> {
    if name.is_empty() || name.contains(['/', '\\', '.']) {
        return Err(Problem::new("the name cannot be a file name"));
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
                PublishedCell::Text(_) => {}
                PublishedCell::Measured { measured } => check_measured(study, measured)?,
                PublishedCell::Published { id, nth } => {
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

/// Checks a derived curve, which may be computed from measured curves only.
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
        if let ExpressionOperand::Value(measured) = operand {
            check_measured(study, measured)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
