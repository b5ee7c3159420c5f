//! Drawing primitives shared by all graphics: the charts of pages, the figures
//! of studies, and flame graphs.

pub mod figure;
pub mod lanes;
pub mod latency;
pub mod scale;
pub(crate) mod share_bars;
pub mod svg;
pub mod time;
pub mod tornado;

/// Width of a chart that fills the page. Text is hardly scaled within the
/// widths given here.
pub(crate) const WIDE: f64 = 840.0;
/// Width of a chart that fills half the page.
pub const HALF_WIDTH: f64 = 410.0;
/// Width of a chart on a phone.
pub(crate) const NARROW: f64 = 356.0;
