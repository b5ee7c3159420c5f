//! The samples of a curve.

use crate::estimate::Estimate;

/// A place of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Where.
    pub x: f64,
    /// The value, or why there is none.
    pub y: Result<f64, String>,
    /// What the runs of a measured point come to together; none of a single run and of what was
    /// computed.
    pub estimate: Option<Estimate>,
}

/// Which runs of points are meant, where points were run several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The mean of all of them.
    Mean,
    /// A value of one run; of a point that was run once, that one.
    One(usize),
}
