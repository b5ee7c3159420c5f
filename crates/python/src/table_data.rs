//! The columns of tables.

use std::slice::IterMut;
use std::sync::{Arc, LazyLock};

use crate::column_data::{Cell, ColumnBuilder, ColumnData, Values};

/// A column, which may be computed when it is first used.
pub type TableColumn = LazyLock<Arc<ColumnData>, MakeColumn>;

/// Computes a column.
pub type MakeColumn = Box<dyn FnOnce() -> Arc<ColumnData> + Send>;

/// The columns of a table, in order.
#[derive(Debug)]
pub struct TableData {
    pub columns: Vec<(String, TableColumn)>,
    pub rows: usize,
}

impl TableData {
    /// Creates a table of these columns.
    ///
    /// # Panics
    /// Panics if they differ in length.
    pub fn new(columns: Vec<(String, Arc<ColumnData>)>) -> Self {
        let rows = columns.first().map_or(0, |(_, column)| column.len);
        assert!(columns.iter().all(|(_, column)| column.len == rows));
        let columns = columns.into_iter();
        let columns = columns.map(|(name, column)| -> (String, TableColumn) {
            (name, LazyLock::new(Box::new(move || column)))
        });
        Self {
            columns: columns.collect(),
            rows,
        }
    }

    /// Creates a table with columns that are computed when they are first used, which panics if
    /// a column does not have this many rows.
    pub fn made_when_needed(
        rows: usize,
        columns: impl IntoIterator<Item = (&'static str, MakeColumn)>,
    ) -> Self {
        let columns = columns.into_iter();
        let columns = columns.map(|(name, make)| -> (String, TableColumn) {
            let checked = move || {
                let column = make();
                assert_eq!(column.len, rows, "values of the column {name}");
                column
            };
            (name.to_owned(), LazyLock::new(Box::new(checked)))
        });
        Self {
            columns: columns.collect(),
            rows,
        }
    }
}

/// A table under construction.
#[derive(Debug)]
pub struct TableBuilder {
    columns: Vec<(String, ColumnBuilder)>,
}

impl TableBuilder {
    /// Creates a table with these columns and no rows.
    pub fn new(columns: impl IntoIterator<Item = (&'static str, Values)>) -> Self {
        let columns = columns.into_iter();
        let columns = columns.map(|(name, values)| (name.to_owned(), ColumnBuilder::new(values)));
        Self {
            columns: columns.collect(),
        }
    }

    /// Adds a row, whose cells are then filled one after the other.
    pub fn row(&mut self) -> Cells<'_> {
        Cells(self.columns.iter_mut())
    }

    /// Returns the finished table.
    pub fn finish(self) -> TableData {
        let columns = self.columns.into_iter();
        let columns = columns.map(|(name, column)| (name, column.finish()));
        TableData::new(columns.collect())
    }
}

/// The cells of a row.
pub struct Cells<'a>(IterMut<'a, (String, ColumnBuilder)>);

impl Cells<'_> {
    /// Puts a value, or a missing one, into the next column.
    pub fn put<T: Cell>(&mut self, value: Option<T>) {
        if let Some((_, column)) = self.0.next() {
            column.put(value);
        }
    }
}
