//! Checks that the curves, metrics and places named by a study exist.

use super::is_sound;
use crate::expression::{CurveName, ExpressionOperand, Measured};
use crate::formula::Formula;
use crate::rounding::close;
use crate::study::{SettingValue, Study};
use npsim_project::problem::Problem;
use std::collections::BTreeMap;

/// Checks that every name in a formula is defined, and that every definition is
/// used.
pub(super) fn check_names(
    formula: &Formula,
    with: &BTreeMap<String, ExpressionOperand>,
    has_place: bool,
) -> Result<(), Problem> {
    let names = formula.names();
    if let Some(name) = names
        .iter()
        .find(|&&name| !(with.contains_key(name) || has_place && name == "x"))
    {
        let problem = Problem::new(format!("`with` does not say what `{name}` is"));
        return Err(problem.suggest_or_list(name, with.keys()));
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
        if let ExpressionOperand::Number(number) = operand
            && !is_sound(*number)
        {
            return Err(Problem::new(format!("`{name}` is {number}")));
        }
    }
    Ok(())
}

pub(super) fn check_measured(study: &Study, measured: &Measured) -> Result<(), Problem> {
    if let Measured::Formula { formula, with } = measured {
        let formula = Formula::parse(formula).map_err(Problem::new)?;
        check_names(&formula, with, false)?;
        return with.iter().try_for_each(|(name, operand)| match operand {
            ExpressionOperand::Number(_) => Ok(()),
            ExpressionOperand::Value(measured) => check_measured(study, measured),
            ExpressionOperand::Curve(curve) => Err(Problem::new(format!(
                "`{name}` is the curve `{}`, which is not a single value",
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
    let there = axis.levels().iter().any(|place| close(place.x, x));
    let quick = axis.quick.is_empty() || axis.quick.iter().any(|&q| close(q, x));
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

pub(super) fn check_curve(
    study: &Study,
    of: &str,
    at: &BTreeMap<String, SettingValue>,
) -> Result<(), Problem> {
    if study.curve.contains_key(of) {
        if at.is_empty() {
            return Ok(());
        }
        return Err(Problem::new(format!(
            "`{of}` is computed: its `over` gives the values of the axes"
        )));
    }
    let Some((name, metric)) = of.split_once('.') else {
        return Err(Problem::new(format!("`{of}` is not a curve"))
            .help("a curve is a sweep and a metric with a dot between them")
            .suggest(of, study.curve.keys().map(String::as_str)));
    };
    let Some(sweep) = study.sweep.get(name) else {
        let problem = Problem::new(format!("`{of}`: there is no sweep `{name}`"));
        return Err(problem.suggest_or_list(name, study.sweep.keys()));
    };
    let metrics = study.metrics_of(sweep);
    if !metrics.contains_key(metric) {
        let problem = Problem::new(format!("`{of}`: sweep `{name}` measures no `{metric}`"));
        return Err(problem.suggest_or_list(metric, metrics.keys()));
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
        if axis.level(value).is_none() {
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
