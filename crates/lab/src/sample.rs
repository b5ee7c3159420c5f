//! The samples of a curve.

use crate::estimate::Estimate;

/// A sample of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Its position.
    pub x: f64,
    /// The value, or why there is none.
    pub y: Result<f64, String>,
    /// The estimate from the runs of a measured point; `None` for a computed value.
    pub estimate: Option<Estimate>,
}

/// Which runs of a point to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The mean of all of them.
    Mean,
    /// One run, counted from 0; a point that ran once contributes that run.
    One(usize),
}
