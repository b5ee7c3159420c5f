//! Small firmware on the chip: the macros of the library, atomicity and order, what
//! is booked of locks, the devices beside the microengines, and disturbed runs.

#[path = "../../../asm/tests/asm/exact_names.rs"]
mod exact_names;
#[path = "../bench/names.rs"]
mod names;
#[path = "../bench/project.rs"]
mod project;
#[path = "../bench/quiet.rs"]
mod quiet;
#[path = "../bench/sizes.rs"]
mod sizes;

mod concurrency;
mod coprocessor;
mod disturbances;
mod exact;
mod locks;
mod macros;
mod remarks;
mod slow_path;
