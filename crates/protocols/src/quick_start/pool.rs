//! The capacity that a router grants rates from, under a lock or with atomic additions.

use serde::{Deserialize, Serialize};

use super::option::rate_units;

/// The highest code not above `code` whose rate fits into limit - granted; 0 denies.
#[must_use]
pub fn grant(limit: i32, granted: i32, code: u8) -> u8 {
    let available = i64::from(limit) - i64::from(granted);
    (1..=code & 0xf)
        .rev()
        .find(|code| i64::from(rate_units(*code)) <= available)
        .unwrap_or(0)
}

/// The limit of a window and what has been granted, both in units of 40 kbit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GrantPool {
    /// The maximum of `granted`; negative when the line carries more than it should.
    pub limit: i32,
    /// The rates granted in the window.
    pub granted: i32,
}

impl GrantPool {
    /// Grants a request for `code` as far as there is room; returns the granted code, 0 if denied.
    pub fn grant(&mut self, code: u8) -> u8 {
        let code = grant(self.limit, self.granted, code);
        self.granted = self.granted.wrapping_add(rate_units(code));
        code
    }

    /// First step without a lock: adds the whole request at once.
    pub fn add(&mut self, code: u8) -> PendingRequest {
        let before = self.granted;
        self.granted = self.granted.wrapping_add(rate_units(code));
        PendingRequest { code, before }
    }

    /// Second step without a lock: takes back what is not granted. Returns the granted code, 0 if
    /// denied.
    pub fn settle(&mut self, request: PendingRequest) -> u8 {
        let code = grant(self.limit, request.before, request.code);
        self.granted = self
            .granted
            .wrapping_sub(rate_units(request.code) - rate_units(code));
        code
    }
}

/// A request that was added to a pool and not yet settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingRequest {
    code: u8,
    before: i32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// QF: requests of 10.24 Mbit/s until 1 Gbit/s is full.
    #[test]
    fn a_pool_fills_to_the_last_unit() {
        let mut pool = GrantPool {
            limit: 25_000,
            granted: 0,
        };
        let codes: Vec<u8> = (0..110).map(|_| pool.grant(8)).collect();
        assert!(codes[..97].iter().all(|code| *code == 8));
        assert_eq!(codes[97..100], [7, 5, 3]);
        assert!(codes[100..].iter().all(|code| *code == 0));
        assert_eq!(pool.granted, 25_000);
    }

    fn interleave(granted: i32, a: u8, b: u8, order: &str) -> (u8, u8, i32) {
        let mut pool = GrantPool {
            limit: 25_000,
            granted,
        };
        let mut requests = [None; 2];
        let mut codes = [0; 2];
        for step in order.split(' ') {
            let (who, what) = step.split_at(1);
            let who = usize::from(who == "B");
            match what {
                "+" => requests[who] = Some(pool.add([a, b][who])),
                _ => codes[who] = pool.settle(requests[who].unwrap()),
            }
        }
        (codes[0], codes[1], pool.granted)
    }

    /// QA1 to QA3.
    #[test]
    fn two_unlocked_threads_never_exceed_the_limit() {
        assert_eq!(interleave(24_900, 8, 5, "A+ A- B+ B-"), (6, 5, 24_996));
        assert_eq!(interleave(24_900, 8, 5, "A+ B+ A- B-"), (6, 0, 24_964));
        assert_eq!(interleave(24_900, 8, 5, "A+ B+ B- A-"), (6, 0, 24_964));
        for order in ["A+ A- B+ B-", "A+ B+ A- B-", "A+ B+ B- A-"] {
            assert_eq!(interleave(24_600, 8, 8, order), (8, 7, 24_984), "{order}");
        }
    }

    #[test]
    fn extreme_limits_do_not_overflow() {
        assert_eq!(grant(i32::MIN, i32::MAX, 15), 0);
        assert_eq!(grant(i32::MAX, i32::MIN, 15), 15);
    }

    proptest! {
        #[test]
        fn a_grant_is_the_largest_code_that_fits(limit: i32, granted: i32, code in 0_u8..16) {
            let got = grant(limit, granted, code);
            let room = i64::from(limit) - i64::from(granted);
            prop_assert!(got <= code);
            prop_assert!(got == 0 || i64::from(rate_units(got)) <= room);
            prop_assert!(got == code || i64::from(rate_units(got + 1)) > room);
        }

        #[test]
        fn atomic_and_locked_grants_agree_when_sequential(limit in -1000_i32..40_000, codes in prop::collection::vec(0_u8..16, 0..60)) {
            let mut locked = GrantPool { limit, granted: 0 };
            let mut atomic = locked;
            for code in codes {
                let request = atomic.add(code);
                prop_assert_eq!(atomic.settle(request), locked.grant(code));
                prop_assert_eq!(atomic, locked);
            }
        }

        /// Threads add and settle in any order: grants never exceed the limit, and the pool ends up
        /// with exactly what was granted.
        #[test]
        fn any_interleaving_keeps_the_limit(
            limit in 0_i32..40_000,
            steps in prop::collection::vec((0_usize..6, 0_u8..16), 0..200),
        ) {
            let mut pool = GrantPool { limit, granted: 0 };
            let mut pending: [Option<PendingRequest>; 6] = [None; 6];
            let mut total = 0;
            for (thread, code) in steps {
                match pending[thread].take() {
                    None => pending[thread] = Some(pool.add(code)),
                    Some(request) => total += rate_units(pool.settle(request)),
                }
                prop_assert!(total <= limit);
            }
            for request in pending.into_iter().flatten() {
                total += rate_units(pool.settle(request));
            }
            prop_assert!(total <= limit);
            prop_assert_eq!(pool.granted, total);
        }
    }
}
