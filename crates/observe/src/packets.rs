//! The fate of each packet: rows for all of them, written while the run goes on, and
//! the stations of one.

mod drops;
mod order;
mod row;
mod rows;
mod stations;

pub(crate) use drops::{DropFinder, MicrocodeDrop};
pub use row::{COLUMNS, CsvRows, OPEN_MOST, PacketRow, PacketSink};
pub use rows::{Flows, PacketRows};
pub use stations::{Following, Station, Stations};
