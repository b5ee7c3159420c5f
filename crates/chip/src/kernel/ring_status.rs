//! The wires that carry one status bit per scratch ring to every microengine. They
//! lag behind the rings.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::Cycle;

/// Status bits of the sixteen scratch rings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RingStatusLines {
    lines: [Line; 16],
    lag: Cycle,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Line {
    /// The level before the first change in `changes`.
    before: bool,
    /// When the line takes which level, in order of time.
    changes: VecDeque<(Cycle, bool)>,
}

impl RingStatusLines {
    /// All lines low; changes show `lag` cycles after they happened.
    #[must_use]
    pub fn new(lag: Cycle) -> Self {
        Self {
            lines: std::array::from_fn(|_| Line::default()),
            lag,
        }
    }

    /// The ring's status became `level` at `now`.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of each change of a ring.
    pub fn set(&mut self, ring: u8, now: Cycle, level: bool) {
        let line = &mut self.lines[ring as usize % 16];
        // Changes that have shown by now are settled: microengines run ahead of the chip,
        // never behind it, so none asks for an earlier cycle. Later ones have to stay apart,
        // since each microengine is at a cycle of its own.
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

    /// Sets a level without lag: before the start and after a new base register.
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
    fn a_change_shows_after_the_lag() {
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
    fn a_preset_shows_at_once() {
        let mut lines = RingStatusLines::new(12);
        lines.preset(0, true);
        assert!(lines.level(0, 0));
    }
}
