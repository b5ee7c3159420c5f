//! Live ranges: where in a program a name holds its register.

use std::fmt;
use std::str::FromStr;

/// A point in a program: just before or just after the word at an address.
///
/// A word reads its sources just before it and writes its destination just
/// after it, so a register may have two names in one word: `x`, which is read
/// for the last time, and `y`, which is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramPoint {
    /// Word address.
    pub address: u16,
    /// Whether the point is after the word.
    pub after: bool,
}

impl ProgramPoint {
    /// Returns the point at which the word reads its sources.
    #[must_use]
    pub const fn before(address: u16) -> Self {
        Self {
            address,
            after: false,
        }
    }

    /// Returns the point at which the word has written its destination.
    #[must_use]
    pub const fn after(address: u16) -> Self {
        Self {
            address,
            after: true,
        }
    }
}

/// `7` for the point before the word at 7, `7+` for the point after it.
impl fmt::Display for ProgramPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.address, if self.after { "+" } else { "" })
    }
}

impl FromStr for ProgramPoint {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (digits, after) = match text.strip_suffix('+') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        // `parse` would accept a sign.
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let address = digits.parse().ok().filter(|_| plain).ok_or(())?;
        Ok(Self { address, after })
    }
}

/// Consecutive points of a program in address order, including the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LiveRange {
    /// The first point.
    pub first: ProgramPoint,
    /// The last point, not before the first.
    pub last: ProgramPoint,
}

impl LiveRange {
    /// Whether the range contains the point.
    #[must_use]
    pub fn contains(&self, point: ProgramPoint) -> bool {
        (self.first..=self.last).contains(&point)
    }

    /// Whether the range contains the point before or after the word.
    #[must_use]
    pub fn touches(&self, address: u16) -> bool {
        self.first.address <= address && address <= self.last.address
    }
}

/// `3+..7`, or `3+` for a single point.
impl fmt::Display for LiveRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}..{}", self.first, self.last)
        }
    }
}

impl FromStr for LiveRange {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let (first, last): (ProgramPoint, ProgramPoint) = (first.parse()?, last.parse()?);
        (first <= last).then_some(Self { first, last }).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::{LiveRange, ProgramPoint};

    #[test]
    fn live_ranges_round_trip_as_text() {
        for text in ["0", "3+", "3..3+", "3+..7", "0..8191+"] {
            let range: LiveRange = text.parse().unwrap();
            assert_eq!(range.to_string(), text);
        }
        for text in ["", "+", "..", "7..3", "3+..3", "+3", "3++", "3..", "70000"] {
            assert_eq!(text.parse::<LiveRange>(), Err(()), "{text}");
        }
    }

    #[test]
    fn live_range_ends_at_the_last_read() {
        let range: LiveRange = "3+..7".parse().unwrap();
        let inside = [
            ProgramPoint::after(3),
            ProgramPoint::before(5),
            ProgramPoint::before(7),
        ];
        assert!(inside.into_iter().all(|point| range.contains(point)));
        assert!(
            !range.contains(ProgramPoint::before(3)) && !range.contains(ProgramPoint::after(7))
        );
        assert!(range.touches(3) && range.touches(7) && !range.touches(8));
    }
}
