//! Curves that are computed from others: an analytic model beside what was
//! measured.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::campaign::Results;
use crate::curves::{Runs, Sample, measured_samples};
use crate::evaluate::value;
use crate::expression::{CurveName, Measured};
use crate::formula::Formula;
use crate::study::{Study, same_place};

/// `[curve.NAME]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Its name in legends; its name in the study if left out.
    pub title: Option<String>,
    /// The measured curve at whose places it is computed.
    pub over: CurveName,
    /// What it is at each place, from `x` and the names in `with`.
    pub is: String,
    /// What the names stand for.
    #[serde(default)]
    pub with: BTreeMap<String, Operand>,
}

/// What a name in a formula stands for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a number, a curve, or a value such as { is = \"max\", of = CURVE }"
)]
pub enum Operand {
    /// A number.
    Number(f64),
    /// A value computed from curves.
    Value(Box<Measured>),
    /// A measured curve, at the same place.
    Curve(CurveName),
}

impl Derived {
    /// The measured curves behind it; at one place only, if `place` is given.
    #[must_use]
    pub fn behind(&self, place: Option<f64>) -> Vec<(&CurveName, Option<f64>)> {
        let mut behind = vec![(&self.over, place)];
        for operand in self.with.values() {
            match operand {
                Operand::Number(_) => {}
                Operand::Value(measured) => behind.extend(measured.curves()),
                Operand::Curve(curve) => behind.push((curve, place)),
            }
        }
        behind
    }
}

/// The samples of a derived curve.
#[must_use]
pub(crate) fn samples(
    study: &Study,
    results: &Results,
    derived: &Derived,
    runs: Runs,
) -> Vec<Sample> {
    let curve = |name: &CurveName| measured_samples(study, results, (name.of(), &name.at()), runs);
    let formula = Formula::parse(&derived.is);
    let values: BTreeMap<&str, Result<f64, String>> = derived
        .with
        .iter()
        .filter_map(|(name, operand)| {
            let value = match operand {
                Operand::Number(number) => Ok(*number),
                Operand::Value(measured) => value(measured, &curve),
                Operand::Curve(_) => return None,
            };
            Some((name.as_str(), value))
        })
        .collect();
    let curves: BTreeMap<&str, Vec<Sample>> = derived
        .with
        .iter()
        .filter_map(|(name, operand)| match operand {
            Operand::Curve(of) => Some((name.as_str(), curve(of))),
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
            let mut there = there.filter(|sample| same_place(sample.x, x));
            there
                .next()
                .map_or_else(|| Err(format!("it has no point at {x}")), |s| s.y.clone())
        })
    };
    curve(&derived.over)
        .into_iter()
        .map(|sample| Sample {
            x: sample.x,
            y: at(sample.x).and_then(|y| {
                y.is_finite()
                    .then_some(y)
                    .ok_or_else(|| "it is no finite number".to_owned())
            }),
        })
        .collect()
}
