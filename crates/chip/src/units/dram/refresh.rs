//! Refreshes: when one is due and which banks it blocks.
//!
//! A refresh is not an event, so an idle channel costs nothing. Refreshes that have fallen due are
//! applied before the channel's next decision.

use npsim_profile::{Profile, RefreshPolicy};
use serde::{Deserialize, Serialize};

use crate::Cycle;

/// The profile's refresh parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RefreshTiming {
    interval: Cycle,
    /// Cycles for which a refresh blocks its banks.
    pub cycles: Cycle,
    /// Banks of the channel, and banks per refresh.
    banks: usize,
    together: usize,
}

impl RefreshTiming {
    pub fn new(profile: &Profile) -> Self {
        let banks = usize::from(profile.dram_banks());
        Self {
            interval: profile.dram_refresh_interval(),
            cycles: profile.dram_refresh_cycles(),
            banks,
            together: match profile.dram_refresh() {
                RefreshPolicy::InTurn => usize::from(profile.dram_refresh_banks()).min(banks),
                RefreshPolicy::AllBank => banks,
            },
        }
    }
}

/// The refreshes of a channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Refresh {
    pub timing: RefreshTiming,
    next: Cycle,
    /// The first bank of the next refresh.
    first: usize,
}

/// Refreshes that have fallen due; the last may still block its banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// When the last one was due.
    pub at: Cycle,
    /// Number of refreshes.
    pub count: u64,
    /// The first bank of the last one.
    first: usize,
}

impl Refresh {
    pub fn new(timing: RefreshTiming) -> Self {
        Self {
            next: timing.interval,
            timing,
            first: 0,
        }
    }

    /// Whether a refresh is due.
    #[inline]
    pub fn is_due(&self, now: Cycle) -> bool {
        now >= self.next
    }

    /// Takes the refreshes that are due; there must be at least one.
    pub fn take_due(&mut self, now: Cycle) -> Due {
        let RefreshTiming {
            interval,
            banks,
            together,
            ..
        } = self.timing;
        let missed = (now - self.next) / interval;
        let at = self.next + missed * interval;
        self.next = at + interval;
        let skipped = (missed % banks as Cycle) as usize * together;
        let first = (self.first + skipped) % banks;
        self.first = (first + together) % banks;
        Due {
            at,
            count: missed + 1,
            first,
        }
    }

    /// The banks that the last of these refreshes blocks.
    pub fn blocked(&self, due: &Due) -> impl Iterator<Item = usize> + use<> {
        let banks = self.timing.banks;
        (due.first..due.first + self.timing.together).map(move |at| at % banks)
    }

    /// The banks of the refreshes before the last, which no longer block them.
    pub fn over(&self, due: &Due) -> impl Iterator<Item = usize> + use<> {
        let (banks, first) = (self.timing.banks, due.first);
        let sets = (due.count - 1).min(banks as u64) as usize;
        let count = (sets * self.timing.together).min(banks);
        (first + banks - count..first + banks).map(move |at| at % banks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The banks of each refresh, by when it is due.
    fn refreshes(policy: &'static str, until: Cycle) -> Vec<(Cycle, Vec<usize>)> {
        let profile = Profile::load("ixp2400").unwrap();
        let profile = { profile.with("dram", "refresh", policy) }
            .and_then(|it| it.with("dram", "refresh_banks", 1))
            .and_then(|it| it.with("dram", "refresh_interval", 1000))
            .unwrap();
        let mut refresh = Refresh::new(RefreshTiming::new(&profile));
        let mut all = Vec::new();
        for now in (0..until).step_by(250) {
            if refresh.is_due(now) {
                let due = refresh.take_due(now);
                assert_eq!((due.count, refresh.over(&due).count()), (1, 0));
                all.push((due.at, refresh.blocked(&due).collect()));
            }
        }
        all
    }

    #[test]
    fn bank_sets_are_refreshed_in_turn() {
        let expected = [1000, 2000, 3000, 4000, 5000].map(|at| (at, vec![at as usize / 1000 - 1]));
        let mut expected = expected.to_vec();
        expected[4].1 = vec![0];
        assert_eq!(refreshes("in-turn", 5500), expected);
    }

    #[test]
    fn all_bank_refresh_ignores_the_set_size() {
        let expected = [1000, 2000].map(|at| (at, vec![0, 1, 2, 3]));
        assert_eq!(refreshes("all-bank", 2500), expected);
    }

    #[test]
    fn missed_refreshes_are_counted_and_only_the_last_blocks() {
        let profile = Profile::load("ixp2400").unwrap();
        let profile = { profile.with("dram", "refresh_banks", 1) }
            .and_then(|it| it.with("dram", "refresh_interval", 1000))
            .unwrap();
        let mut refresh = Refresh::new(RefreshTiming::new(&profile));
        let due = refresh.take_due(3100);
        assert_eq!((due.at, due.count), (3000, 3));
        assert_eq!(refresh.blocked(&due).collect::<Vec<_>>(), [2]);
        assert_eq!(refresh.over(&due).collect::<Vec<_>>(), [0, 1]);
        assert!(!refresh.is_due(3999) && refresh.is_due(4000));
    }
}
