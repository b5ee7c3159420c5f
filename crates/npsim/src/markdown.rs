//! Pages in Markdown as a terminal shows them: tables in columns, everything else as it is.

use npsim_session::text_table::TextTable;

/// The page with tables of at most `width` columns.
pub fn with_tables(page: &str, width: usize) -> String {
    let mut out = String::with_capacity(page.len());
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let rule = lines.peek().is_some_and(|next| is_rule(next));
        if !(line.starts_with('|') && rule) {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        lines.next();
        let heads = cells(line);
        let heads: Vec<_> = heads.iter().map(String::as_str).collect();
        // No column is of numbers: they are codes, and stand to the left.
        let mut table = TextTable::with_numbers(&heads, 0..0);
        while let Some(row) = lines.next_if(|next| next.starts_with('|')) {
            table.add_row(cells(row));
        }
        out.push_str(&table.fitted(width));
        out.push('\n');
    }
    out
}

/// Whether a line stands between a table's header and its rows.
fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.contains('-') && line.chars().all(|it| "|-: ".contains(it))
}

/// The cells of a row; `\|` is no border.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|');
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut cells = vec![String::new()];
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, cells.last_mut()) {
            ('\\', Some(cell)) if letters.next_if_eq(&'|').is_some() => cell.push('|'),
            ('|', _) => cells.push(String::new()),
            (letter, Some(cell)) => cell.push(letter),
            (_, None) => {}
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
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
