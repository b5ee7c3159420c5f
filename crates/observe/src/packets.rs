//! The fate of each packet: a table with rows for all of them, written as the run proceeds, and the
//! stations of a single one.

mod drops;
mod order;
mod row;
mod rows;
mod stations;

pub(crate) use drops::{DropFinder, MicrocodeDrop};
pub use row::{COLUMNS, CsvRows, MAX_OPEN, PacketRow, PacketSink};
pub use rows::{Flows, PacketRows};
pub use stations::{PacketEvent, PacketFollower, PacketFollowers};
