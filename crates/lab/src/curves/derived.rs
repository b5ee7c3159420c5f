//! Curves computed from others, such as an analytic model beside the
//! measurement.

use std::collections::BTreeMap;

use super::measured::measured_samples;
use crate::evaluate::value;
use crate::expression::{CurveName, Derived, ExpressionOperand};
use crate::formula::Formula;
use crate::results::Results;
use crate::rounding::close;
use crate::sample::{CurvePoint, Runs};
use crate::study::Study;

/// The samples of a derived curve.
#[must_use]
pub(super) fn samples(
    study: &Study,
    results: &Results,
    derived: &Derived,
    runs: Runs,
) -> Vec<CurvePoint> {
    let curve = |name: &CurveName| measured_samples(study, results, (name.of(), &name.at()), runs);
    let formula = Formula::parse(&derived.is);
    let values: BTreeMap<&str, Result<f64, String>> = derived
        .with
        .iter()
        .filter_map(|(name, operand)| {
            let value = match operand {
                ExpressionOperand::Number(number) => Ok(*number),
                ExpressionOperand::Value(measured) => value(measured, &curve),
                ExpressionOperand::Curve(_) => return None,
            };
            Some((name.as_str(), value))
        })
        .collect();
    let curves: BTreeMap<&str, Vec<CurvePoint>> = derived
        .with
        .iter()
        .filter_map(|(name, operand)| match operand {
            ExpressionOperand::Curve(of) => Some((name.as_str(), curve(of))),
            _ => None,
        })
        .collect();
    let at = |x: f64| {
        let formula = formula.clone()?;
        formula.value(&|name| {
            if name == "x" {
                return Ok(x);
            }
            if let Some(value) = values.get(name) {
                return value.clone();
            }
            let there = curves.get(name).into_iter().flatten();
            let mut there = there.filter(|sample| close(sample.x, x));
            there
                .next()
                .map_or_else(|| Err(format!("it has no point at {x}")), |s| s.y.clone())
        })
    };
    curve(&derived.over)
        .into_iter()
        .map(|sample| CurvePoint {
            x: sample.x,
            y: at(sample.x).and_then(|y| {
                y.is_finite()
                    .then_some(y)
                    .ok_or_else(|| "it is not a finite number".to_owned())
            }),
            estimate: None,
        })
        .collect()
}
