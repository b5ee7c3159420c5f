//! The back end: allocation, spilling and encoding.

pub(crate) mod allocate;
pub(crate) mod emit;
pub(crate) mod live_ranges;
pub(crate) mod spill;
