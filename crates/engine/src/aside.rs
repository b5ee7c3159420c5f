//! What the interpreter's loop leaves its line for: defer slots that are not all plain, and operations with several operands in local memory.
//!
//! It takes the microengine as a whole. In the loop it would need addresses of several parts
//! of it, and the compiler keeps these from the beginning of each turn on.

use crate::claims::Claims;
use crate::datapath::Datapath;
use crate::local_memory::{Index, LocalMemory};
use crate::operation::{Op, Side};
use crate::turn::penalty;
use crate::{After, Flow, Microengine};
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event;

impl Microengine {
    /// The line comes to a branch at an address, which is taken and has defer slots that are not
    /// all plain: runs them and takes it, or goes as far as the first that needs attention.
    #[inline(never)]
    pub(crate) fn branch_apart<const OBSERVED: bool>(
        &mut self,
        at: usize,
        fabric: &mut Fabric,
    ) -> Flow {
        let cycle = self.line.cycle_of(at);
        // What is due by then would keep slots with operands in local memory from running.
        if self.slow != 0 {
            self.settle_until(cycle);
        }
        let ops = self.lanes[usize::from(self.datapath.context) & 7].ops();
        let branch = ops[at];
        let unseen = !OBSERVED || !fabric.journal.wants(trace_event::Kind::LocalMemory);
        let own = (&mut self.datapath, &mut self.memory, &self.claims);
        let ran = Self::run_slots(own, (ops, &self.program.sides), at, unseen);
        let slots = usize::from(branch.n);
        if ran.count < slots {
            let thrown_away = penalty(&branch, cycle == self.line.arrived, self.line.with_codes);
            self.leave_line::<OBSERVED>(at + 1 + ran.count, fabric);
            let left = (slots - ran.count) as u8;
            self.defers((at as u16, left), After::Jump(branch.d), thrown_away);
            return self.step_apart::<OBSERVED>(fabric);
        }
        let slots = (slots, ran.sets_codes);
        let thrown = &mut self.thrown;
        self.stats.aborted += if OBSERVED {
            let who = (self.index, self.datapath.context);
            let account = (&mut fabric.journal, thrown);
            (self.line).branch_in_sight((&branch, at), slots, who, account)
        } else {
            self.line.branch((&branch, at), slots, thrown)
        };
        self.leave_line::<OBSERVED>(usize::from(branch.d), fabric);
        Flow::Continue
    }

    /// The line comes to an operation at an address whose special operands are in local memory
    /// and are not a single word of it.
    #[inline(never)]
    pub(crate) fn local_apart<const OBSERVED: bool>(
        &mut self,
        at: usize,
        fabric: &mut Fabric,
    ) -> Flow {
        self.leave_at::<OBSERVED>(at, fabric);
        if self.slow != 0 {
            self.settle_until(self.cycle);
        }
        let seen = OBSERVED && fabric.journal.wants(trace_event::Kind::LocalMemory);
        let lane = &self.lanes[usize::from(self.datapath.context) & 7];
        let op = &lane.ops()[at];
        let claims = &self.claims;
        let owned = claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d);
        let side = &self.program.sides[at];
        let (datapath, memory) = (&mut self.datapath, &mut self.memory);
        if seen || self.slow != 0 || owned || Self::local_step(datapath, memory, op, side).is_none()
        {
            return self.step_apart::<OBSERVED>(fabric);
        }
        self.took_a_cycle::<OBSERVED>(fabric);
        self.pc += 1;
        Flow::Continue
    }

    /// Runs the defer slots of the branch at an address as far as none needs attention.
    /// `unseen`: nobody watches local memory.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is nearly all of what its caller does.
    fn run_slots(
        (datapath, memory, claims): (&mut Datapath, &mut LocalMemory, &Claims),
        (ops, sides): (&[Op], &[Side]),
        at: usize,
        unseen: bool,
    ) -> Ran {
        let mut ran = Ran::default();
        let slots = at + 1..=at + usize::from(ops[at].n);
        let (Some(ops), Some(sides)) = (ops.get(slots.clone()), sides.get(slots)) else {
            return ran;
        };
        for (op, side) in ops.iter().zip(sides) {
            if op.marks & Op::WATCHED != 0 || !op.kind.is_of_datapath() {
                return ran;
            }
            if op.marks & Op::GUARDED == 0 {
                datapath.operate_apart(op);
            } else if let Some(place) = op.word() {
                // Nearly all have but a word of local memory.
                if !unseen || memory.has_pending() && memory.awaits(Index::Pointer(place.0)) {
                    return ran;
                }
                let Some(word) = memory.word_at(place) else {
                    return ran;
                };
                datapath.operate_on(word, op);
            } else {
                if claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d) {
                    return ran;
                }
                if op.marks & Op::LOCAL == 0 {
                    datapath.operate_apart(op);
                } else if !unseen
                    || memory.has_pending()
                    || Self::local_step(datapath, memory, op, side).is_none()
                {
                    return ran;
                }
            }
            ran.count += 1;
            ran.sets_codes = op.marks & Op::SETS_CODES != 0;
        }
        ran
    }
}

/// Defer slots of a branch that have been run.
#[derive(Clone, Copy, Debug, Default)]
struct Ran {
    count: usize,
    /// The last of them sets the codes.
    sets_codes: bool,
}
