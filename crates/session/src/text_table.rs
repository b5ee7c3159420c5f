//! Tables for a terminal, all in the same style: columns three spaces apart, no rules, no trailing
//! spaces. A table that is too wide first narrows its gaps, then wraps its sentences, then is
//! folded: columns without room are placed below, each group after the first column.

use std::ops::Range;

use comfy_table::{CellAlignment, ColumnConstraint, Table, Width, presets};

/// Table width in columns of text if none is given.
pub const WIDTH: usize = 100;
/// Spaces between columns if there is room.
const GAP: u16 = 3;
/// Spaces between columns if there is not.
const NARROW_GAP: u16 = 2;
/// Maximum width of a cell that stays on one line: a number with its unit.
const SHORT_CELL: u16 = 14;
/// Maximum width of a word that is never broken, even where a column of words has to be narrow.
const MAX_WORD_LENGTH: u16 = 40;

/// A table in which some columns are numbers.
pub struct TextTable {
    header: Option<Vec<String>>,
    numbers: Range<usize>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table in which all columns but the first are numbers.
    #[must_use]
    pub fn new(header: &[&str]) -> Self {
        Self::with_numbers(header, 1..header.len())
    }

    /// A table whose columns `numbers` are aligned to the right.
    #[must_use]
    pub fn with_numbers(header: &[&str], numbers: Range<usize>) -> Self {
        let header = header.iter().map(|&head| head.to_owned());
        Self {
            header: Some(header.collect()),
            numbers,
            rows: Vec::new(),
        }
    }

    /// A list of names and descriptions, without a header.
    #[must_use]
    pub fn list() -> Self {
        Self {
            header: None,
            numbers: 0..0,
            rows: Vec::new(),
        }
    }

    /// Appends a row.
    pub fn add_row<T: Into<String>>(&mut self, row: impl IntoIterator<Item = T>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text, at most `width` columns wide if words and numbers allow it, without a trailing
    /// newline.
    #[must_use]
    pub fn fitted(&self, width: usize) -> String {
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        let columns: Vec<Column> = (0..self.columns()).map(|at| self.column(at)).collect();
        let all: Vec<usize> = (0..columns.len()).collect();
        let whole: Vec<u16> = columns.iter().map(|column| column.whole).collect();
        for gap in [GAP, NARROW_GAP] {
            if needed(whole.iter().copied(), gap) <= width {
                return self.drawn(&all, &whole, gap);
            }
        }
        let parts = groups(&columns, width);
        let parts = parts.into_iter().map(|part| {
            let widths = shared(&columns, &part, width);
            self.drawn(&part, &widths, NARROW_GAP)
        });
        parts.collect::<Vec<_>>().join("\n\n")
    }

    fn columns(&self) -> usize {
        let rows = self.rows.iter().chain(&self.header);
        rows.map(Vec::len).max().unwrap_or(0)
    }

    fn column(&self, at: usize) -> Column {
        let rows = self.header.iter().chain(&self.rows);
        let cells: Vec<&str> = rows.filter_map(|row| row.get(at)).map(|it| &**it).collect();
        let longest = |pieces: &mut dyn Iterator<Item = &str>| {
            let longest = pieces.map(|piece| piece.chars().count()).max();
            u16::try_from(longest.unwrap_or(0)).unwrap_or(u16::MAX)
        };
        let whole = longest(&mut cells.iter().flat_map(|cell| cell.lines()));
        let word = longest(&mut cells.iter().flat_map(|cell| cell.split_whitespace()));
        let least = if self.numbers.contains(&at) {
            // A number stays in one piece, while a header above it may wrap.
            let below = self.rows.iter().filter_map(|row| row.get(at));
            longest(&mut below.map(|cell| &**cell)).max(word)
        } else {
            let below = self.rows.iter().filter_map(|row| row.get(at));
            let short = longest(&mut below.map(|cell| &**cell).filter(|cell| is_short(cell)));
            word.min(MAX_WORD_LENGTH).max(short)
        };
        // No column is too narrow to read.
        Column {
            whole: whole.max(1),
            least: least.max(1),
        }
    }

    fn drawn(&self, columns: &[usize], widths: &[u16], gap: u16) -> String {
        let pick = |row: &Vec<String>| -> Vec<String> {
            let cells = columns.iter().map(|&at| row.get(at).cloned());
            cells.map(Option::unwrap_or_default).collect()
        };
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        if let Some(header) = &self.header {
            table.set_header(pick(header));
        }
        table.add_rows(self.rows.iter().map(pick));
        for (place, column) in table.column_iter_mut().enumerate() {
            let behind = if place + 1 == columns.len() { 0 } else { gap };
            column.set_padding((0, behind));
            let width = widths[place].saturating_add(behind);
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
            if self.numbers.contains(&columns[place]) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<_> = table
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        lines.join("\n")
    }
}

fn is_short(cell: &str) -> bool {
    cell.chars().count() <= usize::from(SHORT_CELL)
}

/// The possible widths of a column.
struct Column {
    /// The width at which no cell is wrapped.
    whole: u16,
    /// The width at which words and numbers are still unbroken.
    least: u16,
}

/// The total width of columns of these widths, with the gaps between them.
fn needed(widths: impl ExactSizeIterator<Item = u16>, gap: u16) -> u16 {
    let gaps = u16::try_from(widths.len().saturating_sub(1)).unwrap_or(u16::MAX);
    let words = widths.fold(0u16, u16::saturating_add);
    words.saturating_add(gaps.saturating_mul(gap))
}

/// Groups of columns that fit side by side; the first column is in each group.
fn groups(columns: &[Column], width: u16) -> Vec<Vec<usize>> {
    let mut groups = vec![vec![0]];
    for at in 1..columns.len() {
        let before = groups.last_mut().filter(|group| {
            let with: Vec<_> = group
                .iter()
                .chain([&at])
                .map(|&it| columns[it].least)
                .collect();
            group.len() < 2 || needed(with.into_iter(), NARROW_GAP) <= width
        });
        match before {
            Some(group) => group.push(at),
            None => groups.push(vec![0, at]),
        }
    }
    groups
}

/// The widths of a group's columns: narrow columns get all that they need, the others share the
/// rest equally.
fn shared(columns: &[Column], group: &[usize], width: u16) -> Vec<u16> {
    let mut widths: Vec<u16> = group.iter().map(|&at| columns[at].least).collect();
    let mut left = width.saturating_sub(needed(widths.iter().copied(), NARROW_GAP));
    while left > 0 {
        let open = (0..group.len()).filter(|&it| widths[it] < columns[group[it]].whole);
        let Some(narrowest) = open.min_by_key(|&it| widths[it]) else {
            break;
        };
        widths[narrowest] += 1;
        left -= 1;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::TextTable;

    fn widest(text: &str) -> usize {
        text.lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn fitting_table_is_not_wrapped() {
        let mut table = TextTable::new(&["unit", "busy", "wait"]);
        table.add_row(["sram", "9.5%", "12"]);
        table.add_row(["scratch", "10.5%", "2"]);
        let text = "unit       busy   wait\nsram       9.5%     12\nscratch   10.5%      2";
        assert_eq!(table.fitted(22), text);
        assert_eq!(table.fitted(100), text);
        assert_eq!(widest(&table.fitted(20)), 20, "closer together");
    }

    #[test]
    fn sentences_wrap_and_numbers_do_not() {
        let mut table = TextTable::with_numbers(&["id", "value", "meaning"], 1..2);
        table.add_row([
            "a",
            "1,000,000",
            "what is said of it in a sentence of some length",
        ]);
        let text = table.fitted(40);
        assert!(widest(&text) <= 40, "{text}");
        assert!(text.contains("1,000,000"), "{text}");
        assert_eq!(text.split_whitespace().count(), 3 + 2 + 11, "{text}");
    }

    #[test]
    fn columns_without_room_are_folded() {
        let heads: Vec<_> = (0..12).map(|n| format!("column{n}")).collect();
        let heads: Vec<_> = heads.iter().map(String::as_str).collect();
        let mut table = TextTable::new(&heads);
        table.add_row((0..12).map(|n| format!("{n},000,000")));
        let text = table.fitted(50);
        assert!(widest(&text) <= 50, "{text}");
        assert!(text.matches("0,000,000").count() > 2, "{text}");
        for n in 1..12 {
            assert_eq!(
                text.matches(&format!("column{n} ")).count()
                    + text.matches(&format!("column{n}\n")).count(),
                1,
                "{n}\n{text}"
            );
        }
    }

    #[test]
    fn a_list_has_no_header() {
        let mut list = TextTable::list();
        list.add_row(["one", "the first of all"]);
        list.add_row(["three", "the last"]);
        assert_eq!(
            list.fitted(80),
            "one     the first of all\nthree   the last"
        );
        assert_eq!(
            list.fitted(15),
            "one    the\n       first of\n       all\nthree  the last"
        );
        assert_eq!(TextTable::list().fitted(80), "");
    }
}
