//! Signals that were raised and are not taken: what they tell is known to a context when it
//! takes them, by waiting for them or with a test, and not when they arrive.

use std::collections::VecDeque;

use npsim_chip::Cycle;

use super::clock::Moment;

/// The signals of a context that another one raised and that it has not taken.
#[derive(Clone, Debug, Default)]
pub struct RaisedSignals {
    raised: Vec<(u16, Moment)>,
    /// Tests that were issued: the cycle, and which signals.
    tests: VecDeque<(Cycle, u16)>,
    /// Signals that it waits for.
    awaited: u16,
}

impl RaisedSignals {
    /// A signal of it was raised: `sent` is when and by whom.
    pub fn raise(&mut self, signals: u16, sent: Moment) {
        // One that was never taken tells no more than a later one.
        self.raised
            .retain(|it| (it.0, it.1.who) != (signals, sent.who));
        self.raised.push((signals, sent));
    }

    /// It waits for signals.
    pub fn wait(&mut self, signals: u16) {
        self.awaited = signals;
    }

    /// It tests signals at a cycle, which may be yet to come.
    pub fn test(&mut self, at: Cycle, signals: u16) {
        self.tests.push_back((at, signals));
    }

    /// Its wait is over: what came with the signals that it waited for.
    pub fn wake(&mut self) -> Vec<Moment> {
        let awaited = std::mem::take(&mut self.awaited);
        self.take(awaited)
    }

    /// What came with signals that it tested before a cycle.
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
