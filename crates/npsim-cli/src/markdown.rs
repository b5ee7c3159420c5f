//! Renders Markdown pages for a terminal: tables in columns, everything else unchanged.

use crate::docs::markdown::{PageTable, tables};
use npsim_session::text_table::TextTable;

/// Renders the page with tables of at most `width` columns.
pub fn with_tables(page: &str, width: usize) -> String {
    let mut out = String::with_capacity(page.len());
    let mut done = 0;
    for PageTable { place, rows, .. } in tables(page) {
        let mut rows = rows.into_iter();
        let heads = rows.next().unwrap_or_default();
        let heads: Vec<_> = heads.iter().map(String::as_str).collect();
        // No column is numeric: the entries are codes, and are left-aligned.
        let mut table = TextTable::with_numbers(&heads, 0..0);
        for row in rows {
            table.add_row(row);
        }
        out.push_str(&page[done..place.start]);
        out.push_str(&table.fitted(width));
        out.push('\n');
        done = place.end;
    }
    out.push_str(&page[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::with_tables;

    #[test]
    fn tables_are_laid_out_in_columns() {
        let page = "# Title\n\n| a | what |\n| --- | --- |\n| `1` | x \\| y |\n\nText | here\n";
        assert_eq!(
            with_tables(page, 80),
            "# Title\n\na     what\n`1`   x | y\n\nText | here\n"
        );
    }
}
