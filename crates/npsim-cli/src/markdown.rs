//! Pages in Markdown as a terminal shows them: tables in columns, everything else as it is.

use crate::docs::markdown::{cells, is_rule};
use npsim_session::text_table::TextTable;

/// The page with tables of at most `width` columns.
pub fn with_tables(page: &str, width: usize) -> String {
    let row = |line: &str| line.starts_with('|').then(|| cells(line));
    let mut out = String::with_capacity(page.len());
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let below = lines.peek().and_then(|next| row(next));
        let heads = row(line).filter(|_| below.is_some_and(|below| is_rule(&below)));
        let Some(heads) = heads else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        lines.next();
        let heads: Vec<_> = heads.iter().map(String::as_str).collect();
        // No column is of numbers: they are codes, and stand to the left.
        let mut table = TextTable::with_numbers(&heads, 0..0);
        while let Some(cells) = lines.peek().and_then(|next| row(next)) {
            table.add_row(cells);
            lines.next();
        }
        out.push_str(&table.fitted(width));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::with_tables;

    #[test]
    fn tables_become_columns() {
        let page = "# Title\n\n| a | what |\n| --- | --- |\n| `1` | x \\| y |\n\nText | here\n";
        assert_eq!(
            with_tables(page, 80),
            "# Title\n\na     what\n`1`   x | y\n\nText | here\n"
        );
    }
}
