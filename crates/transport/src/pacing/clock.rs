//! Timer clocks.

use serde::{Deserialize, Serialize};

use crate::scaling::{ScaleError, divided};
use npsim_protocols::time::{SECOND, Time};

/// The clock of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimerClock {
    /// A timer fires when it is due.
    Exact,
    /// A periodic interrupt: a timer fires with the first one at or after its time.
    Jiffies {
        /// Time between interrupts.
        tick: Time,
    },
    /// A ring of buckets that hardware serves in order.
    Ring {
        /// Duration of a bucket.
        tick: Time,
        /// The nearest bucket that an entry may use, counted in buckets from the current one.
        ahead: u8,
    },
}

impl TimerClock {
    /// The timer ring as described in its paper (Shang et al.): a bucket is one cycle of an 800 MHz
    /// core.
    pub const PAPER: Self = Self::Ring {
        tick: 1_250,
        ahead: 0,
    };

    /// The timer ring with the settings of the OCTEON SDK: buckets of 2048 cycles at 800 MHz, since
    /// the unit could not fetch buckets faster, and entries at least two buckets ahead.
    pub const SDK: Self = Self::Ring {
        tick: 2_048 * 1_250,
        ahead: 2,
    };

    /// Returns the clock of a kernel with `hz` timer interrupts per second, at least 1.
    #[must_use]
    pub const fn jiffies(hz: u64) -> Self {
        Self::Jiffies { tick: SECOND / hz }
    }

    /// Returns when a timer fires that is set at `now` for `due`; never before either.
    #[must_use]
    pub fn fires_at(self, now: Time, due: Time) -> Time {
        let due = due.max(now);
        match self {
            Self::Exact => due,
            Self::Jiffies { tick } => due.div_ceil(tick).saturating_mul(tick),
            Self::Ring { tick, ahead } => {
                let nearest = (now / tick).saturating_add(Time::from(ahead));
                due.div_ceil(tick).max(nearest).saturating_mul(tick)
            }
        }
    }

    pub(crate) fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        Ok(match self {
            Self::Exact => Self::Exact,
            Self::Jiffies { tick } => Self::Jiffies {
                tick: divided("the tick of the timer interrupt", tick, scale)?,
            },
            Self::Ring { tick, ahead } => Self::Ring {
                tick: divided("the bucket of the timer ring", tick, scale)?,
                ahead,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use npsim_protocols::time::MILLISECOND;
    use proptest::prelude::*;

    #[test]
    fn timers_due_within_a_jiffy_fire_together() {
        let clock = TimerClock::jiffies(250);
        assert_eq!(clock.fires_at(0, 1), 4 * MILLISECOND);
        assert_eq!(clock.fires_at(0, 4 * MILLISECOND), 4 * MILLISECOND);
        assert_eq!(clock.fires_at(0, 4 * MILLISECOND + 1), 8 * MILLISECOND);
    }

    #[test]
    fn sdk_timer_ring_fires_at_least_two_buckets_ahead() {
        let bucket = 2_560_000;
        assert_eq!(TimerClock::SDK.fires_at(0, 1), 2 * bucket);
        assert_eq!(TimerClock::SDK.fires_at(bucket - 1, bucket), 2 * bucket);
        assert_eq!(TimerClock::SDK.fires_at(bucket, bucket), 3 * bucket);
        assert_eq!(TimerClock::SDK.fires_at(0, 5 * bucket - 1), 5 * bucket);
        assert_eq!(TimerClock::PAPER.fires_at(0, 1), 1_250);
    }

    proptest! {
        #[test]
        fn no_timer_fires_early(now in 0..SECOND, ahead in 0..SECOND) {
            for clock in [TimerClock::Exact, TimerClock::PAPER, TimerClock::SDK, TimerClock::jiffies(100)] {
                let at = clock.fires_at(now, now + ahead);
                prop_assert!(at >= now + ahead);
                prop_assert!(at - (now + ahead) <= 10 * MILLISECOND);
            }
        }
    }
}
