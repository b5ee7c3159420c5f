//! The microcode of Quick-Start, XCP and RCP: packet by packet against the reference
//! models, under concurrency, and in whole routers with packets worked out by hand.

#[path = "../bench/microcode.rs"]
mod microcode;
#[path = "../bench/names.rs"]
mod names;
#[path = "../bench/project.rs"]
mod project;
#[path = "../bench/quiet.rs"]
mod quiet;
#[path = "../bench/sizes.rs"]
mod sizes;

mod models;
mod safety;
mod vectors;
