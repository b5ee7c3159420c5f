//! Signals that were raised and not yet taken: a context learns what they convey when it takes
//! them, by waiting for them or with a test, not when they arrive.

use std::collections::VecDeque;

use npsim_chip::Cycle;

use super::clock::Moment;

/// The signals of a context that others raised and that it has not taken.
#[derive(Clone, Debug, Default)]
pub struct RaisedSignals {
    raised: Vec<(u16, Moment)>,
    /// Issued tests: the cycle, and the signals.
    tests: VecDeque<(Cycle, u16)>,
    /// The signals that it waits for.
    awaited: u16,
}

impl RaisedSignals {
    /// Records a raised signal; `sent` is when and by whom.
    pub fn raise(&mut self, signals: u16, sent: Moment) {
        // An earlier one that was never taken adds nothing to a later one.
        self.raised
            .retain(|it| (it.0, it.1.who) != (signals, sent.who));
        self.raised.push((signals, sent));
    }

    /// Begins a wait for signals.
    pub fn wait(&mut self, signals: u16) {
        self.awaited = signals;
    }

    /// Records a test of signals at a cycle, which may lie ahead.
    pub fn test(&mut self, at: Cycle, signals: u16) {
        self.tests.push_back((at, signals));
    }

    /// Ends the wait, and returns what is learned from the awaited signals.
    pub fn wake(&mut self) -> Vec<Moment> {
        let awaited = std::mem::take(&mut self.awaited);
        self.take(awaited)
    }

    /// What is learned from signals that were tested before a cycle.
    pub fn tested(&mut self, before: Cycle) -> Vec<Moment> {
        let mut found = Vec::new();
        while let Some((_, signals)) = self.tests.pop_front_if(|test| test.0 < before) {
            found.extend(self.take(signals));
        }
        found
    }

    fn take(&mut self, signals: u16) -> Vec<Moment> {
        if self.raised.is_empty() {
            return Vec::new();
        }
        let is_taken = |it: &mut (u16, Moment)| it.0 & signals != 0;
        let taken = self.raised.extract_if(.., is_taken);
        taken.map(|(_, sent)| sent).collect()
    }
}
