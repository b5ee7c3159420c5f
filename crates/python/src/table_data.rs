//! The columns of tables.

use std::slice::IterMut;
use std::sync::{Arc, LazyLock};

use crate::column_data::{Cell, ColumnBuilder, ColumnData, Values};

/// A column, which may be made only when it is looked at.
pub type TableColumn = LazyLock<Arc<ColumnData>, MakeColumn>;

/// What makes a column.
pub type MakeColumn = Box<dyn FnOnce() -> Arc<ColumnData> + Send>;

/// The columns of a table, in their order.
#[derive(Debug)]
pub struct TableData {
    pub columns: Vec<(String, TableColumn)>,
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
        let columns = columns.into_iter();
        let columns = columns.map(|(name, column)| -> (String, TableColumn) {
            (name, LazyLock::new(Box::new(move || column)))
        });
        Self {
            columns: columns.collect(),
            rows,
        }
    }

    /// A table of so many rows with columns that are made when they are looked at, which panics
    /// where a column is not as long.
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
