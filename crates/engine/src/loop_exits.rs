//! Exits of the dispatch loop that return to it: defer slots that are not all plain, and operations
//! with several operands in local memory.
//!
//! These functions take the microengine as a whole. Inline in the loop they would need the
//! addresses of several of its parts, which the compiler would keep from the start of
//! each turn.

use crate::datapath::Datapath;
use crate::local_memory::{LocalMemory, PendingIndex};
use crate::microengine::{DeferredTransfer, LoopExit, Microengine};
use crate::operation::{DecodeInfo, Op};
use crate::registers::{TEMP_A, TEMP_B, TEMP_D};
use crate::scoreboard::Scoreboard;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event;

impl Microengine {
    /// Takes the branch at an address of the block, whose defer slots are not all plain, after
    /// running them. From the first slot that needs the slow path on, they are left to it.
    #[inline(never)]
    pub(crate) fn branch_slow<const OBSERVED: bool>(
        &mut self,
        at: usize,
        fabric: &mut Fabric,
    ) -> LoopExit {
        let cycle = self.block.cycle_of(at);
        // Index writes that are due by then would otherwise keep slots with operands in local
        // memory from running.
        if self.slow != 0 {
            self.commit_index_writes(cycle);
        }
        let ops = self.bound[self.datapath.context.index()].ops();
        let branch = ops[at];
        let unseen = !OBSERVED || !fabric.trace.wants(trace_event::TraceEventKind::LocalMemory);
        let own = (&mut self.datapath, &mut self.memory, &self.scoreboard);
        let ran = Self::run_slots(own, (ops, &self.program.infos), at, unseen);
        let slots = usize::from(branch.n);
        if ran.count < slots {
            let penalty = self.block.penalty(&branch, cycle);
            self.sync_pc::<OBSERVED>(at + 1 + ran.count, fabric);
            let left = (slots - ran.count) as u8;
            self.defers((at as u16, left), DeferredTransfer::Jump(branch.d), penalty);
            return self.step_slow::<OBSERVED>(fabric);
        }
        let slots = (slots, ran.sets_codes);
        let aborted_slots = &mut self.aborted_slots;
        self.stats.aborted += if OBSERVED {
            let who = (self.index, self.datapath.context);
            let account = (&mut fabric.trace, aborted_slots);
            (self.block).branch_observed((&branch, at), slots, who, account)
        } else {
            self.block.branch((&branch, at), slots, aborted_slots)
        };
        self.sync_pc::<OBSERVED>(usize::from(branch.d), fabric);
        LoopExit::Continue
    }

    /// Executes the operation at an address of the block whose special operands are in local memory
    /// and are not all the same word.
    #[inline(never)]
    pub(crate) fn local_memory_slow<const OBSERVED: bool>(
        &mut self,
        at: usize,
        fabric: &mut Fabric,
    ) -> LoopExit {
        self.sync_pc_only::<OBSERVED>(at, fabric);
        if self.slow != 0 {
            self.commit_index_writes(self.cycle);
        }
        let seen = OBSERVED && fabric.trace.wants(trace_event::TraceEventKind::LocalMemory);
        let bound_program = &self.bound[self.datapath.context.index()];
        let op = &bound_program.ops()[at];
        let scoreboard = &self.scoreboard;
        let owned = scoreboard.is_reserved(op.a)
            || scoreboard.is_reserved(op.b)
            || scoreboard.is_reserved(op.d);
        let info = &self.program.infos[at];
        let (datapath, memory) = (&mut self.datapath, &mut self.memory);
        if seen || self.slow != 0 || owned || Self::local_step(datapath, memory, op, info).is_none()
        {
            return self.step_slow::<OBSERVED>(fabric);
        }
        self.retire::<OBSERVED>(fabric);
        self.pc += 1;
        LoopExit::Continue
    }

    /// Executes an operation whose special operands are all in local memory, in the dispatch loop:
    /// no index write is pending and its registers are known to be initialised. `None` if an
    /// address has no word.
    #[inline]
    fn local_step(
        datapath: &mut Datapath,
        memory: &mut LocalMemory,
        op: &Op,
        info: &DecodeInfo,
    ) -> Option<()> {
        // The slots show which operands these are, and receive their values.
        if op.a == TEMP_A {
            datapath.put(TEMP_A, memory.word(info.special_a)?);
        }
        if op.b == TEMP_B {
            datapath.put(TEMP_B, memory.word(info.special_b)?);
        }
        if op.d == TEMP_D {
            datapath.put(TEMP_D, memory.word(info.special_d)?);
        }
        datapath.execute_outlined(op);
        if op.d == TEMP_D {
            memory.set_word(info.special_d, datapath.get(TEMP_D));
        }
        if info.steps {
            memory.step([info.special_a, info.special_b, info.special_d]);
        }
        Some(())
    }

    /// Runs the defer slots of the branch at an address until one needs the slow path.
    ///
    /// A slot that needs it (because of a check that may fail, a reserved register or a pending
    /// write of an index register) must not have begun when this returns: the slow path continues
    /// at the first slot that was not counted, so no part of it may have been executed. `unseen` is
    /// true if local memory is not traced.
    #[inline(always)]
    fn run_slots(
        (datapath, memory, scoreboard): (&mut Datapath, &mut LocalMemory, &Scoreboard),
        (ops, infos): (&[Op], &[DecodeInfo]),
        at: usize,
        unseen: bool,
    ) -> DeferSlotsRun {
        let mut ran = DeferSlotsRun::default();
        let slots = at + 1..=at + usize::from(ops[at].n);
        let (Some(ops), Some(infos)) = (ops.get(slots.clone()), infos.get(slots)) else {
            return ran;
        };
        for (op, info) in ops.iter().zip(infos) {
            if op.flags & Op::UNVERIFIED != 0 || !op.kind.is_alu() {
                return ran;
            }
            if op.flags & Op::SCOREBOARDED == 0 {
                datapath.execute_outlined(op);
            } else if let Some(place) = op.word() {
                // Nearly all have only a single word of local memory.
                if !unseen || memory.has_pending() && memory.awaits(PendingIndex::Pointer(place.0))
                {
                    return ran;
                }
                let Some(word) = memory.word_at(place) else {
                    return ran;
                };
                datapath.execute_on(word, op);
            } else {
                if scoreboard.is_reserved(op.a)
                    || scoreboard.is_reserved(op.b)
                    || scoreboard.is_reserved(op.d)
                {
                    return ran;
                }
                if op.flags & Op::LOCAL == 0 {
                    datapath.execute_outlined(op);
                } else if !unseen
                    || memory.has_pending()
                    || Self::local_step(datapath, memory, op, info).is_none()
                {
                    return ran;
                }
            }
            ran.count += 1;
            ran.sets_codes = op.flags & Op::SETS_CODES != 0;
        }
        ran
    }
}

/// The defer slots of a branch that have been run.
#[derive(Clone, Copy, Debug, Default)]
struct DeferSlotsRun {
    count: usize,
    /// Whether the last of them sets the codes.
    sets_codes: bool,
}
