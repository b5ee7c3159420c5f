//! Formatting of numbers, words and lines for tables and CSV.

use crate::class::RowClass;
use crate::estimate::Estimate;
use crate::verdict::{Comparison, FigureValue};

/// Formats a number for tables, with about four significant digits.
#[must_use]
pub fn shown(number: f64) -> String {
    let size = number.abs();
    let digits = match size {
        s if s >= 1000.0 || s == 0.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        s if s >= 0.1 => 3,
        _ => 5,
    };
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Formats a mean for tables: `0.279 +- 0.012`, or `0.279 (equal)` if all runs are
/// equal.
pub(crate) fn shown_estimate(estimate: &Estimate) -> String {
    let mean = shown(estimate.mean);
    match estimate.half_width {
        Some(half_width) => format!("{mean} +- {}", shown(half_width)),
        None if estimate.has_equal_runs() => format!("{mean} (equal)"),
        None => mean,
    }
}

/// Formats a number or words for tables.
#[must_use]
pub(crate) fn shown_figure(figure: &FigureValue) -> String {
    match figure {
        FigureValue::Number(number) => shown(*number),
        FigureValue::Words(words) => words.clone(),
    }
}

/// Formats the difference of a row for tables: `-2.1%`.
#[must_use]
pub(crate) fn shown_difference(row: &Comparison) -> String {
    match (row.difference_percent, row.difference) {
        (Some(percent), _) => format!("{percent:+.1}%"),
        (None, Some(difference)) => format!("{difference:+.3}"),
        _ => String::new(),
    }
}

/// Formats the measured value of a row for tables: `0.279 +- 0.012` if there are
/// several runs.
#[must_use]
pub(crate) fn shown_measured(row: &Comparison) -> String {
    let Some(figure) = &row.measured else {
        return String::new();
    };
    let measured = shown_figure(figure);
    match row.interval {
        Some([low, high]) => format!("{measured} +- {}", shown((high - low) / 2.0)),
        None if row.equal_runs && matches!(figure, FigureValue::Number(_)) => {
            format!("{measured} ({} equal runs)", row.runs)
        }
        None => measured,
    }
}

/// Formats the class of a row, with what was chosen or fitted: `chosen in view:
/// LOCK_GAP`.
#[must_use]
pub(crate) fn shown_class(row: &Comparison) -> String {
    let class = row.class.name();
    let by = match row.class {
        RowClass::Calibrated => row.calibrated.clone(),
        RowClass::Chosen => Some(row.chosen.join(", ")),
        RowClass::Arithmetic => row.arithmetic.clone(),
        RowClass::Predicted | RowClass::Other | RowClass::OwnCheck => None,
    };
    by.map_or_else(|| class.to_owned(), |by| format!("{class}: {by}"))
}

/// Formats a line of CSV (RFC 4180).
pub(crate) fn line(fields: impl IntoIterator<Item = String>) -> String {
    let quoted: Vec<_> = fields
        .into_iter()
        .map(|field| {
            if field.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field
            }
        })
        .collect();
    quoted.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{line, shown};

    #[test]
    fn numbers_are_shown_with_significant_digits() {
        for (number, text) in [
            (4.0, "4"),
            (3.9375, "3.938"),
            (12.2, "12.2"),
            (123.456, "123.5"),
            (15000.4, "15000"),
            (0.0123, "0.0123"),
            (-0.5, "-0.5"),
            (0.0, "0"),
        ] {
            assert_eq!(shown(number), text);
        }
    }

    #[test]
    fn csv_fields_with_commas_and_quotes_are_escaped() {
        let fields = ["a", "b,c", "d\"e"].map(String::from);
        assert_eq!(line(fields), "a,\"b,c\",\"d\"\"e\"\n");
    }
}
