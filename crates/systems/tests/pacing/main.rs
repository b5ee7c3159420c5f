//! The pacing microcode: due times against a separate model, the wheel's corner cases, its cost, and rates that follow
//! from acknowledgements.

mod bench;
mod corners;
mod idle;
mod loads;
mod model;
mod rates;
