//! Basic blocks: the choice of each operation's handler by its surroundings, and the timing of the
//! block that a context is in.
//!
//! Handlers are chosen once for a program, as far as the program determines them, and again for a
//! context when one of its operations is verified ([`crate::bound_program`]).

use npsim_chip::Cycle;
use npsim_chip::kernel::trace_buffer::TraceBuffer;
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_isa::{Context, csr};
use serde::{Deserialize, Serialize};

use crate::aborted_slots::AbortedSlots;
use crate::csr_order::only_posts;
use crate::operation::{DecodeInfo, FlagEffect, Op};
use crate::uop::{Handler, UopKind};

/// Whether the effects of an operation other than its result are read, given that the next word
/// follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideEffects {
    /// The effects are live, or may be.
    Live,
    /// The next word overwrites all of them unread.
    Dead,
}

/// Determines which operations of a program have dead side effects.
pub(crate) fn find_side_effects(ops: &[Op], infos: &[DecodeInfo]) -> Vec<SideEffects> {
    let of = |at: usize| {
        let next = infos
            .get(at + 1)
            .map_or(FlagEffect::Other, |next| next.flag_effect);
        let unread = match infos[at].flag_effect {
            FlagEffect::All => next == FlagEffect::All,
            FlagEffect::Operands => next != FlagEffect::Other,
            FlagEffect::Other => false,
        };
        if unread && Handler::dead(ops[at].kind).is_some() {
            SideEffects::Dead
        } else {
            SideEffects::Live
        }
    };
    (0..ops.len()).map(of).collect()
}

/// Chooses the handler of the operation at an address, from it and the next.
///
/// | operation | handler |
/// | --- | --- |
/// | unverified, or needs more than the loop provides | `Slow` |
/// | operands on next-neighbour rings | `Ring` |
/// | leaves the datapath | its own, or `Sync` at a synchronisation point |
/// | operands in local memory or in transfer registers | `LocalWord`, `LocalMemory`, the row's bracketed one, `Move`, `Scoreboarded` |
/// | side effects dead, followed by a plain operation | the row's *dead* one |
/// | followed by a branch with which it forms a pair | the pair's |
/// | any other | the row's *live* one, or `Alu` |
pub(crate) fn handler_at(ops: &[Op], side_effects: &[SideEffects], at: usize) -> Handler {
    let op = &ops[at];
    if op.flags & Op::UNVERIFIED != 0 {
        return Handler::Slow;
    }
    if op.flags & Op::RING != 0 {
        return Handler::Ring;
    }
    let branches = op.kind.branches();
    if !branches && !op.kind.is_alu() {
        return outside(op, ops.get(at + 1));
    }
    if op.flags & Op::SCOREBOARDED != 0 {
        return match (branches, op.flags & Op::LOCAL != 0) {
            (true, _) => Handler::ScoreboardedBranch,
            (false, true) if op.word().is_some() => Handler::LocalWord,
            (false, true) => Handler::LocalMemory,
            (false, false) => scoreboarded(op),
        };
    }
    let dead = side_effects[at] == SideEffects::Dead && ops.get(at + 1).is_some_and(Op::is_plain);
    let dead = dead.then(|| Handler::dead(op.kind)).flatten();
    dead.or_else(|| fused_at(ops, at))
        .unwrap_or_else(|| Handler::live(op.kind))
}

/// The handler of an operation with transfer registers and no other reason for checks.
fn scoreboarded(op: &Op) -> Handler {
    match (Handler::scoreboarded(op.kind), op.transfer()) {
        (Some((handler, slot)), Some(transfer)) if op.slot(slot) == transfer => handler,
        // Operand A is irrelevant to this operation.
        (Some(_), None) if op.kind == UopKind::B && !Op::is_transfer(op.a) => Handler::Move,
        _ => Handler::Scoreboarded,
    }
}

/// The handler of a verified operation that leaves the datapath, given the next one.
fn outside(op: &Op, next: Option<&Op>) -> Handler {
    if op.flags & (Op::SCOREBOARDED | Op::FINISHES) != 0 {
        return Handler::Slow;
    }
    match op.kind {
        UopKind::Command => Handler::Command,
        UopKind::Arb => Handler::Yield,
        UopKind::CsrWrite => match op.x as u16 {
            csr::ACTIVE_LM_ADDR_0 | csr::ACTIVE_LM_ADDR_1 => Handler::PointerWrite,
            csr if only_posts(csr) => Handler::CsrPost,
            _ => Handler::CsrWrite,
        },
        UopKind::CsrRead if op.flags & Op::SYNCS == 0 => {
            let clock = op.x as u16 == csr::TIMESTAMP_LOW;
            if clock && next.is_some_and(Op::only_loads) {
                Handler::Clock
            } else {
                Handler::CsrRead
            }
        }
        _ if op.flags & Op::SYNCS != 0 => Handler::Sync,
        _ => Handler::Slow,
    }
}

/// The fused handler of an operation and the branch after it, if there is one.
fn fused_at(ops: &[Op], at: usize) -> Option<Handler> {
    let next = ops.get(at + 1)?;
    let plain = next.flags & Op::SLOW == 0;
    plain
        .then(|| Handler::fused(ops[at].kind, next.kind))
        .flatten()
}

/// When a context arrived at its current block, and in the dispatch loop the cycles of the block's
/// instructions. It is kept outside the loop, which needs the processor's registers for other
/// things.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BlockTiming {
    /// The cycle at which the context arrived at the first instruction, and whether the previous
    /// instruction set the codes.
    pub arrived: Cycle,
    pub with_codes: bool,
    /// The first address of the block that has not been traced.
    #[serde(skip)]
    from: usize,
    /// Offset from an address to its cycle.
    #[serde(skip)]
    ahead: Cycle,
}

impl BlockTiming {
    /// Begins the loop at an address.
    #[inline]
    pub fn begin<const OBSERVED: bool>(&mut self, from: usize, cycle: Cycle) {
        if OBSERVED {
            self.from = from;
        }
        self.ahead = cycle.wrapping_sub(from as Cycle);
    }

    /// The cycle of the instruction at an address of the block.
    #[inline]
    pub fn cycle_of(&self, at: usize) -> Cycle {
        self.ahead.wrapping_add(at as Cycle)
    }

    /// The number of slots aborted by a branch taken at a cycle.
    #[inline]
    pub fn penalty(&self, branch: &Op, cycle: Cycle) -> Cycle {
        // The first instruction of a block follows whatever led there; any other follows the word
        // before it.
        Cycle::from(match (cycle == self.arrived, self.with_codes) {
            (false, _) => branch.a,
            (true, true) => branch.y >> 8,
            (true, false) => branch.y & 0xff,
        })
    }

    /// Records the arrival at a block at a cycle; `with_codes` is true if the previous instruction
    /// set the codes.
    #[inline]
    pub fn arrive(&mut self, cycle: Cycle, with_codes: bool) {
        self.arrived = cycle;
        self.with_codes = with_codes;
    }

    /// Takes the branch at an address after its defer slots, `deferred` in number, the last of
    /// which may have set the codes. Returns the number of aborted slots.
    #[inline]
    pub fn branch(
        &mut self,
        (op, at): (&Op, usize),
        (deferred, sets_codes): (usize, bool),
        aborted_slots: &mut AbortedSlots,
    ) -> Cycle {
        let cycle = self.cycle_of(at);
        let slots = self.penalty(op, cycle);
        let next = cycle + deferred as Cycle + 1;
        if slots != 0 {
            aborted_slots.add(next, slots);
        }
        self.with_codes = sets_codes && slots == 0;
        self.arrived = next + slots;
        self.ahead = self.arrived.wrapping_sub(Cycle::from(op.d));
        slots
    }

    /// [`Self::branch`], traced.
    pub fn branch_observed(
        &mut self,
        (op, at): (&Op, usize),
        (deferred, sets_codes): (usize, bool),
        who: (u8, Context),
        (trace, aborted_slots): (&mut TraceBuffer, &mut AbortedSlots),
    ) -> Cycle {
        self.trace(who, at + deferred + 1, trace);
        let slots = self.branch((op, at), (deferred, sets_codes), aborted_slots);
        self.from = op.d as usize;
        if slots != 0 {
            let ((me, context), pc) = (who, at as u16);
            let aborted = TraceEvent::Aborted {
                me,
                context: context.number(),
                pc,
                slots,
            };
            trace.put(self.arrived - slots, aborted);
        }
        slots
    }

    /// Traces the instructions of the block up to an address.
    pub fn trace(&self, (me, context): (u8, Context), to: usize, trace: &mut TraceBuffer) {
        if to != self.from {
            let issued = TraceEvent::Issued {
                me,
                context: context.number(),
                pc: self.from as u16,
                count: (to - self.from) as u16,
            };
            trace.put(self.ahead.wrapping_add(self.from as Cycle), issued);
        }
    }
}
