//! Finds what wakes a sleeping context.

use npsim_chip::Cycle;
use npsim_chip::core::ContextPhase;
use npsim_chip::kernel::trace_event::{
    Cause, ContextState, EventKinds, TraceEvent, TraceEventKind,
};

use crate::debugger::{Debugger, Stop};
use crate::error::DebugError;
use crate::search::{Candidate, CodePoint, Condition, Direction, STEP, SearchResult};
use crate::thread::Thread;
use crate::timeline::TimePoint;

/// What woke a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wakeup {
    /// The cycle at which it went to sleep.
    pub since: Cycle,
    /// The cycle at which it could go on.
    pub at: Cycle,
    /// The signals that arrived meanwhile, in order: cycle, mask (bit s: signal s), cause.
    pub signals: Vec<(Cycle, u16, Cause)>,
}

struct Wakes {
    thread: Thread,
    signals: Vec<(Cycle, u16, Cause)>,
}

impl Condition for Wakes {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Context, TraceEventKind::Signal])
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent, candidates: &mut Vec<Candidate>) {
        let thread = |me: u8, context: u8| Thread { me, context };
        match *event {
            TraceEvent::Signal {
                me,
                context,
                signals,
                cause,
            } if thread(me, context) == self.thread => self.signals.push((at, signals, cause)),
            TraceEvent::Context {
                me,
                context,
                doing: ContextState::Ready | ContextState::Executing,
                pc,
            } if thread(me, context) == self.thread => candidates.push(Candidate {
                moment: TimePoint::before(at + 1),
                mark: STEP,
                place: Some(CodePoint { me, context, pc }),
            }),
            _ => {}
        }
    }
}

impl Debugger {
    /// Runs ahead to where a sleeping context can go on, and returns what woke it; `None` if it
    /// sleeps to the end of the run, or to where the search was interrupted, which is then the
    /// reason of the stop.
    ///
    /// # Errors
    /// Returns an error if the context does not sleep.
    pub fn wake(&mut self, thread: Thread) -> Result<(Option<Wakeup>, Stop), DebugError> {
        self.select(thread)?;
        let view = self.chip().microengines()[usize::from(thread.me)].context(thread.context);
        if view.phase != ContextPhase::Sleeping {
            return Err(DebugError::new(format!("context {thread} does not sleep"))
                .help("`why` says what it does"));
        }
        let from = self.cycle();
        let mut wakes = Wakes {
            thread,
            signals: Vec::new(),
        };
        let found = self.find(&mut wakes, Direction::Forward, None);
        let woken = match &found {
            SearchResult::Hit(hits) => {
                let at = hits[0].moment.cycle - 1;
                wakes.signals.retain(|it| it.0 >= from && it.0 <= at);
                Some(Wakeup {
                    since: view.since,
                    at,
                    signals: wakes.signals,
                })
            }
            SearchResult::Nothing | SearchResult::Interrupted => None,
        };
        let mut stop = self.arrived(&found, Direction::Forward);
        // The context does not have the pipeline yet: its position is still where it waited.
        if woken.is_some() {
            stop.reason = crate::StopCause::Goto;
        }
        Ok((woken, stop))
    }
}
