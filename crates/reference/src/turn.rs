//! A turn of the microengine: arbitration, or execution of one instruction.

use npsim_chip::Cycle;
use npsim_chip::core::ContextPhase;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_isa::{CONTEXTS, Context, ContextSet, Instruction};

use crate::checks::{resets_watchdog, touches_exposed_registers};
use crate::perform::ControlOutcome;
use crate::state::{AfterDefer, Deferral, Delayed, Phase};
use crate::{Reference, Steps, Stop};

impl Reference {
    /// Takes the turn scheduled in the event queue. Trace events are written to the trace buffer in
    /// order.
    pub(crate) fn turn(&mut self, fabric: &mut Fabric) {
        match self.state.phase {
            Phase::Idle | Phase::Halted => return,
            Phase::Pick(latency) => self.pick(latency, fabric),
            Phase::Held => {
                self.stalled(fabric);
                self.state.phase = Phase::Run;
                self.execute(fabric);
            }
            Phase::Run => self.execute(fabric),
        }
        if self.state.phase == Phase::Run {
            self.post(self.state.cycle, fabric);
        }
    }

    fn post(&self, at: Cycle, fabric: &mut Fabric) {
        fabric.events.post(at, Event::Microengine(self.index));
    }

    /// Schedules an arbitration; the chosen context runs `latency` cycles later.
    pub(crate) fn wake(&mut self, latency: Cycle, fabric: &mut Fabric) {
        self.state.phase = Phase::Pick(latency);
        self.post(fabric.now, fabric);
    }

    /// Makes a sleeping context ready if its condition holds.
    pub(crate) fn reconsider(&mut self, context: u8, fabric: &mut Fabric) {
        let it = &mut self.state.contexts[usize::from(context)];
        if it.phase == ContextPhase::Sleeping && it.may_wake() {
            it.enter(ContextPhase::Ready, fabric.now);
            self.trace_context(context, fabric);
            if self.state.phase == Phase::Idle {
                self.wake(fabric.profile.wake_latency(), fabric);
            }
        }
    }

    /// Chooses a context after an idle time; it runs once the pipeline is refilled.
    fn pick(&mut self, latency: Cycle, fabric: &mut Fabric) {
        let at = self.state.cycle.max(fabric.now + latency);
        let Some(next) = self.choose(self.state.last, at, fabric) else {
            self.state.phase = Phase::Idle;
            return;
        };
        self.state.stats.idle += at - self.state.cycle;
        self.state.refilled = (self.state.cycle, at);
        self.dispatch(next, at, fabric);
    }

    /// Returns the first ready context after `last` in round-robin order; `last` itself comes last.
    /// Stalled contexts are skipped.
    fn choose(&mut self, last: u8, at: Cycle, fabric: &mut Fabric) -> Option<u8> {
        let state = &mut self.state;
        let stalled: Vec<_> = state
            .stalls
            .iter()
            .filter(|stall| stall.holds_at(at))
            .collect();
        let is_ready =
            |context: &u8| state.contexts[usize::from(*context)].phase == ContextPhase::Ready;
        let order = (1..=CONTEXTS).map(|step| (last + step) % CONTEXTS);
        let next = order.filter(is_ready).find(|context| {
            stalled
                .iter()
                .all(|stall| stall.context % CONTEXTS != *context)
        });
        if next.is_none() {
            let held_back = stalled
                .iter()
                .filter(|stall| is_ready(&(stall.context % CONTEXTS)));
            if let Some(end) = held_back.map(|stall| stall.until).min()
                && end < state.stall_due
            {
                state.stall_due = end;
                fabric.events.post(end, Event::StallOver(self.index));
            }
        }
        next
    }

    /// Gives the pipeline to a context at a cycle.
    fn dispatch(&mut self, context: u8, at: Cycle, fabric: &mut Fabric) {
        let state = &mut self.state;
        state.running = context;
        state.cycle = at;
        state.last_interaction = at;
        state.phase = Phase::Run;
        state.codes_are_new = false;
        let it = &mut state.contexts[usize::from(context)];
        it.wake();
        it.enter(ContextPhase::Executing, at);
        state.pc = it.pc;
        for pointer in 0..2 {
            if !state.global_pointers[pointer] {
                state.pointers[pointer] = state.saved_pointers[usize::from(context)][pointer];
            }
        }
        self.trace_context(context, fabric);
    }

    /// Accounts for the time until the FIFO had room.
    fn stalled(&mut self, fabric: &mut Fabric) {
        let (from, until) = (self.state.cycle, fabric.now.max(self.state.cycle));
        self.state.stats.stalled += until - from;
        self.state.cycle = until;
        self.state.last_interaction = until;
        let (me, context, pc) = (self.index, self.state.running, self.state.pc);
        fabric.trace.record(until, || TraceEvent::Stalled {
            me,
            context,
            pc,
            from,
        });
    }

    /// Executes one instruction, at its own cycle.
    fn execute(&mut self, fabric: &mut Fabric) {
        if self.check_watchdog(fabric).is_err() {
            return;
        }
        self.settle(self.state.cycle);
        self.steps = Steps::default();
        self.accesses.clear();
        let (me, context, pc) = (self.index, self.state.running, self.state.pc);
        let performed = self.instruction(pc, fabric).and_then(|instruction| {
            if resets_watchdog(&instruction)
                || touches_exposed_registers(&instruction, self.state.exposed)
            {
                self.state.last_interaction = self.state.cycle;
            }
            Ok((instruction, self.perform(&instruction, fabric)?))
        });
        let (instruction, outcome) = match performed {
            Ok(performed) => performed,
            Err(Stop::Held) => {
                self.state.phase = Phase::Held;
                let held = TraceEvent::Held { me, context, pc };
                fabric.trace.record(self.state.cycle, || held);
                return;
            }
            // The chip finds the fault before the next turn.
            Err(Stop::Fault) => return,
        };
        fabric
            .trace
            .record(self.state.cycle, || TraceEvent::Issued {
                me,
                context,
                pc,
                count: 1,
            });
        for &(word, write) in &self.accesses {
            fabric
                .trace
                .record(self.state.cycle, || TraceEvent::LocalMemory {
                    me,
                    context,
                    pc,
                    word,
                    write,
                });
        }
        self.move_indices(fabric);
        self.state.cycle += 1;
        self.state.stats.instructions += 1;
        self.apply_control(&instruction, outcome, fabric);
    }

    /// Returns the instruction at an address.
    fn instruction(&self, pc: u16, fabric: &mut Fabric) -> Result<Instruction, Stop> {
        let message = match self.program.words().get(usize::from(pc)) {
            Some(Ok(instruction)) => return Ok(*instruction),
            Some(Err(reason)) => {
                format!("the word at address {pc} is not a valid instruction: {reason}")
            }
            None => "execution left the program".to_owned(),
        };
        Err(self.fatal_fault(message, fabric))
    }

    /// Applies the writes that are due.
    fn settle(&mut self, now: Cycle) {
        let state = &mut self.state;
        let (due, rest) = state.late_writes.iter().partition(|write| write.due <= now);
        state.late_writes = rest;
        for write in due {
            match write.register {
                Delayed::Pointer(pointer) => {
                    state.pointers[usize::from(pointer & 1)] = write.value;
                    state.pointer_since[usize::from(pointer & 1)] = write.due;
                }
                Delayed::TransferIndex => state.transfer_index = write.value,
                Delayed::ByteIndex => state.byte_index = write.value,
            }
        }
    }

    /// Applies the operands' post-increments and post-decrements, each once.
    fn move_indices(&mut self, fabric: &mut Fabric) {
        let state = &mut self.state;
        for (pointer, step) in state.pointers.iter_mut().zip(self.steps.pointers) {
            *pointer = pointer.wrapping_add_signed(step) & 1023;
        }
        let index = state.transfer_index;
        state.transfer_index = index.wrapping_add_signed(self.steps.transfer_index) & 127;
        if self.steps.ring {
            self.take_from_ring(fabric);
        }
    }

    /// Determines where control goes after an instruction, which has taken its cycle.
    fn apply_control(
        &mut self,
        instruction: &Instruction,
        outcome: ControlOutcome,
        fabric: &mut Fabric,
    ) {
        let at = self.state.pc;
        self.state.codes_are_new = instruction.sets_codes();
        self.state.pc = at + 1;
        let (slots, then, penalty) = match outcome {
            ControlOutcome::Next => return self.end_slot(fabric),
            ControlOutcome::Jump {
                target,
                defer,
                penalty,
            } => (defer, AfterDefer::Jump(target), penalty),
            ControlOutcome::Yield { defer, resume } => {
                self.state.context().yielded_at = at;
                let penalty = fabric.profile.context_swap_penalty();
                let penalty = penalty.saturating_sub(Cycle::from(defer));
                (defer, AfterDefer::Yield(resume), penalty)
            }
            ControlOutcome::Halt => {
                self.state.pc = at;
                return self.halt(fabric);
            }
        };
        let deferral = Deferral {
            left: slots,
            of: at,
            then,
            penalty,
        };
        if slots == 0 {
            self.leave(deferral, fabric);
        } else {
            self.state.deferral = Some(deferral);
        }
    }

    /// If the instruction was in a defer slot, counts it and, after the last one, follows the
    /// control instruction.
    fn end_slot(&mut self, fabric: &mut Fabric) {
        let Some(mut deferral) = self.state.deferral else {
            return;
        };
        deferral.left = deferral.left.saturating_sub(1);
        if deferral.left > 0 {
            self.state.deferral = Some(deferral);
        } else {
            self.state.deferral = None;
            self.leave(deferral, fabric);
        }
    }

    /// Applies a control instruction.
    fn leave(&mut self, deferral: Deferral, fabric: &mut Fabric) {
        let penalty = deferral.penalty;
        match deferral.then {
            AfterDefer::Jump(target) => {
                self.abort_slots(deferral.of, penalty, fabric);
                self.state.pc = target;
                // Lost slots separate the codes from a branch that tests them.
                self.state.codes_are_new &= penalty == 0;
            }
            AfterDefer::Yield(resume) => {
                self.state.pc = resume.unwrap_or(self.state.pc);
                self.swap(penalty, fabric);
            }
        }
    }

    /// Discards issue slots.
    fn abort_slots(&mut self, of: u16, slots: Cycle, fabric: &mut Fabric) {
        if slots == 0 {
            return;
        }
        let (me, context) = (self.index, self.state.running);
        let from = self.state.cycle;
        fabric.trace.record(from, || TraceEvent::Aborted {
            me,
            context,
            pc: of,
            slots,
        });
        self.state.lost = (from, from + slots);
        self.state.cycle += slots;
        self.state.stats.aborted += slots;
    }

    /// Puts the running context to sleep and lets the arbiter choose another, based on signals that
    /// have arrived by the cycle of the last instruction.
    fn swap(&mut self, penalty: Cycle, fabric: &mut Fabric) {
        let context = self.state.running;
        let yielded_at = self.state.context().yielded_at;
        self.abort_slots(yielded_at, penalty, fabric);
        self.state.stats.swaps += 1;
        self.settle(Cycle::MAX);
        let state = &mut self.state;
        state.pointer_since = [0; 2];
        for pointer in 0..2 {
            if !state.global_pointers[pointer] {
                state.saved_pointers[usize::from(context)][pointer] = state.pointers[pointer];
            }
        }
        let (end, pc) = (state.cycle, state.pc);
        let enabled = state.enabled.contains(Context::wrapping(context));
        let it = state.context();
        it.pc = pc;
        if enabled {
            it.enter(ContextPhase::Sleeping, end);
            if it.may_wake() {
                it.enter(ContextPhase::Ready, end);
            }
        } else {
            it.enter(ContextPhase::Inactive, end);
        }
        self.trace_context(context, fabric);
        self.state.last = context;
        match self.choose(context, end, fabric) {
            Some(next) => self.dispatch(next, end, fabric),
            None => self.state.phase = Phase::Idle,
        }
    }

    /// Handles a breakpoint: disables all contexts where they are.
    fn halt(&mut self, fabric: &mut Fabric) {
        let state = &mut self.state;
        let (pc, cycle) = (state.pc, state.cycle);
        state.context().pc = pc;
        state.enabled = ContextSet::EMPTY;
        state.other_enables |= 1 << 27;
        state.phase = Phase::Halted;
        for context in &mut state.contexts {
            context.enter(ContextPhase::Inactive, cycle);
        }
        (0..CONTEXTS).for_each(|context| self.trace_context(context, fabric));
    }

    /// Traces a context's new state for observers.
    pub(crate) fn trace_context(&self, context: u8, fabric: &mut Fabric) {
        let view = self.view(context);
        let (me, doing) = (self.index, view.state());
        let pc = if view.phase == ContextPhase::Executing {
            view.pc
        } else {
            view.yielded_at
        };
        fabric.trace.record(view.since, || TraceEvent::Context {
            me,
            context,
            doing,
            pc,
        });
    }
}
