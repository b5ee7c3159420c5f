//! The arbiter, which gives the pipeline to the next ready context, unless a stall holds it back.
//!
//! Whether a stall holds a context back depends on the cycle at which the arbiter chooses. An event
//! is pending for a stall only if a context is otherwise ready to run: the microengine is then
//! woken at the end of the stall.

use crate::microengine::{Microengine, Phase};
use npsim_chip::Cycle;
use npsim_chip::core::ContextPhase;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::fault_injection::Stall;
use npsim_isa::{Context, ContextSet};

impl Microengine {
    pub(crate) fn add_stall(&mut self, stall: Stall) -> bool {
        let runs = self.usable(self.enabled).contains(stall.context());
        if runs {
            self.stalls.all.push(stall);
        }
        runs
    }

    /// The context after `last` that gets the pipeline at a cycle.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        last: Context,
        at: Cycle,
        fabric: &mut Fabric,
    ) -> Option<Context> {
        if self.stalls.is_empty() {
            self.contexts.ready().next_after(last)
        } else {
            self.choose_around_stalls(last, at, fabric)
        }
    }

    #[cold]
    #[inline(never)]
    fn choose_around_stalls(
        &mut self,
        last: Context,
        at: Cycle,
        fabric: &mut Fabric,
    ) -> Option<Context> {
        let stalled: ContextSet = self.stalls.at(at).map(Stall::context).collect();
        let next = self.contexts.ready().difference(stalled).next_after(last);
        if next.is_none() {
            self.wait_for_a_stall(at, fabric);
        }
        next
    }

    /// If no other context can run, wakes the microengine at the end of the first stall that holds
    /// a ready context back.
    fn wait_for_a_stall(&mut self, at: Cycle, fabric: &mut Fabric) {
        let contexts = &self.contexts;
        let ready = |it: &&Stall| contexts[it.context()].state() == ContextPhase::Ready;
        let end = self.stalls.at(at).filter(ready).map(|it| it.until).min();
        if let Some(end) = end.filter(|&end| end < self.stalls.due) {
            self.stalls.due = end;
            fabric.events.post(end, Event::StallOver(self.index));
        }
    }

    pub(crate) fn end_stall(&mut self, fabric: &mut Fabric) {
        if self.stalls.due <= fabric.now {
            self.stalls.due = Cycle::MAX;
        }
        let ready = !self.contexts.ready().is_empty();
        if self.phase == Phase::Idle && ready {
            self.wake(self.timing.wake, fabric);
        }
    }
}
