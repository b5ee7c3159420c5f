//! The columns of tables.

use std::slice::IterMut;
use std::sync::Arc;

use crate::column_data::{Cell, ColumnBuilder, ColumnData, Values};

/// The columns of a table, in their order.
#[derive(Debug)]
pub struct TableData {
    pub columns: Vec<(String, Arc<ColumnData>)>,
    pub rows: usize,
}

impl TableData {
    /// A table of these columns.
    ///
    /// # Panics
    /// They are not all as long.
    pub fn new(columns: Vec<(String, Arc<ColumnData>)>) -> Self {
        let rows = columns.first().map_or(0, |(_, column)| column.len);
        assert!(columns.iter().all(|(_, column)| column.len == rows));
        Self { columns, rows }
    }
}

/// A table that is being filled.
#[derive(Debug)]
pub struct TableBuilder {
    columns: Vec<(String, ColumnBuilder)>,
}

impl TableBuilder {
    /// A table with these columns and no rows.
    pub fn new(columns: impl IntoIterator<Item = (&'static str, Values)>) -> Self {
        let columns = columns.into_iter();
        let columns = columns.map(|(name, values)| (name.to_owned(), ColumnBuilder::new(values)));
        Self {
            columns: columns.collect(),
        }
    }

    /// A new row, whose cells are filled one after the other.
    pub fn row(&mut self) -> Cells<'_> {
        Cells(self.columns.iter_mut())
    }

    /// The table.
    pub fn finish(self) -> TableData {
        let columns = self.columns.into_iter();
        let columns = columns.map(|(name, column)| (name, column.finish()));
        TableData::new(columns.collect())
    }
}

/// The cells of a row.
pub struct Cells<'a>(IterMut<'a, (String, ColumnBuilder)>);

impl Cells<'_> {
    /// The value of the next column, or none.
    pub fn put<T: Cell>(&mut self, value: Option<T>) {
        if let Some((_, column)) = self.0.next() {
            column.put(value);
        }
    }
}
