//! What every context did during a window of a run, as stretches of time.

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{ContextState, TraceEvent};

/// What a context did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// It had the pipeline.
    Executing,
    /// It had the pipeline, and issue slots were thrown away.
    Aborted,
    /// It had the pipeline and waited for room in the command FIFO.
    Stalled,
    /// It was awake, but another context ran.
    Ready,
    /// It was asleep.
    Waiting,
    /// It was not enabled, or gave up for good.
    Inactive,
}

impl Activity {
    /// All of them, in the order of legends.
    pub const ALL: [Self; 6] = [
        Self::Executing,
        Self::Aborted,
        Self::Stalled,
        Self::Ready,
        Self::Waiting,
        Self::Inactive,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Executing => "executing",
            Self::Aborted => "aborted",
            Self::Stalled => "stalled",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Inactive => "inactive",
        }
    }
}

/// A stretch of one context's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First cycle.
    pub from: Cycle,
    /// First cycle after it.
    pub until: Cycle,
    /// What it did.
    pub activity: Activity,
}

/// What happens to frames, marked over the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// One begins to arrive.
    Arrives,
    /// One has left.
    Departed,
    /// One is lost at the media interface.
    Dropped,
}

/// Records the contexts of a chip between two cycles.
#[derive(Clone, Debug)]
pub struct ContextLanes {
    from: Cycle,
    until: Cycle,
    contexts: usize,
    /// The state of each context and since when.
    states: Vec<(Activity, Cycle)>,
    lanes: Vec<Vec<Stretch>>,
    marks: Vec<(Cycle, Mark)>,
}

/// Contexts of a microengine.
const CONTEXTS: usize = 8;

impl ContextLanes {
    /// Nothing recorded yet of a chip with so many microengines.
    #[must_use]
    pub fn new(microengines: usize, from: Cycle, until: Cycle) -> Self {
        let contexts = microengines * CONTEXTS;
        Self {
            from,
            until,
            contexts,
            // A chip starts with all contexts ready or not enabled; both are
            // told before their first cycle.
            states: vec![(Activity::Inactive, 0); contexts],
            lanes: vec![Vec::new(); contexts],
            marks: Vec::new(),
        }
    }

    /// The window's first cycle.
    #[must_use]
    pub fn from(&self) -> Cycle {
        self.from
    }

    /// The first cycle after the window.
    #[must_use]
    pub fn until(&self) -> Cycle {
        self.until
    }

    /// Ends the stretches that are open.
    pub fn finish(&mut self) {
        for lane in 0..self.contexts {
            let (activity, since) = self.states[lane];
            self.put(lane, since, self.until, activity);
            self.states[lane].1 = self.until;
        }
        for lane in &mut self.lanes {
            lane.sort_by_key(|stretch| (stretch.from, stretch.activity));
        }
        self.marks.sort_by_key(|(cycle, _)| *cycle);
    }

    /// A context's stretches in order of time; aborted and stalled ones lie over
    /// the executing ones that they are part of.
    #[must_use]
    pub fn lane(&self, me: u8, context: u8) -> &[Stretch] {
        let lane = usize::from(me) * CONTEXTS + usize::from(context);
        self.lanes.get(lane).map_or(&[], Vec::as_slice)
    }

    /// What happened to frames, in order of time.
    #[must_use]
    pub fn marks(&self) -> &[(Cycle, Mark)] {
        &self.marks
    }

    /// Keeps only what lies between two cycles; after [`Self::finish`].
    pub fn crop(&mut self, from: Cycle, until: Cycle) {
        (self.from, self.until) = (from.max(self.from), until.min(self.until));
        for lane in &mut self.lanes {
            lane.retain_mut(|stretch| {
                stretch.from = stretch.from.max(self.from);
                stretch.until = stretch.until.min(self.until);
                stretch.from < stretch.until
            });
        }
        let window = self.from..self.until;
        self.marks.retain(|(cycle, _)| window.contains(cycle));
    }

    fn put(&mut self, lane: usize, from: Cycle, until: Cycle, activity: Activity) {
        let (from, until) = (from.max(self.from), until.min(self.until));
        if from < until {
            self.lanes[lane].push(Stretch {
                from,
                until,
                activity,
            });
        }
    }

    fn mark(&mut self, at: Cycle, mark: Mark) {
        if (self.from..self.until).contains(&at) {
            self.marks.push((at, mark));
        }
    }
}

impl Observer for ContextLanes {
    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        let lane = |me: u8, context: u8| usize::from(me) * CONTEXTS + usize::from(context);
        match *what {
            TraceEvent::Context {
                me, context, doing, ..
            } => {
                let lane = lane(me, context);
                let activity = match doing {
                    ContextState::Executing => Activity::Executing,
                    ContextState::Ready => Activity::Ready,
                    ContextState::Waiting { .. } => Activity::Waiting,
                    ContextState::Inactive | ContextState::Killed => Activity::Inactive,
                };
                if let Some(state) = self.states.get_mut(lane) {
                    let (before, since) = std::mem::replace(state, (activity, at));
                    self.put(lane, since, at, before);
                }
            }
            TraceEvent::Aborted {
                me, context, slots, ..
            } => self.put(lane(me, context), at, at + slots, Activity::Aborted),
            TraceEvent::Stalled {
                me, context, from, ..
            } => self.put(lane(me, context), from, at, Activity::Stalled),
            TraceEvent::Arrives { .. } => self.mark(at, Mark::Arrives),
            TraceEvent::Departed { .. } => self.mark(at, Mark::Departed),
            TraceEvent::Dropped { .. } => self.mark(at, Mark::Dropped),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Activity, ContextLanes, Mark, Stretch};
    use npsim_chip::kernel::observer::Observer;
    use npsim_chip::kernel::trace_event::{ContextState, TraceEvent};

    #[test]
    fn only_the_window_is_kept_and_every_cycle_of_it_is_told_once() {
        let mut lanes = ContextLanes::new(2, 100, 200);
        let context = |doing| TraceEvent::Context {
            me: 1,
            context: 2,
            doing,
            pc: 0,
        };
        lanes.see(0, &context(ContextState::Ready));
        lanes.see(50, &context(ContextState::Executing));
        let aborted = TraceEvent::Aborted {
            me: 1,
            context: 2,
            pc: 5,
            slots: 3,
        };
        lanes.see(60, &aborted);
        lanes.see(110, &aborted);
        let asleep = ContextState::Waiting {
            signals: 2,
            any: false,
        };
        lanes.see(150, &context(asleep));
        let dropped = TraceEvent::Dropped {
            port: 0,
            frame: None,
            reason: npsim_chip::kernel::lines::MediaDrop::ReceiveFifoFull,
        };
        lanes.see(160, &dropped);
        lanes.see(500, &dropped);
        lanes.finish();
        let stretch = |from, until, activity| Stretch {
            from,
            until,
            activity,
        };
        assert_eq!(
            lanes.lane(1, 2),
            [
                stretch(100, 150, Activity::Executing),
                stretch(110, 113, Activity::Aborted),
                stretch(150, 200, Activity::Waiting),
            ]
        );
        assert_eq!(lanes.lane(0, 0), [stretch(100, 200, Activity::Inactive)]);
        assert_eq!(lanes.marks(), [(160, Mark::Dropped)]);
        lanes.crop(111, 130);
        assert_eq!(
            lanes.lane(1, 2),
            [
                stretch(111, 130, Activity::Executing),
                stretch(111, 113, Activity::Aborted),
            ]
        );
        assert_eq!(lanes.marks(), []);
    }
}
