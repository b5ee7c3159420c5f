//! Expressions over curves that are compared with published results: single values,
//! and shapes of curves.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::rounding::{at_least, at_most};
use crate::setting_value::SettingValue;

/// A curve: a metric of a sweep over its first axis.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a curve such as \"SWEEP.METRIC\", the name of a derived one, or { of = \"SWEEP.METRIC\", where = { AXIS = VALUE } }"
)]
pub enum CurveName {
    /// `"SWEEP.METRIC"`.
    Plain(String),
    /// A curve at given values of the other axes.
    Cut {
        /// `SWEEP.METRIC`.
        of: String,
        /// Values of the other axes.
        #[serde(default, rename = "where")]
        at: BTreeMap<String, SettingValue>,
    },
}

impl CurveName {
    /// `SWEEP.METRIC`.
    #[must_use]
    pub fn of(&self) -> &str {
        match self {
            Self::Plain(of) | Self::Cut { of, .. } => of,
        }
    }

    /// Values of the other axes.
    #[must_use]
    pub fn at(&self) -> BTreeMap<String, SettingValue> {
        match self {
            Self::Plain(_) => BTreeMap::new(),
            Self::Cut { at, .. } => at.clone(),
        }
    }
}

/// A value computed from curves.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Measured {
    /// The curve's value at a place.
    At {
        /// The curve.
        of: CurveName,
        /// The place.
        x: f64,
    },
    /// The largest value.
    Max {
        /// The curve.
        of: CurveName,
    },
    /// The smallest value.
    Min {
        /// The curve.
        of: CurveName,
    },
    /// The mean of its values.
    Mean {
        /// The curve.
        of: CurveName,
        /// The place to start from.
        from: Option<f64>,
    },
    /// The first place from which on the curve stays within a share of its largest
    /// value.
    FlatFrom {
        /// The curve.
        of: CurveName,
        /// The share.
        within: f64,
    },
    /// The last place up to which the curve stays within a share of the place
    /// itself.
    FollowsUntil {
        /// The curve.
        of: CurveName,
        /// The share.
        within: f64,
    },
    /// The largest distance of the first curve from the second, in percent of
    /// the second.
    LargestDifference {
        /// Two curves.
        of: Vec<CurveName>,
        /// The place to start from.
        from: Option<f64>,
        /// The place to end at.
        until: Option<f64>,
    },
    /// Computed from other values.
    Formula {
        /// A formula such as `600 / R`.
        formula: String,
        /// Definitions of the names: numbers and values.
        #[serde(default)]
        with: BTreeMap<String, ExpressionOperand>,
    },
    /// The first value divided by the second.
    Ratio {
        /// Two values.
        of: Vec<Measured>,
    },
    /// The first value minus the second.
    Difference {
        /// Two values.
        of: Vec<Measured>,
    },
}

impl Measured {
    /// Returns the curves that it needs; with a place, if it needs only that one.
    pub fn curves(&self) -> Vec<(&CurveName, Option<f64>)> {
        match self {
            Self::At { of, x } => vec![(of, Some(*x))],
            Self::Max { of }
            | Self::Min { of }
            | Self::Mean { of, .. }
            | Self::FlatFrom { of, .. }
            | Self::FollowsUntil { of, .. } => vec![(of, None)],
            Self::LargestDifference { of, .. } => of.iter().map(|of| (of, None)).collect(),
            Self::Formula { with, .. } => with
                .values()
                .flat_map(|operand| match operand {
                    ExpressionOperand::Value(measured) => measured.curves(),
                    ExpressionOperand::Curve(curve) => vec![(curve, None)],
                    ExpressionOperand::Number(_) => Vec::new(),
                })
                .collect(),
            Self::Ratio { of } | Self::Difference { of } => {
                of.iter().flat_map(Self::curves).collect()
            }
        }
    }
}

/// `[curve.NAME]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// The name in legends; its name in the study if absent.
    pub title: Option<String>,
    /// The measured curve whose places it is computed at.
    pub over: CurveName,
    /// The formula for its value at each place, from `x` and the names in `with`.
    pub is: String,
    /// Definitions of the names.
    #[serde(default)]
    pub with: BTreeMap<String, ExpressionOperand>,
}

/// The meaning of a name in a formula.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a number, a curve, or a value such as { is = \"max\", of = CURVE }"
)]
pub enum ExpressionOperand {
    /// A number.
    Number(f64),
    /// A value computed from curves.
    Value(Box<Measured>),
    /// A measured curve, evaluated at the same place.
    Curve(CurveName),
}

impl Derived {
    /// Returns the measured curves that it is computed from; at one place only if
    /// `place` is given.
    #[must_use]
    pub fn behind(&self, place: Option<f64>) -> Vec<(&CurveName, Option<f64>)> {
        let mut behind = vec![(&self.over, place)];
        for operand in self.with.values() {
            match operand {
                ExpressionOperand::Number(_) => {}
                ExpressionOperand::Value(measured) => behind.extend(measured.curves()),
                ExpressionOperand::Curve(curve) => behind.push((curve, place)),
            }
        }
        behind
    }
}

/// A shape that curves may have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The kind of shape.
    pub is: ShapeKind,
    /// One curve, or several if the shape compares curves.
    pub of: Curves,
    /// The share by which values may be off; 0 if absent.
    pub within: Option<f64>,
    /// The share by which curves must be apart; 0 if absent.
    pub margin: Option<f64>,
    /// The place from which the shape must hold.
    pub from: Option<f64>,
    /// The place up to which the shape must hold.
    pub until: Option<f64>,
    /// The lower bound of `bounded`.
    pub least: Option<f64>,
    /// The upper bound of `bounded`.
    pub most: Option<f64>,
}

/// One curve or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a curve or a list of curves")]
pub enum Curves {
    /// One curve.
    One(CurveName),
    /// Several curves.
    Several(Vec<CurveName>),
}

/// The kinds of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeKind {
    /// Every value equals x, `within` a share of x.
    Follows,
    /// No value is farther from the mean than `within`, a share of the mean.
    Flat,
    /// All curves are everywhere `within` a share of the first one.
    Same,
    /// Each curve lies everywhere above the next one, by at least `margin`, as a
    /// share of the next one.
    Order,
    /// The first curve lies everywhere above each of the others, by at least
    /// `margin`, as a share of the other.
    Above,
    /// The first curve lies everywhere below each of the others, by at least
    /// `margin`, as a share of the other.
    Below,
    /// No value is beyond `least` or `most` by more than `within`, a share of them.
    Bounded,
    /// No value is farther from the best straight line than `within`, a share of
    /// the line's rise, and the line rises.
    Linear,
    /// The curve rises, and its second half is steeper than its first by at least
    /// `margin`, a share of the first half's slope.
    Convex,
    /// No value is below the one before by more than `within`, a share of it, and
    /// the last is above the first.
    Rising,
    /// No value is above the one before by more than `within`, a share of it, and
    /// the last is below the first.
    Falling,
}

impl ShapeKind {
    /// Whether it compares several curves.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Same | Self::Order | Self::Above | Self::Below)
    }

    /// Whether it takes `margin`; the other shapes take `within`.
    #[must_use]
    pub(crate) const fn has_margin(self) -> bool {
        matches!(self, Self::Order | Self::Above | Self::Below | Self::Convex)
    }

    /// The name in studies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Follows => "follows",
            Self::Flat => "flat",
            Self::Same => "same",
            Self::Order => "order",
            Self::Above => "above",
            Self::Below => "below",
            Self::Bounded => "bounded",
            Self::Linear => "linear",
            Self::Convex => "convex",
            Self::Rising => "rising",
            Self::Falling => "falling",
        }
    }
}

impl Shape {
    /// Returns the curves that it is about.
    #[must_use]
    pub fn curves(&self) -> Vec<&CurveName> {
        match &self.of {
            Curves::One(of) => vec![of],
            Curves::Several(of) => of.iter().collect(),
        }
    }

    /// Whether it must hold at a place.
    #[must_use]
    pub fn covers(&self, x: f64) -> bool {
        self.from.is_none_or(|from| at_least(x, from))
            && self.until.is_none_or(|until| at_most(x, until))
    }

    /// The share given by `within` or `margin`.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.within.or(self.margin).unwrap_or(0.0)
    }
}
