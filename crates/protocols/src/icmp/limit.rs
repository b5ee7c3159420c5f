//! How often messages may be sent (RFC 1812, 4.3.2.8): a token bucket.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

/// A bucket that fills with time and from which each message takes a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Cycles in which a token comes.
    interval: Cycle,
    /// Cycles that fill it.
    full: Cycle,
    /// What is in it, in cycles.
    level: Cycle,
    /// When that was.
    at: Cycle,
}

impl TokenBucket {
    /// A full bucket of `burst` tokens, into which one comes every `interval` cycles; both at
    /// least 1.
    #[must_use]
    pub fn new(interval: Cycle, burst: u32) -> Self {
        let interval = interval.max(1);
        let full = interval.saturating_mul(burst.max(1).into());
        Self {
            interval,
            full,
            level: full,
            at: 0,
        }
    }

    /// Takes a token at a cycle, which is not before the last one; false if there is none.
    pub fn take(&mut self, now: Cycle) -> bool {
        let since = now.saturating_sub(self.at);
        self.level = self.level.saturating_add(since).min(self.full);
        self.at = now;
        let there = self.level >= self.interval;
        if there {
            self.level -= self.interval;
        }
        there
    }
}

#[cfg(test)]
mod tests {
    use super::TokenBucket;

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut limit = TokenBucket::new(100, 3);
        let taken: Vec<bool> = (0..5).map(|_| limit.take(1_000)).collect();
        assert_eq!(taken, [true, true, true, false, false]);
        assert!(!limit.take(1_099));
        assert!(limit.take(1_100));
        // Parts of a token are kept.
        assert!(!limit.take(1_150));
        assert!(limit.take(1_200));
    }

    #[test]
    fn in_a_long_time_no_more_than_rate_and_burst() {
        let mut limit = TokenBucket::new(1_000, 10);
        let sent = (0..1_000_000)
            .step_by(7)
            .filter(|now| limit.take(*now))
            .count();
        assert_eq!(sent, 10 + 999);
    }
}
