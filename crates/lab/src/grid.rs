//! Tables laid out as in publications: rows and columns of measured values,
//! each with the published one in brackets.

use std::fmt::Write as _;

use npsim_session::text_table::TextTable;
use serde::Serialize;

use crate::curves::named;
use crate::evaluate::value;
use crate::expression::CurveName;
use crate::format::{line, shown, shown_figure};
use crate::results::Results;
use crate::study::{PublishedCell, Study, Table};
use crate::verdict::{FigureValue, Verdict, compare};

/// A table with all cells filled in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grid {
    /// The file name, without extension.
    pub name: String,
    /// The title.
    pub title: String,
    /// The heading of the column of row labels.
    pub corner: String,
    /// The column headings.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<GridRow>,
    /// The note below the table.
    pub note: String,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GridRow {
    /// The row's label.
    pub label: String,
    /// One cell per column.
    pub cells: Vec<GridCell>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GridCell {
    /// The text shown: `6.71 (6.6)`.
    pub text: String,
    /// The measured value.
    pub measured: Option<FigureValue>,
    /// The published value.
    pub published: Option<FigureValue>,
    /// The verdict on their comparison.
    pub verdict: Option<Verdict>,
}

/// Fills in the tables of a study.
#[must_use]
pub fn grids(study: &Study, results: &Results) -> Vec<Grid> {
    study
        .table
        .iter()
        .map(|table| fill(study, results, table))
        .collect()
}

fn fill(study: &Study, results: &Results, table: &Table) -> Grid {
    let rows = table.row.iter().map(|row| GridRow {
        label: row.label.clone(),
        cells: row
            .cell
            .iter()
            .map(|cell| fill_cell(study, results, cell))
            .collect(),
    });
    let unit = match table.unit.as_str() {
        "" => String::new(),
        unit => format!(" [{unit}]"),
    };
    Grid {
        name: table.name.clone(),
        title: format!("{}{unit}", table.title),
        corner: table.corner.clone(),
        columns: table.columns.clone(),
        rows: rows.collect(),
        note: table.note.clone(),
    }
}

fn fill_cell(study: &Study, results: &Results, cell: &PublishedCell) -> GridCell {
    match cell {
        PublishedCell::Text(text) => GridCell {
            text: text.clone(),
            ..GridCell::default()
        },
        PublishedCell::Measured { measured } => {
            let curves = |curve: &CurveName| named(study, results, curve);
            let measured = value(measured, &curves).ok().filter(|v| v.is_finite());
            GridCell {
                text: measured.map_or_else(|| "-".into(), shown),
                measured: measured.map(FigureValue::Number),
                ..GridCell::default()
            }
        }
        PublishedCell::Published { id, nth } => {
            let mut rows = study.published.iter().filter(|row| row.id == *id);
            let Some(published) = rows.nth(*nth) else {
                return GridCell::default();
            };
            let row = compare(study, results, published);
            let measured = row.measured.as_ref().map_or("-".into(), shown_figure);
            GridCell {
                text: format!("{measured} ({})", shown_figure(&row.published)),
                measured: row.measured,
                published: Some(row.published),
                verdict: Some(row.verdict),
            }
        }
    }
}

impl GridCell {
    /// The text for output without colour: a word marks a miss.
    fn plain(&self) -> String {
        match self.verdict {
            Some(Verdict::Miss | Verdict::ShapeMiss) => format!("{} miss", self.text),
            Some(Verdict::Undecided) => format!("{} undecided", self.text),
            _ => self.text.clone(),
        }
    }
}

impl Grid {
    fn lines(&self) -> impl Iterator<Item = Vec<String>> {
        let head = std::iter::once(&self.corner).chain(&self.columns);
        let rows = self.rows.iter().map(|row| {
            let cells = row.cells.iter().map(GridCell::plain);
            std::iter::once(row.label.clone()).chain(cells).collect()
        });
        std::iter::once(head.cloned().collect()).chain(rows)
    }

    /// Formats the table for a terminal of this width in columns.
    #[must_use]
    pub fn terminal(&self, width: usize) -> String {
        let mut lines = self.lines();
        let heads = lines.next().unwrap_or_default();
        let heads: Vec<_> = heads.iter().map(String::as_str).collect();
        let mut table = TextTable::new(&heads);
        for line in lines {
            table.add_row(line);
        }
        let mut text = format!("{}\n{}", self.title, table.fitted(width));
        if !self.note.is_empty() {
            text.push('\n');
            text += &self.note;
        }
        text
    }

    /// Formats the table as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("{}\n\n", self.title);
        for (number, line) in self.lines().enumerate() {
            let cells: Vec<_> = line
                .iter()
                .map(|cell| cell.replace('|', "\\|").replace('\n', " "))
                .collect();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if number == 0 {
                let rules = vec!["---:"; line.len().saturating_sub(1)];
                let _ = writeln!(
                    text,
                    "|{}|",
                    std::iter::once(" --- ".to_owned())
                        .chain(rules.iter().map(|rule| format!(" {rule} ")))
                        .collect::<Vec<_>>()
                        .join("|")
                );
            }
        }
        if !self.note.is_empty() {
            let _ = writeln!(text, "\n{}", self.note);
        }
        text
    }

    /// Formats the table as CSV: one line per cell, with all digits.
    #[must_use]
    pub fn csv(&self) -> String {
        let head = ["row", "column", "measured", "published", "verdict"];
        let mut text = line(head.map(String::from));
        let exact = |figure: &Option<FigureValue>| match figure {
            Some(FigureValue::Number(number)) => number.to_string(),
            Some(FigureValue::Words(words)) => words.clone(),
            None => String::new(),
        };
        for row in &self.rows {
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                let measured = match (&cell.measured, cell.verdict) {
                    (None, None) if cell.text != "-" => cell.text.clone(),
                    (measured, _) => exact(measured),
                };
                text += &line([
                    row.label.clone(),
                    column.clone(),
                    measured,
                    exact(&cell.published),
                    cell.verdict
                        .map(Verdict::name)
                        .unwrap_or_default()
                        .to_owned(),
                ]);
            }
        }
        text
    }
}
