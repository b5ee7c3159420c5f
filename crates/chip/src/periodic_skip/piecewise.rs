//! A search for a period that lasts longer than a run.
//!
//! It does the same as the search within one run, but runs nothing itself: it examines the chip at
//! one cycle and determines the cycle of the next examination, in this run or a later one. Any
//! activity from outside in between ends it.

use super::period::{Period, changes_repeat};
use super::search_state::{PiecewiseSearch, Stage, Verification};
use super::{EventReplay, FUTURE_COUNTS, MAX_PERIOD, MULTIPLES};
use crate::Cycle;
use crate::chip::Chip;
use crate::kernel::observer::Observer;

/// The result of one examination of the chip.
#[derive(Clone, Copy)]
enum SearchStep {
    /// The search continues at this cycle.
    Again(Stage, Cycle),
    /// A period was found, with the cycle of the last of the three states.
    Found(Period, Cycle),
    Nothing,
}

impl Chip {
    /// Begins a search.
    pub(super) fn begin_search(&mut self) {
        let now = self.fabric.events.next_time();
        let begun = match self.skip_policy.last_period {
            Some(last) => self.first_state(now, last, 1),
            None => self.first_reference(now),
        };
        self.apply_step(begun, now);
    }

    /// Examines the chip at a cycle that the search has requested. If it finds a period, advances
    /// to the last whole one before `end`.
    pub(super) fn search_on(&mut self, end: Cycle, observer: &mut dyn Observer) {
        let now = self.fabric.events.next_time();
        let Some(search) = self.skip_policy.search.take() else {
            return;
        };
        if search.outside != self.outside() {
            self.skip_policy.search_at(now);
            return;
        }
        let look = match search.stage {
            Stage::Candidate {
                begin,
                reference,
                samples,
                renew,
            } => self.compare_digests(begin, reference, (samples, renew)),
            Stage::Verification(verification) => self.compare_states(verification),
        };
        match look {
            SearchStep::Found(period, at) => {
                let states = std::mem::take(&mut self.skip_policy.states);
                let mut observed = std::mem::take(&mut self.skip_policy.observed);
                let mut replay = EventReplay {
                    observer,
                    log: Vec::new(),
                    states: &mut observed,
                    has_numbers: false,
                };
                let deadline = self.extrapolate(period, at, end, &states, &mut replay);
                (self.skip_policy.states, self.skip_policy.observed) = (states, observed);
                let now = self.fabric.events.next_time();
                self.skip_policy.has_found(now, deadline);
            }
            // The previous period does not fit this idle time.
            SearchStep::Nothing if search.stage.is_of_last_period() => {
                let begun = self.first_reference(now);
                self.apply_step(begun, now);
            }
            step => self.apply_step(step, now),
        }
    }

    fn apply_step(&mut self, step: SearchStep, now: Cycle) {
        if let SearchStep::Again(stage, at) = step {
            let outside = self.outside();
            self.skip_policy.search = Some(PiecewiseSearch { outside, stage });
            self.skip_policy.search_at(at);
        } else {
            self.skip_policy.give_up(now);
        }
    }

    fn outside(&self) -> (u64, u64) {
        (self.skip_policy.outside, self.units.sram.handovers())
    }

    fn first_reference(&mut self, now: Cycle) -> SearchStep {
        let Some(digest) = self.state_digest(now) else {
            return SearchStep::Nothing;
        };
        let stage = Stage::Candidate {
            begin: now,
            reference: (now, digest),
            samples: 0,
            renew: 8,
        };
        SearchStep::Again(stage, now + 1)
    }

    /// Compares digests as [`Self::candidate`] does, one examination at a time.
    fn compare_digests(
        &mut self,
        begin: Cycle,
        reference: (Cycle, u64),
        (samples, renew): (u32, u32),
    ) -> SearchStep {
        let at = self.fabric.events.next_time();
        let Some(digest) = self.state_digest(at).filter(|_| at - begin <= MAX_PERIOD) else {
            return SearchStep::Nothing;
        };
        if digest == reference.1 {
            return self.first_state(at, at - reference.0, MULTIPLES);
        }
        let samples = samples + 1;
        let renewed = samples == renew;
        let stage = Stage::Candidate {
            begin,
            reference: if renewed { (at, digest) } else { reference },
            samples,
            renew: if renewed { renew * 2 } else { renew },
        };
        SearchStep::Again(stage, at + 1)
    }

    /// Stores the first of three states.
    fn first_state(&mut self, at: Cycle, candidate: Cycle, multiples: u64) -> SearchStep {
        let (unit, step) = self.unit(candidate);
        self.fabric.take_timers_set();
        if !self.note_state(0) || unit / step >= FUTURE_COUNTS {
            return SearchStep::Nothing;
        }
        let verification = Verification {
            at,
            unit,
            multiple: 1,
            multiples,
            step,
            quiet: self.unnumbered_state(),
            timers: None,
        };
        SearchStep::Again(Stage::Verification(verification), at + unit)
    }

    /// Compares states as [`Self::verify`] does, one state at a time.
    fn compare_states(&mut self, so_far: Verification) -> SearchStep {
        let cycles = so_far.unit * so_far.multiple;
        let period = Period {
            cycles,
            steps: cycles / so_far.step,
        };
        if self.unnumbered_state() != so_far.quiet {
            return SearchStep::Nothing;
        }
        if let Some(timers) = so_far.timers {
            let same = self.fabric.take_timers_set() == timers && self.note_state(2);
            let [first, second, third] = &*self.skip_policy.states;
            if !same || !changes_repeat([first, second, third]) {
                return SearchStep::Nothing;
            }
            self.skip_policy.last_period = Some(cycles);
            return SearchStep::Found(period, so_far.at + 2 * cycles);
        }
        if !self.note_state(1) {
            return SearchStep::Nothing;
        }
        let [first, second, _] = &*self.skip_policy.states;
        if period.joins(first, second) {
            let timers = Some(self.fabric.take_timers_set());
            let joined = Verification { timers, ..so_far };
            return SearchStep::Again(Stage::Verification(joined), so_far.at + 2 * cycles);
        }
        let multiple = so_far.multiple + 1;
        let next = so_far.unit * multiple;
        if multiple > so_far.multiples || next / so_far.step >= FUTURE_COUNTS {
            return SearchStep::Nothing;
        }
        let next = Verification { multiple, ..so_far };
        let at = next.at + next.unit * multiple;
        SearchStep::Again(Stage::Verification(next), at)
    }

    /// Stores the state as one of the three. Returns false if it could not be written.
    fn note_state(&mut self, which: usize) -> bool {
        let mut states = std::mem::take(&mut self.skip_policy.states);
        let written = self.write(&mut states[which]);
        self.skip_policy.states = states;
        written.is_ok()
    }
}
