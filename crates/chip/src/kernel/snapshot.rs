//! States as vectors of numbers that can be compared, extrapolated, or saved as bytes.

mod bytes;
mod markers;
mod reader;
mod vector;

pub use bytes::{from_bytes, to_bytes};
pub use markers::{bits, count, stamp};
pub use reader::StateReader;
pub(crate) use vector::NumberClass;
pub use vector::{SnapshotError, StateVector};
