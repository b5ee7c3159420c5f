//! A microengine's turn: the arbiter, context swaps, and the tight loop that
//! runs pure operations ahead of the chip.

use super::operation::{Kind, Op};
use super::registers::Claims;
use super::{Flow, Microengine, Phase, slow};
use crate::Cycle;
use crate::core::{ContextPhase, Core};
use crate::kernel::event::Event;
use crate::kernel::fabric::Fabric;
use crate::kernel::journal::Journal;
use crate::kernel::trace_event::TraceEvent;

/// How far a microengine runs before it lets the event loop go round. It bounds
/// a program that never looks; results do not depend on it.
const QUANTUM: Cycle = 1 << 14;

impl Microengine {
    /// Takes the turn that [`Event::Microengine`] gives.
    pub(super) fn take_turn(&mut self, fabric: &mut Fabric) {
        if fabric.journal.is_open() {
            self.run_as::<true>(fabric);
        } else {
            self.run_as::<false>(fabric);
        }
    }

    /// All that follows is compiled twice: with a journal to write into, and
    /// without any trace of one.
    fn run_as<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        self.entered = fabric.now;
        self.limit = fabric.horizon.min(self.entered + QUANTUM);
        self.thrown.begin_turn(self.entered);
        loop {
            let flow = match self.phase {
                Phase::Idle | Phase::Halted => return,
                Phase::Pick => {
                    self.pick::<OBSERVED>(fabric);
                    Flow::Continue
                }
                Phase::Held => {
                    self.stalled_until::<OBSERVED>(fabric.now, fabric);
                    self.phase = Phase::Run;
                    Flow::Continue
                }
                Phase::Run => self.execute::<OBSERVED>(fabric),
                Phase::Swap if self.look_at(self.cycle - 1, fabric) => {
                    self.swap::<OBSERVED>(fabric);
                    Flow::Continue
                }
                Phase::Swap => Flow::Post(self.cycle - 1),
            };
            match flow {
                Flow::Continue => {}
                Flow::Swap => self.phase = Phase::Swap,
                Flow::Post(at) => {
                    fabric.events.post(at, Event::Microengine(self.index));
                    return;
                }
                Flow::Stop => {
                    fabric
                        .events
                        .post(self.cycle, Event::Microengine(self.index));
                    return;
                }
                Flow::Held => {
                    self.phase = Phase::Held;
                    if OBSERVED {
                        let held = TraceEvent::Held {
                            me: self.index,
                            context: self.datapath.context,
                            pc: self.pc,
                        };
                        fabric.journal.put(self.cycle, held);
                    }
                    return;
                }
                Flow::Halt => {
                    self.halt::<OBSERVED>(fabric);
                    return;
                }
            }
        }
    }

    /// Whether the chip's state at a cycle is final, so that it may be looked
    /// at; then it is the chip's present.
    fn look_at(&self, at: Cycle, fabric: &mut Fabric) -> bool {
        if at == self.entered {
            return true;
        }
        let allowed = at < fabric.horizon && at < fabric.events.next_time();
        if allowed {
            fabric.now = at;
        }
        allowed
    }

    pub(super) fn may_look(&self, fabric: &mut Fabric) -> bool {
        self.look_at(self.cycle, fabric)
    }

    fn stalled_until<const OBSERVED: bool>(&mut self, until: Cycle, fabric: &mut Fabric) {
        let until = until.max(self.cycle);
        if OBSERVED {
            let stalled = TraceEvent::Stalled {
                me: self.index,
                context: self.datapath.context,
                pc: self.pc,
                from: self.cycle,
            };
            fabric.journal.put(until, stalled);
        }
        self.stats.stalled += until - self.cycle;
        self.cycle = until;
    }

    fn pick<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        let at = self.cycle.max(fabric.now + self.pick_latency);
        let Some(next) = self.choose(self.last, at, fabric) else {
            self.phase = Phase::Idle;
            return;
        };
        self.stats.idle += at - self.cycle;
        self.refilled = (self.cycle, at);
        self.dispatch(next, at);
        self.tell_context::<OBSERVED>(next, fabric);
    }

    fn dispatch(&mut self, context: u8, at: Cycle) {
        let it = &mut self.contexts[context as usize];
        it.consume();
        it.enter(ContextPhase::Executing, at);
        self.pc = it.pc;
        self.datapath.context = context;
        self.open_lane();
        self.memory.swap_in(context);
        self.cycle = at;
        self.arrived = at;
        self.arrived_with_codes = false;
        self.phase = Phase::Run;
    }

    /// The running context goes to sleep and the arbiter chooses another.
    fn swap<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        let end = self.cycle + self.after_penalty;
        self.stats.aborted += self.after_penalty;
        self.stats.swaps += 1;
        let context = self.datapath.context;
        self.memory.swap_out(context, &mut self.datapath.byte_index);
        self.slow &= !slow::PENDING;
        let it = &mut self.contexts[context as usize];
        it.pc = self.pc;
        if self.enabled & 1 << context == 0 {
            it.enter(ContextPhase::Inactive, end);
        } else {
            it.enter(ContextPhase::Sleeping, end);
            if it.satisfied() {
                it.enter(ContextPhase::Ready, end);
            }
        }
        if self.after_penalty != 0 {
            self.thrown.add(self.cycle, self.after_penalty);
            if OBSERVED {
                let aborted = TraceEvent::Aborted {
                    me: self.index,
                    context,
                    pc: it.yielded_at,
                    slots: self.after_penalty,
                };
                fabric.journal.put(self.cycle, aborted);
            }
        }
        self.tell_context::<OBSERVED>(context, fabric);
        self.last = context;
        self.cycle = end;
        let next = self.choose(context, end, fabric);
        match next {
            Some(next) => {
                self.dispatch(next, end);
                self.tell_context::<OBSERVED>(next, fabric);
            }
            None => self.phase = Phase::Idle,
        }
    }

    /// A breakpoint: all contexts are disabled where they are.
    fn halt<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        let running = self.datapath.context;
        self.enabled = 0;
        self.other_enables |= 1 << 27;
        self.contexts[running as usize].pc = self.pc;
        for it in &mut self.contexts {
            it.enter(ContextPhase::Inactive, self.cycle);
        }
        self.phase = Phase::Halted;
        (0..8).for_each(|context| self.tell_context::<OBSERVED>(context, fabric));
    }

    /// Tells a context's new state.
    fn tell_context<const OBSERVED: bool>(&self, context: u8, fabric: &mut Fabric) {
        if OBSERVED {
            let (at, what) = self.context_change(context);
            fabric.journal.put(at, what);
        }
    }

    /// A context's new state and since when it has it.
    pub(super) fn context_change(&self, context: u8) -> (Cycle, TraceEvent) {
        let (doing, pc) = self.doing(context);
        let what = TraceEvent::Context {
            me: self.index,
            context,
            doing,
            pc,
        };
        (self.contexts[context as usize & 7].since(), what)
    }

    /// Runs the present context on its own time.
    fn execute<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> Flow {
        loop {
            if self.slow == 0 && self.lane().is_tight(self.pc) {
                self.tight::<OBSERVED>(&mut fabric.journal);
            }
            if self.cycle >= self.limit {
                return Flow::Post(self.cycle);
            }
            match self.attentive::<OBSERVED>(fabric) {
                Flow::Continue => {}
                other => return other,
            }
        }
    }

    /// The tight loop: operations that need no attention, in stretches up to the
    /// next branch. It ends before the first other one, or at the limit.
    #[inline(never)]
    fn tight<const OBSERVED: bool>(&mut self, journal: &mut Journal) {
        let Self {
            program,
            lanes,
            datapath,
            memory,
            claims,
            limit,
            thrown,
            ..
        } = self;
        let (me, context, limit) = (self.index, datapath.context, *limit);
        let lane = &lanes[context as usize & 7];
        let (ops, runs) = (lane.ops(), lane.runs());
        let begin = self.cycle;
        let mut cycle = begin;
        let mut pc = self.pc as usize;
        let mut aborted = 0;
        let mut arrived = self.arrived;
        let mut with_codes = self.arrived_with_codes;
        while cycle < limit {
            let Some(&run) = runs.get(pc) else { break };
            if run != 0 {
                let count = Cycle::from(run).min(limit - cycle) as usize;
                datapath.in_line(ops, pc, count);
                tell::<OBSERVED>(journal, (me, context), pc, cycle, count);
                pc += count;
                cycle += count as Cycle;
                if cycle >= limit {
                    break;
                }
            }
            let op = &ops[pc];
            if op.attention & Op::WATCHED != 0 || op.attention != 0 && is_owned(op, claims) {
                break;
            }
            if op.kind.is_of_datapath() {
                let side = &program.sides[pc];
                if !side.local {
                    datapath.operate(op);
                } else if Self::local_step(datapath, memory, op, side).is_none() {
                    break;
                }
            } else if !op.kind.branches() {
                break;
            } else if datapath.condition(op) {
                let deferred = op.n as usize;
                if deferred != 0 {
                    let fits = limit - cycle > deferred as Cycle;
                    if !fits || usize::from(runs[pc + 1]) < deferred {
                        break;
                    }
                    datapath.in_defer_slots(ops, pc + 1, deferred);
                }
                tell::<OBSERVED>(journal, (me, context), pc, cycle, 1 + deferred);
                let penalty = penalty(op, cycle == arrived, with_codes);
                let slots = Cycle::from(penalty.saturating_sub(op.n));
                cycle += 1 + deferred as Cycle;
                if slots != 0 {
                    thrown.add(cycle, slots);
                    if OBSERVED {
                        let pc = pc as u16;
                        let aborted = TraceEvent::Aborted {
                            me,
                            context,
                            pc,
                            slots,
                        };
                        journal.put(cycle, aborted);
                    }
                }
                with_codes = deferred != 0 && slots == 0 && program.sides[pc + deferred].sets_codes;
                aborted += slots;
                cycle += slots;
                arrived = cycle;
                pc = op.d as usize;
                continue;
            }
            tell::<OBSERVED>(journal, (me, context), pc, cycle, 1);
            pc += 1;
            cycle += 1;
        }
        self.pc = pc as u16;
        self.cycle = cycle;
        self.arrived = arrived;
        self.arrived_with_codes = with_codes;
        self.stats.aborted += aborted;
        self.stats.instructions += cycle - begin - aborted;
    }
}

/// Whether a unit owns one of the operation's registers.
#[inline]
fn is_owned(op: &Op, claims: &Claims) -> bool {
    // The other fields of a branch are no slots.
    claims.owns(op.b) || op.kind.is_of_datapath() && (claims.owns(op.a) || claims.owns(op.d))
}

/// Tells of instructions that followed one another.
#[inline]
fn tell<const OBSERVED: bool>(
    journal: &mut Journal,
    (me, context): (u8, u8),
    pc: usize,
    cycle: Cycle,
    count: usize,
) {
    if OBSERVED {
        let issued = TraceEvent::Issued {
            me,
            context,
            pc: pc as u16,
            count: count as u16,
        };
        journal.put(cycle, issued);
    }
}

/// Slots that a taken branch throws away when nothing is deferred.
#[inline]
pub(super) fn penalty(op: &Op, arrived: bool, with_codes: bool) -> u8 {
    match (arrived, with_codes) {
        _ if op.kind == Kind::Jump => op.y as u8,
        (false, _) => op.a as u8,
        (true, true) => (op.y >> 8) as u8,
        (true, false) => op.y as u8,
    }
}
