//! Tables for a terminal: columns three spaces apart, no lines, no space behind the last.

use std::fmt;
use std::ops::Range;

use comfy_table::{CellAlignment, Row, Table, presets};

/// A table of which some columns are numbers.
pub struct TextTable {
    table: Table,
}

impl TextTable {
    /// A table whose columns but the first are numbers.
    #[must_use]
    pub fn new(header: &[&str]) -> Self {
        Self::with_numbers(header, 1..header.len())
    }

    /// A table whose columns `numbers` are aligned to the right.
    #[must_use]
    pub fn with_numbers(header: &[&str], numbers: Range<usize>) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(header.to_vec());
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 3));
            if numbers.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Self { table }
    }

    /// Appends a row.
    pub fn add_row(&mut self, row: impl Into<Row>) {
        self.table.add_row(row);
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

/// Without a line break at the end.
impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.table.lines().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            f.write_str(line.trim_end())?;
        }
        Ok(())
    }
}
