//! Small firmware on the chip: the macros of the library, atomicity and order, the counts of locks,
//! the devices beside the microengines, and disturbed runs.

mod concurrency;
mod coprocessor;
mod core_program;
mod disturbances;
mod exact;
mod locks;
mod macros;
mod remarks;
mod slow_path;
