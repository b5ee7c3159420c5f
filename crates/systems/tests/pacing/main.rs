//! The pacing microcode: due times against a model of its own, the wheel's corners, what it costs, and
//! rates that follow from acknowledgements.

#[path = "../bench/microcode.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod microcode;
#[path = "../bench/names.rs"]
mod names;
#[path = "../bench/project.rs"]
mod project;

mod bench;
mod corners;
mod idle;
mod loads;
mod model;
mod rates;
