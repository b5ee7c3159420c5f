//! Hit numbers: a property of the run, the same however the debugger got there.

use std::str::FromStr;

use crate::error::DebugError;
use crate::timeline::TimePoint;

/// Which hits count, by their number in the run, 1 for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hits {
    /// The hit with this number.
    Exactly(u64),
    /// The hit with this number and all later ones.
    From(u64),
    /// Every hit whose number is a multiple.
    Every(u64),
}

impl Hits {
    /// Whether a hit counts.
    #[must_use]
    pub fn counts(self, number: u64) -> bool {
        match self {
            Self::Exactly(n) => number == n,
            Self::From(n) => number >= n,
            Self::Every(n) => number.is_multiple_of(n),
        }
    }
}

impl FromStr for Hits {
    type Err = DebugError;

    fn from_str(text: &str) -> Result<Self, DebugError> {
        let text = text.trim();
        let wrong = || {
            DebugError::new(format!("`{text}` is not a number of hits"))
                .help("write `5` for the fifth, `>=5` from the fifth on, `%5` for each fifth")
        };
        let number = |digits: &str| {
            let number: u64 = digits.trim().parse().map_err(|_| wrong())?;
            if number == 0 {
                Err(wrong())
            } else {
                Ok(number)
            }
        };
        if let Some(digits) = text.strip_prefix(">=") {
            return number(digits).map(Self::From);
        }
        if let Some(digits) = text.strip_prefix('>') {
            return number(digits).map(|n| Self::From(n + 1));
        }
        if let Some(digits) = text.strip_prefix('%') {
            return number(digits).map(Self::Every);
        }
        number(text.trim_start_matches('=')).map(Self::Exactly)
    }
}

impl std::fmt::Display for Hits {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(n) => write!(out, "{n}"),
            Self::From(n) => write!(out, ">={n}"),
            Self::Every(n) => write!(out, "%{n}"),
        }
    }
}

/// The hits of the run from its beginning up to some point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HitCount {
    hits: Vec<TimePoint>,
    /// All hits at or before this point are known.
    through: TimePoint,
}

impl HitCount {
    pub fn through(&self) -> TimePoint {
        self.through
    }

    /// Notes that all hits at or before a point are known.
    pub fn known_through(&mut self, moment: TimePoint) {
        self.through = self.through.max(moment);
    }

    /// Records a hit, after all known ones or among them, and returns its number.
    pub fn note(&mut self, moment: TimePoint) -> u64 {
        let place = self.hits.partition_point(|it| *it < moment);
        if self.hits.get(place) != Some(&moment) {
            self.hits.insert(place, moment);
        }
        place as u64 + 1
    }

    /// The number of known hits at or before a point.
    pub fn until(&self, moment: TimePoint) -> usize {
        self.hits.partition_point(|it| *it <= moment)
    }

    /// Forgets the hits after a point, from which the run will take a different course.
    pub fn forget_after(&mut self, moment: TimePoint) {
        let keep = self.until(moment);
        self.hits.truncate(keep);
        self.through = self.through.min(moment);
    }
}
