//! The pacing microcode: due times against a model of its own, the wheel's corners, what it costs, and
//! rates that follow from acknowledgements.

mod bench;
mod corners;
mod idle;
mod loads;
mod model;
mod rates;
