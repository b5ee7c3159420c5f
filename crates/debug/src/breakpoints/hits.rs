//! Which hit it is: a number of the run, the same however one came there.

use std::str::FromStr;

use crate::error::DebugError;
use crate::timeline::TimePoint;

/// Which hits count, by their number from the beginning of the run, 1 for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hits {
    /// The hit of this number.
    Exactly(u64),
    /// The hit of this number and all after it.
    From(u64),
    /// Every hit of a multiple.
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
            DebugError::new(format!("`{text}` is no number of hits"))
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

/// The hits of the run from its beginning up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HitCount {
    hits: Vec<TimePoint>,
    /// All at or before this moment are known.
    through: TimePoint,
}

impl HitCount {
    pub fn through(&self) -> TimePoint {
        self.through
    }

    /// All at or before a moment are known now.
    pub fn known_through(&mut self, moment: TimePoint) {
        self.through = self.through.max(moment);
    }

    /// There is a hit, after all that are known or among them; its number.
    pub fn note(&mut self, moment: TimePoint) -> u64 {
        let place = self.hits.partition_point(|it| *it < moment);
        if self.hits.get(place) != Some(&moment) {
            self.hits.insert(place, moment);
        }
        place as u64 + 1
    }

    /// How many are known at or before a moment.
    pub fn until(&self, moment: TimePoint) -> usize {
        self.hits.partition_point(|it| *it <= moment)
    }

    /// The run will be another one after a moment.
    pub fn forget_after(&mut self, moment: TimePoint) {
        let keep = self.until(moment);
        self.hits.truncate(keep);
        self.through = self.through.min(moment);
    }
}
