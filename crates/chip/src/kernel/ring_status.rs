//! The lines that carry one status bit per scratch ring to every microengine, with a lag behind the
//! rings.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::Cycle;

/// Status lines of the sixteen scratch rings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RingStatusLines {
    lines: [Line; 16],
    lag: Cycle,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Line {
    /// The level before the first change in `changes`.
    before: bool,
    /// The times and levels of the changes of the line, in order.
    changes: VecDeque<(Cycle, bool)>,
}

impl RingStatusLines {
    /// Creates lines that are all low; changes become visible `lag` cycles after they happen.
    #[must_use]
    pub fn new(lag: Cycle) -> Self {
        Self {
            lines: std::array::from_fn(|_| Line::default()),
            lag,
        }
    }

    /// Records that the ring's status became `level` at `now`.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of each change of a ring.
    pub fn set(&mut self, ring: u8, now: Cycle, level: bool) {
        let line = &mut self.lines[ring as usize % 16];
        // Changes that are visible by now are settled: microengines run ahead of the chip, never
        // behind it, so none reads an earlier cycle. Later changes have to stay separate, since
        // each microengine is at its own cycle.
        while let Some(&(at, level)) = line.changes.front()
            && at <= now
        {
            line.before = level;
            line.changes.pop_front();
        }
        if line.changes.back().map_or(line.before, |change| change.1) != level {
            line.changes.push_back((now + self.lag, level));
        }
    }

    /// Sets a level without lag: before the start, and after a new base register.
    pub(crate) fn preset(&mut self, ring: u8, level: bool) {
        self.lines[ring as usize % 16] = Line {
            before: level,
            changes: VecDeque::new(),
        };
    }

    /// The level that a microengine sees.
    #[must_use]
    pub fn level(&self, ring: u8, now: Cycle) -> bool {
        let line = &self.lines[ring as usize % 16];
        line.changes
            .iter()
            .take_while(|change| change.0 <= now)
            .last()
            .map_or(line.before, |change| change.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_status_change_shows_after_the_lag() {
        let mut lines = RingStatusLines::new(12);
        lines.set(3, 100, true);
        lines.set(3, 105, false);
        assert!(!lines.level(3, 111));
        assert!(lines.level(3, 112) && lines.level(3, 116));
        assert!(!lines.level(3, 117));
        assert!(!lines.level(4, 112));
        lines.set(3, 200, true);
        assert!(!lines.level(3, 211) && lines.level(3, 212));
    }

    #[test]
    fn ring_status_preset_shows_immediately() {
        let mut lines = RingStatusLines::new(12);
        lines.preset(0, true);
        assert!(lines.level(0, 0));
    }
}
