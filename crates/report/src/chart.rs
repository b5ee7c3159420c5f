//! One kit for all drawings: the charts of pages, the figures of studies, flame
//! graphs.

pub mod figure;
pub mod lanes;
pub mod latency;
pub mod scale;
pub(crate) mod share_bars;
pub mod svg;
pub mod time;
pub mod tornado;

/// Widths for which charts are drawn: of a page, of half of one, and of a
/// telephone. Text is not scaled much within these.
pub(crate) const WIDE: f64 = 840.0;
/// Half the page.
pub const HALF: f64 = 410.0;
/// A telephone.
pub(crate) const NARROW: f64 = 356.0;
