//! The part of a run that a timeline shows.

use std::str::FromStr;

use npsim_chip::Cycle;
use npsim_project::quantity::Time;

/// Microseconds shown if the end of the window is not given.
pub const DEFAULT_MICROSECONDS: u64 = 200;

/// Start and end of a window; either may be left open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeWindow {
    from: Option<Time>,
    until: Option<Time>,
}

impl TimeWindow {
    /// A window that starts at a cycle and has the default length.
    #[must_use]
    pub fn from_cycle(from: Cycle) -> Self {
        Self {
            from: Some(Time::Cycles(from)),
            until: None,
        }
    }

    /// A window that starts at a cycle and lasts as long as the run is observed.
    #[must_use]
    pub fn open_from(from: Cycle) -> Self {
        Self {
            from: Some(Time::Cycles(from)),
            until: Some(Time::Cycles(Cycle::MAX)),
        }
    }

    /// The window with all times divided, for something that runs `by` times as fast.
    #[must_use]
    pub fn divided(self, by: u64) -> Self {
        let divided = |time| match time {
            Time::Cycles(cycles) => Time::Cycles(cycles / by.max(1)),
            Time::Picoseconds(time) => Time::Picoseconds(time / by.max(1)),
        };
        Self {
            from: self.from.map(divided),
            until: self.until.map(divided),
        }
    }

    /// The first cycle shown, and the first one not shown.
    #[must_use]
    pub fn cycles(&self, hertz: u64) -> (Cycle, Cycle) {
        let from = self.from.map_or(0, |time| time.cycles(hertz));
        let until = self.until.map_or_else(
            || from.saturating_add(hertz / 1_000_000 * DEFAULT_MICROSECONDS),
            |time| time.cycles(hertz),
        );
        (from, until)
    }
}

impl FromStr for TimeWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((from, until)) = text.split_once("..") else {
            return Err(format!(
                "`{text}` is not a window of time; write `100us..120us`, `100us..`, or `..50us`"
            ));
        };
        let bound = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse().map(Some),
        };
        let (from, until) = (bound(from)?, bound(until)?);
        // The order of two times of the same kind is the same at any clock.
        let wrong = match (from, until) {
            (Some(Time::Cycles(from)), Some(Time::Cycles(until)))
            | (Some(Time::Picoseconds(from)), Some(Time::Picoseconds(until))) => from >= until,
            (_, Some(Time::Cycles(0) | Time::Picoseconds(0))) => true,
            _ => false,
        };
        if wrong {
            return Err(format!("the window `{text}` ends before it begins"));
        }
        Ok(Self { from, until })
    }
}

#[cfg(test)]
mod tests {
    use super::TimeWindow;

    #[test]
    fn window_bounds_are_given_or_default() {
        let cycles = |text: &str| text.parse::<TimeWindow>().map(|it| it.cycles(600_000_000));
        assert_eq!(cycles("100us..120us"), Ok((60_000, 72_000)));
        assert_eq!(cycles("100us.."), Ok((60_000, 180_000)));
        assert_eq!(cycles("..50us"), Ok((0, 30_000)));
        assert_eq!(cycles("100..2us"), Ok((100, 1_200)));
        assert_eq!(TimeWindow::default().cycles(600_000_000), (0, 120_000));
        for wrong in ["", "5us", "9us..3us", "3us..3us", "..0", "1..x"] {
            assert!(cycles(wrong).is_err(), "{wrong}");
        }
    }
}
