//! The rate limit of messages (RFC 1812, 4.3.2.8): a token bucket.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

/// A bucket that fills over time; each message takes a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// Cycles per token.
    interval: Cycle,
    /// Cycles that fill it.
    full: Cycle,
    /// Its level, in cycles.
    level: Cycle,
    /// The cycle of that level.
    at: Cycle,
}

impl TokenBucket {
    /// Creates a full bucket of `burst` tokens that gains one every `interval` cycles; both
    /// are at least 1.
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

    /// Takes a token at a cycle not before the previous one; returns false if there is none.
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
    fn token_bucket_allows_a_burst_then_the_rate() {
        let mut limit = TokenBucket::new(100, 3);
        let taken: Vec<bool> = (0..5).map(|_| limit.take(1_000)).collect();
        assert_eq!(taken, [true, true, true, false, false]);
        assert!(!limit.take(1_099));
        assert!(limit.take(1_100));
        // Fractions of a token are kept.
        assert!(!limit.take(1_150));
        assert!(limit.take(1_200));
    }

    #[test]
    fn long_run_total_is_bounded_by_rate_and_burst() {
        let mut limit = TokenBucket::new(1_000, 10);
        let sent = (0..1_000_000)
            .step_by(7)
            .filter(|now| limit.take(*now))
            .count();
        assert_eq!(sent, 10 + 999);
    }
}
