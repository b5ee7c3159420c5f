//! What the interpreter's loop leaves its line for: lines that go round, defer slots that are not
//! all plain, and operations with several operands in local memory.
//!
//! It takes the microengine as a whole. In the loop it would need addresses of several parts
//! of it, and the compiler keeps these from the beginning of each turn on.

use super::datapath::Datapath;
use super::local_memory::LocalMemory;
use super::operation::{Op, Side, Special};
use super::registers::Claims;
use super::{Flow, Microengine};
use crate::kernel::fabric::Fabric;
use crate::kernel::trace_event;

impl Microengine {
    /// Goes round from an address of the present line on, which has been left when it comes back.
    #[inline(never)]
    pub(super) fn go_round(&mut self, at: usize) {
        let (line, account) = (&mut self.line, (&mut self.thrown, &mut self.stats.aborted));
        let lane = &self.lanes[usize::from(self.datapath.context) & 7];
        let ended = lane.go_round(at, &mut self.datapath, line, account, self.calm);
        let ended = ended.unwrap_or_else(|| {
            self.datapath.operate_apart(&lane.ops()[at]);
            at + 1
        });
        self.pc = ended as u16;
        self.cycle = self.line.cycle_of(ended);
        self.settle_before();
    }

    /// The line comes to a branch at an address, which is taken and has defer slots that are not
    /// all plain: runs them and takes it.
    #[inline(never)]
    pub(super) fn branch_apart<const OBSERVED: bool>(
        &mut self,
        at: usize,
        fabric: &mut Fabric,
    ) -> Flow {
        let ops = self.lanes[usize::from(self.datapath.context) & 7].ops();
        let branch = ops[at];
        let unseen = !OBSERVED || !fabric.journal.wants(trace_event::Kind::LocalMemory);
        let own = (&mut self.datapath, &mut self.memory, &self.claims);
        let Some(sets_codes) = Self::run_slots(own, (ops, &self.program.sides), at, unseen) else {
            self.leave_line::<OBSERVED>(at, fabric);
            return self.step_apart::<OBSERVED>(fabric);
        };
        let slots = (usize::from(branch.n), sets_codes);
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
    pub(super) fn local_apart<const OBSERVED: bool>(
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

    /// Runs the defer slots of the branch at an address; gives whether the last of them sets
    /// the codes. `None`, and nothing done, if one needs attention: whether it does must be
    /// known of all before the first is run. `unseen`: nobody watches local memory.
    fn run_slots(
        (datapath, memory, claims): (&mut Datapath, &mut LocalMemory, &Claims),
        (ops, sides): (&[Op], &[Side]),
        at: usize,
        unseen: bool,
    ) -> Option<bool> {
        let slots = at + 1..=at + usize::from(ops[at].n);
        let (ops, sides) = (ops.get(slots.clone())?, sides.get(slots)?);
        // Nearly always it is a single one with a word of local memory.
        if let [op] = ops
            && op.marks & (Op::WATCHED | Op::GUARDED) == Op::GUARDED
            && let Some(at) = op.word()
            && unseen
            && !memory.has_pending()
        {
            datapath.operate_on(memory.word_at(at)?, op);
            return Some(op.marks & Op::SETS_CODES != 0);
        }
        let there = |special: &Special| match special {
            Special::None => true,
            // Its pointer would move before a later slot is looked at.
            Special::LocalStep { .. } => false,
            other => memory
                .place(*other)
                .is_some_and(|at| at < memory.words.len()),
        };
        let runs = |(op, side): (&Op, &Side)| {
            if op.marks & Op::WATCHED != 0 || !op.kind.is_of_datapath() {
                return false;
            }
            if op.marks & Op::GUARDED == 0 {
                return true;
            }
            let owned = claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d);
            let specials = [side.special_a, side.special_b, side.special_d];
            let local = op.marks & Op::LOCAL != 0;
            !owned && (!local || unseen && !memory.has_pending() && specials.iter().all(there))
        };
        if !ops.iter().zip(sides).all(runs) {
            return None;
        }
        let mut sets_codes = false;
        for (op, side) in ops.iter().zip(sides) {
            if op.marks & Op::LOCAL == 0 {
                datapath.operate_apart(op);
            } else {
                Self::local_step(datapath, memory, op, side)?;
            }
            sets_codes = op.marks & Op::SETS_CODES != 0;
        }
        Some(sets_codes)
    }
}
