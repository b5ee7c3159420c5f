//! The fates of packets as a table.

use std::io;

use npsim::observe::packets::{COLUMNS, PacketRow, PacketSink};

use crate::column_data::Values;
use crate::table_data::{TableBuilder, TableData};

/// The table of packets under construction; its columns are those of the command's CSV.
#[derive(Debug)]
pub struct PacketTable(TableBuilder);

impl PacketTable {
    /// Creates a table without rows.
    pub fn new() -> Self {
        Self(TableBuilder::new(COLUMNS.split(',').map(|name| {
            let values = match name {
                "packet" | "first_bit_in" | "last_bit_in" | "first_bit_out" | "ended" | "delay"
                | "reordered" => Values::U64(Vec::new()),
                "bytes" | "bytes_out" => Values::U32(Vec::new()),
                "port_in" | "port_out" | "me" | "context" => Values::U8(Vec::new()),
                _ => Values::Text(vec![0], Vec::new()),
            };
            (name, values)
        })))
    }
}

impl PacketSink for PacketTable {
    type Table = TableData;

    fn put(&mut self, row: &PacketRow<'_>) -> io::Result<()> {
        let mut cells = self.0.row();
        cells.put(row.packet);
        // After the first router of a chain, flows are unknown.
        cells.put(row.flow.filter(|flow| !flow.is_empty()));
        cells.put(row.bytes);
        cells.put(row.port_in);
        cells.put(row.first_bit_in);
        cells.put(row.last_bit_in);
        cells.put(Some(row.fate));
        cells.put(row.port_out);
        cells.put(row.bytes_out);
        cells.put(row.first_bit_out);
        cells.put(row.ended);
        cells.put(row.delay);
        cells.put(row.reordered);
        cells.put(row.by);
        cells.put(row.counter);
        cells.put(row.reason);
        cells.put(row.me);
        cells.put(row.context);
        cells.put(row.place);
        Ok(())
    }

    fn finish(self) -> io::Result<TableData> {
        Ok(self.0.finish())
    }
}
