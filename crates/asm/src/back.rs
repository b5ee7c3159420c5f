//! From names to registers and words: allocation, spilling, encoding.

pub(crate) mod allocate;
pub(crate) mod emit;
pub(crate) mod live_ranges;
pub(crate) mod spill;
