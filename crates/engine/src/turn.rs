//! A microengine's turn: the arbiter, context swaps, and how far the microengine runs on its own
//! time.

use crate::microengine::{LoopExit, Microengine, Phase};
use npsim_chip::Cycle;
use npsim_chip::core::{ContextPhase, Core};
use npsim_chip::kernel::check::WATCHDOG_CYCLES;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_isa::{Context, ContextSet};

/// Most cycles that a microengine runs before it returns to the event loop. It bounds a program
/// that never synchronises; results do not depend on it.
const QUANTUM: Cycle = 1 << 14;

// A limit set while no context ran is not later than the watchdog of the next.
const _: () = assert!(QUANTUM <= WATCHDOG_CYCLES);

impl Microengine {
    /// Takes a turn. Everything below is compiled twice: with a trace buffer to write to, and
    /// without any tracing.
    pub(crate) fn run_as<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        self.turn_start = fabric.now;
        // Most turns use the limit of an earlier one, and update it when they reach it. Only an
        // earlier end of the run can have made it too large since: the watchdog is due no sooner
        // than it was, nor sooner than a quantum from now.
        if self.run_until > fabric.horizon {
            self.set_limit(fabric.horizon);
        }
        self.aborted_slots.begin_turn(self.turn_start);
        if self.phase != Phase::Run && !self.resume::<OBSERVED>(fabric) {
            return;
        }
        loop {
            let flow = self.interpret::<OBSERVED>(fabric);
            // Nearly all turns end here.
            if flow == LoopExit::Over {
                return;
            }
            if !self.finish_turn::<OBSERVED>(flow, fabric) {
                return;
            }
        }
    }

    /// Handles what the dispatch loop does not: steps near the limit or in defer slots, and most
    /// ends of turns. Returns false if the turn is over.
    #[inline(never)]
    fn finish_turn<const OBSERVED: bool>(&mut self, flow: LoopExit, fabric: &mut Fabric) -> bool {
        let mut flow = flow;
        if flow == LoopExit::Continue {
            if self.cycle >= self.fast_until {
                self.set_limit(fabric.horizon);
                if self.cycle >= self.run_until {
                    self.pause(fabric);
                    fabric.events.post_next_turn(self.cycle, self.index);
                    return false;
                }
            }
            if self.is_fast() {
                return true;
            }
            flow = self.step_slow::<OBSERVED>(fabric);
        }
        match flow {
            LoopExit::Continue => return true,
            LoopExit::Swap => {
                if self.is_globally_ordered(self.cycle - 1, fabric) {
                    return self.swap::<OBSERVED>(fabric);
                }
                self.phase = Phase::Swap;
                fabric.events.post_next_turn(self.cycle - 1, self.index);
            }
            LoopExit::Post | LoopExit::Stop => fabric.events.post_next_turn(self.cycle, self.index),
            LoopExit::Over => {}
            LoopExit::Held => {
                self.phase = Phase::Held;
                if OBSERVED {
                    let held = TraceEvent::Held {
                        me: self.index,
                        context: self.datapath.context.number(),
                        pc: self.pc,
                    };
                    fabric.trace.put(self.cycle, held);
                }
            }
            LoopExit::Halt => self.halt::<OBSERVED>(fabric),
        }
        false
    }

    /// Prepares the first instruction of a turn that does not begin with one. Returns false if no
    /// context is ready to execute.
    #[inline(never)]
    fn resume<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> bool {
        match self.phase {
            Phase::Run => true,
            // The turn was posted for the cycle of the swap.
            Phase::Swap => self.swap::<OBSERVED>(fabric),
            Phase::Pick => self.pick::<OBSERVED>(fabric),
            Phase::Held => {
                self.stalled_until::<OBSERVED>(fabric.now, fabric);
                self.phase = Phase::Run;
                true
            }
            Phase::Idle | Phase::Halted => false,
        }
    }

    /// Sets how far turns run from now on.
    #[cold]
    #[inline(never)]
    fn set_limit(&mut self, horizon: Cycle) {
        self.run_until = { horizon.min(self.turn_start + QUANTUM) }.min(self.watchdog_at);
        self.fast_until = self
            .run_until
            .saturating_sub(self.program.ops.len() as Cycle + 4);
    }

    /// Whether the chip's state at a cycle before the limit is final, so that it may be read; if
    /// so, the chip's present becomes that cycle.
    #[inline]
    pub(crate) fn is_globally_ordered(&self, at: Cycle, fabric: &mut Fabric) -> bool {
        if at == self.turn_start {
            return true;
        }
        let allowed = at < fabric.events.next_time();
        if allowed {
            fabric.now = at;
        }
        allowed
    }

    /// [`Self::is_globally_ordered`] for the present cycle, which may be the limit.
    pub(crate) fn can_observe(&self, fabric: &mut Fabric) -> bool {
        (self.cycle == self.turn_start || self.cycle < fabric.horizon)
            && self.is_globally_ordered(self.cycle, fabric)
    }

    fn stalled_until<const OBSERVED: bool>(&mut self, until: Cycle, fabric: &mut Fabric) {
        let until = until.max(self.cycle);
        if OBSERVED {
            let stalled = TraceEvent::Stalled {
                me: self.index,
                context: self.datapath.context.number(),
                pc: self.pc,
                from: self.cycle,
            };
            fabric.trace.put(until, stalled);
        }
        self.stats.stalled += until - self.cycle;
        self.cycle = until;
        self.watchdog_at = until + WATCHDOG_CYCLES;
    }

    /// Gives the pipeline to the next context. Returns false if none is ready.
    fn pick<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> bool {
        let at = self.cycle.max(fabric.now + self.pick_latency);
        let Some(next) = self.choose(self.last, at, fabric) else {
            self.idle();
            return false;
        };
        self.stats.idle += at - self.cycle;
        self.refilled = (self.cycle, at);
        self.dispatch(next, at);
        self.trace_context::<OBSERVED>(next, fabric);
        true
    }

    #[inline(always)]
    fn dispatch(&mut self, context: Context, at: Cycle) {
        self.contexts.begin(context, at);
        self.pc = self.contexts[context].pc;
        self.datapath.context = context;
        self.bind();
        self.memory.swap_in(context);
        self.cycle = at;
        self.watchdog_at = at + WATCHDOG_CYCLES;
        self.block.arrive(at, false);
        self.phase = Phase::Run;
    }

    /// Suspends the running context and lets the arbiter choose another, after `penalty` aborted
    /// slots. Returns false if none is ready.
    #[inline(always)]
    pub(crate) fn swap_for<const OBSERVED: bool>(
        &mut self,
        penalty: Cycle,
        fabric: &mut Fabric,
    ) -> bool {
        let end = self.cycle + penalty;
        self.stats.aborted += penalty;
        self.stats.swaps += 1;
        let context = self.datapath.context;
        if self.memory.has_pending() {
            self.commit_all_index_writes();
        }
        self.memory.swap_out(context);
        self.contexts[context].pc = self.pc;
        let enabled = self.enabled.contains(context);
        self.contexts.leave(context, enabled, end);
        self.aborted_slots.swap(self.cycle, penalty);
        if OBSERVED && penalty != 0 {
            let aborted = TraceEvent::Aborted {
                me: self.index,
                context: context.number(),
                pc: self.contexts[context].yielded_at,
                slots: penalty,
            };
            fabric.trace.put(self.cycle, aborted);
        }
        self.trace_context::<OBSERVED>(context, fabric);
        self.last = context;
        self.cycle = end;
        let Some(next) = self.choose(context, end, fabric) else {
            self.idle();
            return false;
        };
        self.dispatch(next, end);
        self.trace_context::<OBSERVED>(next, fabric);
        true
    }

    /// [`Self::swap_for`] after defer slots.
    fn swap<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> bool {
        let penalty = std::mem::take(&mut self.after_penalty);
        self.swap_for::<OBSERVED>(penalty, fabric)
    }

    /// Leaves the pipeline without a context.
    fn idle(&mut self) {
        self.phase = Phase::Idle;
        self.watchdog_at = Cycle::MAX;
    }

    /// Handles a breakpoint: disables all contexts where they are.
    fn halt<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        let running = self.datapath.context;
        self.enabled = ContextSet::EMPTY;
        self.other_enables |= 1 << 27;
        self.contexts[running].pc = self.pc;
        for context in Context::all() {
            let (state, at) = (ContextPhase::Inactive, self.cycle);
            self.contexts.enter(context, state, at);
        }
        self.phase = Phase::Halted;
        self.watchdog_at = Cycle::MAX;
        Context::all().for_each(|context| self.trace_context::<OBSERVED>(context, fabric));
    }

    /// Traces a context's new state.
    #[inline(always)]
    fn trace_context<const OBSERVED: bool>(&self, context: Context, fabric: &mut Fabric) {
        if OBSERVED {
            self.put_context(context, fabric);
        }
    }

    /// [`Self::trace_context`] for an observed run.
    #[inline]
    pub(crate) fn put_context(&self, context: Context, fabric: &mut Fabric) {
        let (doing, pc) = self.doing(context.number());
        let changed = TraceEvent::Context {
            me: self.index,
            context: context.number(),
            doing,
            pc,
        };
        fabric.trace.put(self.contexts[context].since(), changed);
    }

    /// Handles the limit, which is that of a quantum or of the watchdog.
    #[cold]
    #[inline(never)]
    fn pause(&mut self, fabric: &mut Fabric) {
        if self.cycle >= self.watchdog_at && self.never_yields(fabric).is_ok() {
            self.watchdog_at = self.cycle + WATCHDOG_CYCLES;
        }
    }
}
