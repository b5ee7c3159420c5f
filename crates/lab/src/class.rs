//! Classes of comparison rows: whether a row could have failed, and what was chosen with it in
//! view.

use serde::Serialize;

use crate::study::{Published, Study};

/// The class of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowClass {
    /// A parameter or a definition was fitted to the row.
    Calibrated,
    /// A constant was chosen with the row in view.
    Chosen,
    /// No constant was chosen for the row: it could have failed.
    Predicted,
    /// The row cannot fail, or follows from other rows; it is shown and not counted.
    Arithmetic,
    /// Its points ran on a chip other than the study's, or with other settings: it is compared, but
    /// reproduces nothing.
    Other,
    /// The row is about the study itself, not about a published value.
    OwnCheck,
}

impl RowClass {
    /// The classes that are counted, in the order of reports.
    pub const COUNTED: [Self; 3] = [Self::Calibrated, Self::Chosen, Self::Predicted];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::Chosen => "chosen in view",
            Self::Predicted => "predicted",
            Self::Arithmetic => "arithmetic",
            Self::Other => "another system",
            Self::OwnCheck => "own check",
        }
    }

    /// The class of a published value, and the constants that served it.
    #[must_use]
    pub fn of<'a>(study: &'a Study, row: &Published) -> (Self, Vec<&'a str>) {
        let served = study.chosen.iter().filter(|c| c.rows.contains(&row.id));
        let served: Vec<&str> = served.map(|chosen| chosen.name.as_str()).collect();
        let class = if row.arithmetic.is_some() {
            Self::Arithmetic
        } else if row.calibrated.is_some() {
            Self::Calibrated
        } else if served.is_empty() {
            Self::Predicted
        } else {
            Self::Chosen
        };
        (class, served)
    }
}
