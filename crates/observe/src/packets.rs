//! The fate of each packet: a table with rows for all of them, written as the run proceeds, and the
//! events of a single one.

mod drops;
mod events;
mod order;
mod row;
mod rows;

pub(crate) use drops::{DropFinder, MicrocodeDrop};
pub use events::{PacketEvent, PacketFollower, PacketFollowers};
pub use row::{COLUMNS, CsvRows, MAX_OPEN, PacketRow, PacketSink};
pub use rows::{Flows, PacketRows};
