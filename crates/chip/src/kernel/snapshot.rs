//! States as vectors of numbers, to be compared and extrapolated.

mod markers;
mod reader;
mod vector;

pub use markers::{bits, count, stamp};
pub use reader::StateReader;
pub(crate) use vector::NumberClass;
pub use vector::{SnapshotError, StateVector};
