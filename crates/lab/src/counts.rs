//! The number of reproduced rows of a comparison, by class.

use serde::Serialize;

use crate::class::RowClass;
use crate::verdict::{Comparison, Verdict};

/// The number of rows of a class, and their verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// All rows of the class.
    pub rows: usize,
    /// Rows that were reproduced.
    pub reproduced: usize,
    /// Rows neither reproduced nor missed: the limit lies within the interval.
    pub undecided: usize,
}

impl ClassCount {
    const fn is_empty(&self) -> bool {
        self.rows == 0
    }
}

/// The rows of a comparison by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassCounts {
    /// Rows to which something was fitted.
    pub calibrated: ClassCount,
    /// Rows that a chosen constant served.
    pub chosen: ClassCount,
    /// All other rows that could fail.
    pub predicted: ClassCount,
    /// Rows that cannot fail; excluded from all sums.
    pub arithmetic: usize,
    /// Rows measured on a chip other than the study's or with other settings, including those
    /// within their tolerance: they reproduce nothing and are excluded from all sums.
    #[serde(skip_serializing_if = "ClassCount::is_empty")]
    pub other: ClassCount,
}

impl ClassCounts {
    /// Counts rows.
    #[must_use]
    pub fn of(rows: &[Comparison]) -> Self {
        let mut counts = Self::default();
        for row in rows {
            let count = match row.class {
                RowClass::Calibrated => &mut counts.calibrated,
                RowClass::Chosen => &mut counts.chosen,
                RowClass::Predicted => &mut counts.predicted,
                RowClass::Arithmetic => {
                    counts.arithmetic += 1;
                    continue;
                }
                RowClass::Other => &mut counts.other,
                RowClass::OwnCheck => continue,
            };
            count.rows += 1;
            count.reproduced += usize::from(row.verdict.is_hit());
            count.undecided += usize::from(row.verdict == Verdict::Undecided);
        }
        counts
    }

    fn classes(&self) -> [(RowClass, ClassCount); 3] {
        let [calibrated, chosen, predicted] = RowClass::COUNTED;
        [
            (calibrated, self.calibrated),
            (chosen, self.chosen),
            (predicted, self.predicted),
        ]
    }

    /// All rows that are counted.
    #[must_use]
    pub fn all(&self) -> ClassCount {
        let mut all = ClassCount::default();
        for (_, count) in self.classes() {
            all.rows += count.rows;
            all.reproduced += count.reproduced;
            all.undecided += count.undecided;
        }
        all
    }

    /// The summary line: `9 of 10 reproduced: 1 of 1 calibrated, 8 of 9 chosen in view; 2 rows
    /// are arithmetic and do not count`.
    #[must_use]
    pub fn shown(&self) -> String {
        let all = self.all();
        let other = self.other;
        if all.rows == 0 && other.rows > 0 {
            return self.shown_other();
        }
        let mut text = format!("{} of {} reproduced", all.reproduced, all.rows);
        let classes: Vec<_> = self
            .classes()
            .into_iter()
            .filter(|(_, count)| count.rows > 0)
            .map(|(class, count)| {
                format!("{} of {} {}", count.reproduced, count.rows, class.name())
            })
            .collect();
        if !classes.is_empty() {
            text = format!("{text}: {}", classes.join(", "));
        }
        if all.undecided > 0 {
            text = format!("{text}; {} undecided", all.undecided);
        }
        match self.arithmetic {
            0 => {}
            1 => text += "; 1 row is arithmetic and does not count",
            rows => text = format!("{text}; {rows} rows are arithmetic and do not count"),
        }
        if other.rows > 0 {
            text = format!("{text}; {}", self.shown_other());
        }
        text
    }

    /// The summary of rows that were compared with another system; it never claims that they hold
    /// for the study's.
    fn shown_other(&self) -> String {
        let ClassCount {
            rows,
            reproduced: near,
            ..
        } = self.other;
        let values = if rows == 1 {
            "value was"
        } else {
            "values were"
        };
        format!(
            "{rows} {values} compared on another chip or with other settings than the study's, \
             which confirms nothing: {near} within the tolerance"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ClassCounts, RowClass};
    use crate::results::Results;
    use crate::selection::select;
    use crate::study::Study;
    use crate::verdict::rows;

    const TEXT: &str = r#"
name = "s"
title = "t"
[metric.rate]
measure = "egress-rate"
[sweep.a]
system = "x"
[[published]]
id = "H-1"
what = "fitted"
value = 2.0
tolerance = "5%"
source = "s"
evidence = "text"
calibrated = "dram.x"
measured = { is = "max", of = "a.rate" }
[[published]]
id = "H-1"
what = "seen"
value = 4.0
tolerance = "5%"
source = "s"
evidence = "text"
measured = { is = "max", of = "a.rate" }
[[published]]
id = "H-2"
what = "free"
at_least = 1
source = "s"
evidence = "text"
measured = { is = "max", of = "a.rate" }
[[published]]
id = "H-3"
what = "read back"
value = 7
tolerance = "1%"
source = "s"
evidence = "text"
arithmetic = "it is a parameter"
measured = { is = "max", of = "a.rate" }
[[chosen]]
name = "GAP"
what = "a pause"
value = 18
set = ["define.GAP"]
rows = ["H-1"]
why = "so"
"#;

    #[test]
    fn rows_are_classed_as_calibrated_chosen_or_predicted() {
        let study = Study::parse("s", TEXT).unwrap();
        let rows = rows(&study, &Results::default(), &select(&study, &[]).unwrap());
        let classes: Vec<_> = rows.iter().map(|row| row.class).collect();
        assert_eq!(
            classes,
            [
                RowClass::Calibrated,
                RowClass::Chosen,
                RowClass::Predicted,
                RowClass::Arithmetic
            ]
        );
        assert_eq!(rows[1].chosen, ["GAP"]);
        let counts = ClassCounts::of(&rows);
        assert_eq!((counts.all().rows, counts.arithmetic), (3, 1));
        assert_eq!(
            counts.shown(),
            "0 of 3 reproduced: 0 of 1 calibrated, 0 of 1 chosen in view, 0 of 1 predicted; \
             1 row is arithmetic and does not count"
        );
    }

    #[test]
    fn chosen_values_and_tolerances_are_checked() {
        let refused = |from: &str, to: &str| {
            let text = TEXT.replacen(from, to, 1);
            assert_ne!(text, TEXT, "{from}");
            Study::parse("s", &text).unwrap_err().to_string()
        };
        let message = refused("rows = [\"H-1\"]", "rows = [\"H-9\"]");
        assert!(message.contains("no published value is `H-9`"), "{message}");
        let message = refused("set = [\"define.GAP\"]", "set = []");
        assert!(message.contains("a decision has neither"), "{message}");
        let message = refused("value = 18", "value = \"fast\"");
        assert!(message.contains("`instead`"), "{message}");
        let message = refused("why = \"so\"", "why = \"so\"\nsweeps = [\"b*\"]");
        assert!(message.contains("no sweep is called `b*`"), "{message}");
        let message = refused(
            "value = 4.0\ntolerance = \"5%\"",
            "value = 4.0\ntolerance = \"10%\"",
        );
        assert!(
            message.contains("the tolerance 5%, another one 10%"),
            "{message}"
        );
        let message = refused(
            "arithmetic = \"it is a parameter\"",
            "arithmetic = \"so\"\ncalibrated = \"x\"",
        );
        assert!(message.contains("cannot fail"), "{message}");
    }
}
