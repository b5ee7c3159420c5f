//! The slow path: one instruction at a time, with everything that can keep it from the dispatch
//! loop. [`Microengine::step_slow`] is the entry point; it is the specification of an instruction,
//! of which the loop's handlers are the fast form.
//!
//! | condition | step |
//! | --- | --- |
//! | a synchronisation point, and an event of the chip is due before it | none: the turn is posted for its cycle |
//! | operands are unverified or not plain registers, there is work after the operation, defer slots are being executed, a local CSR's value is on its way to an `immed`, or `CC_ENABLE` is off | [`step_checked`](Microengine::step_checked): checks, operands, the instruction, the work after it |
//! | none of these, or only pending writes of index registers | [`step_unchecked`](Microengine::step_unchecked): handles reads of local CSRs and input states in line, the rest as above |
//!
//! A checked step makes every check before its first effect, so that an instruction that cannot
//! execute now can be retried from the beginning.

use npsim_chip::Cycle;
use npsim_chip::kernel::check::WATCHDOG_CYCLES;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event::{self, TraceEvent};
use npsim_isa::{CamLmTarget, Instruction, Shift};

use crate::control::SlowOutcome;
use crate::datapath::NextPc;
use crate::local_memory::PendingIndex;
use crate::microengine::{DeferredTransfer, LoopExit, Microengine, slow};
use crate::operation::Op;
use crate::registers::byte_mask;
use crate::uop::UopKind;

impl Microengine {
    /// Executes the present instruction if something keeps it from the loop, or the loop does not
    /// implement it.
    #[inline(never)]
    pub(crate) fn step_slow<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> LoopExit {
        self.pending_sync = None;
        let Some(flags) = self.bound_program().flags(self.pc) else {
            return self.no_instruction(fabric);
        };
        if flags & Op::SYNCS != 0 {
            if !self.is_globally_ordered(self.cycle, fabric) {
                return LoopExit::Post;
            }
            self.watchdog_at = self.cycle + WATCHDOG_CYCLES;
        }
        if self.slow & slow::PENDING != 0 {
            self.commit_index_writes(self.cycle);
        }
        if flags & (Op::SLOW | Op::FINISHES) != 0 || self.slow & !slow::PENDING != 0 {
            return self.step_checked::<OBSERVED>(fabric);
        }
        self.step_unchecked::<OBSERVED>(fabric)
    }

    /// Executes the present instruction, which must exist, with all checks; a synchronisation point
    /// must be permitted to execute.
    #[inline]
    pub(crate) fn step_checked<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> LoopExit {
        self.try_step_checked::<OBSERVED>(fabric)
            .unwrap_or_else(|flow| flow)
    }

    /// Everything that can keep the instruction from executing now comes before its first effect,
    /// so that it can be retried.
    #[inline(always)]
    fn try_step_checked<const OBSERVED: bool>(
        &mut self,
        fabric: &mut Fabric,
    ) -> Result<LoopExit, LoopExit> {
        let pc = self.pc as usize;
        let op = self.bound_program().ops()[pc];
        if op.flags & Op::SLOW != 0 {
            self.prepare(pc, &op, fabric)?;
        }
        let csr = self.slow & slow::CSR != 0;
        let next = if op.kind.is_outside() {
            match self.outside(&op, fabric)? {
                SlowOutcome::Sequential => NextPc::Sequential,
                SlowOutcome::Taken => NextPc::Taken,
                SlowOutcome::Swap { defer, resume } => {
                    self.issued::<OBSERVED>(&op, csr, fabric);
                    self.finish(pc, &op, fabric);
                    return Ok(self.yields(defer, resume));
                }
                SlowOutcome::Halt => {
                    self.issued::<OBSERVED>(&op, csr, fabric);
                    return Ok(LoopExit::Halt);
                }
            }
        } else {
            self.pure(op, pc, csr)
        };
        let target = match next {
            NextPc::Sequential => {
                self.issued::<OBSERVED>(&op, csr, fabric);
                self.finish(pc, &op, fabric);
                return Ok(self.advance::<OBSERVED>(&op, fabric));
            }
            NextPc::Taken => op.d,
            NextPc::Jump(to) => to.min(u32::from(self.program.end())) as u16,
        };
        self.refuse_in_slot(fabric)?;
        self.enter_checked(target, fabric)?;
        let slots = if op.kind == UopKind::Jump {
            Cycle::from(op.y)
        } else {
            self.block.penalty(&op, self.cycle)
        };
        self.issued::<OBSERVED>(&op, csr, fabric);
        self.finish(pc, &op, fabric);
        self.transfer::<OBSERVED>(&op, target, slots, fabric);
        Ok(LoopExit::Continue)
    }

    /// Executes the present instruction if it needs no checks before it and no work after it, and
    /// nothing but pending writes of index registers requires the slow path; a synchronisation
    /// point must be permitted to execute. [`Self::step_checked`] is the specification.
    #[inline(always)]
    pub(crate) fn step_unchecked<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> LoopExit {
        self.try_step_unchecked::<OBSERVED>(fabric)
            .unwrap_or_else(|flow| flow)
    }

    #[inline(always)]
    fn try_step_unchecked<const OBSERVED: bool>(
        &mut self,
        fabric: &mut Fabric,
    ) -> Result<LoopExit, LoopExit> {
        let op = &self.bound_program().ops()[self.pc as usize];
        let (kind, x) = (op.kind, op.x);
        let taken = match kind {
            UopKind::CsrRead => {
                self.csr_read::<OBSERVED>(x as u16, fabric)?;
                return Ok(LoopExit::Continue);
            }
            UopKind::BrState | UopKind::BrNoState => {
                let taken = self.input_state(x as u8, fabric) == (kind == UopKind::BrState);
                if !taken {
                    self.retire::<OBSERVED>(fabric);
                }
                taken
            }
            _ => return self.step_checked_outlined::<OBSERVED>(fabric),
        };
        if !taken {
            self.pc += 1;
            return Ok(LoopExit::Continue);
        }
        let op = self.bound_program().ops()[self.pc as usize];
        self.enter_checked(op.d, fabric)?;
        let slots = self.block.penalty(&op, self.cycle);
        self.retire::<OBSERVED>(fabric);
        self.transfer::<OBSERVED>(&op, op.d, slots, fabric);
        Ok(LoopExit::Continue)
    }

    #[inline(never)]
    fn step_checked_outlined<const OBSERVED: bool>(
        &mut self,
        fabric: &mut Fabric,
    ) -> Result<LoopExit, LoopExit> {
        self.try_step_checked::<OBSERVED>(fabric)
    }

    /// Advances time by the cycle of the present instruction, which has executed.
    #[inline]
    pub(crate) fn retire<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        if OBSERVED {
            let issued = TraceEvent::Issued {
                me: self.index,
                context: self.datapath.context.number(),
                pc: self.pc,
                count: 1,
            };
            fabric.trace.put(self.cycle, issued);
            if fabric.trace.wants(trace_event::TraceEventKind::LocalMemory) {
                self.trace_local_memory(fabric);
            }
        }
        self.cycle += 1;
    }

    /// Completes an instruction that has executed: it took its cycle, it was the only one to
    /// receive a local CSR's value, and a tested signal is consumed.
    #[inline]
    fn issued<const OBSERVED: bool>(&mut self, op: &Op, csr: bool, fabric: &mut Fabric) {
        self.retire::<OBSERVED>(fabric);
        if matches!(op.kind, UopKind::BrSignal | UopKind::BrNoSignal) {
            self.contexts[self.datapath.context].signals &= !(op.x as u16);
        }
        if csr && op.kind != UopKind::CsrRead {
            self.slow &= !slow::CSR;
        }
    }

    /// Traces the local memory accesses of the present instruction, whose pointers have not moved
    /// yet.
    #[cold]
    #[inline(never)]
    fn trace_local_memory(&self, fabric: &mut Fabric) {
        let info = self.program.infos[self.pc as usize];
        let reads = [
            Some(info.special_a),
            Some(info.special_b),
            info.merges.then_some(info.special_d),
        ];
        let reads = reads.into_iter().flatten().map(|special| (special, false));
        for (special, write) in reads.chain([(info.special_d, true)]) {
            let Some(word) = self.memory.place(special) else {
                continue;
            };
            let access = TraceEvent::LocalMemory {
                me: self.index,
                context: self.datapath.context.number(),
                pc: self.pc,
                word: word as u16,
                write,
            };
            fabric.trace.put(self.cycle, access);
        }
    }

    /// Advances to the next word, or to the destination of the control instruction whose last defer
    /// slot this was.
    #[inline]
    fn advance<const OBSERVED: bool>(&mut self, op: &Op, fabric: &mut Fabric) -> LoopExit {
        self.pc += 1;
        if self.slow & slow::DEFER == 0 {
            return LoopExit::Continue;
        }
        self.defer_left -= 1;
        if self.defer_left != 0 {
            return LoopExit::Continue;
        }
        self.slow &= !slow::DEFER;
        // Completed transfers leave nothing in the state: the dispatch loop, if it runs all slots
        // itself, never records them.
        let deferred_by = std::mem::take(&mut self.deferred_by);
        match std::mem::replace(&mut self.after, DeferredTransfer::Jump(0)) {
            DeferredTransfer::Jump(target) => {
                let penalty = std::mem::take(&mut self.after_penalty);
                self.abort_slots::<OBSERVED>(deferred_by, penalty, fabric);
                self.pc = target;
                let with_codes = op.flags & Op::SETS_CODES != 0 && penalty == 0;
                self.block.arrive(self.cycle, with_codes);
                LoopExit::Continue
            }
            DeferredTransfer::Swap(resume) => {
                self.pc = resume.unwrap_or(self.pc);
                LoopExit::Swap
            }
        }
    }

    /// Transfers control to an address from the present instruction, which has executed, after its
    /// defer slots if it has any; `slots` issue slots are aborted.
    fn transfer<const OBSERVED: bool>(
        &mut self,
        op: &Op,
        target: u16,
        slots: Cycle,
        fabric: &mut Fabric,
    ) {
        if op.n == 0 {
            self.abort_slots::<OBSERVED>(self.pc, slots, fabric);
            self.pc = target;
            self.block.arrive(self.cycle, false);
        } else {
            self.pc += 1;
            self.defers((self.pc - 1, op.n), DeferredTransfer::Jump(target), slots);
        }
    }

    /// Aborts issue slots from the present cycle on.
    fn abort_slots<const OBSERVED: bool>(&mut self, pc: u16, slots: Cycle, fabric: &mut Fabric) {
        if slots == 0 {
            return;
        }
        self.aborted_slots.add(self.cycle, slots);
        if OBSERVED {
            let aborted = TraceEvent::Aborted {
                me: self.index,
                context: self.datapath.context.number(),
                pc,
                slots,
            };
            fabric.trace.put(self.cycle, aborted);
        }
        self.cycle += slots;
        self.stats.aborted += slots;
    }

    /// Records the defer slots to be executed after an instruction at an address.
    pub(crate) fn defers(
        &mut self,
        (by, slots): (u16, u8),
        after: DeferredTransfer,
        penalty: Cycle,
    ) {
        self.deferred_by = by;
        self.slow |= slow::DEFER;
        self.defer_left = slots;
        self.after = after;
        self.after_penalty = penalty;
    }

    /// Records the present instruction as the one with which the context yields the pipeline.
    #[inline]
    pub(crate) fn yielded(&mut self) {
        self.contexts[self.datapath.context].yielded_at = self.pc;
        self.pc += 1;
    }

    /// Yields the pipeline, after defer slots if there are any.
    #[inline]
    pub(crate) fn yields(&mut self, defer: u8, resume: Option<u16>) -> LoopExit {
        self.yielded();
        self.after_penalty = self.timing.swap.saturating_sub(Cycle::from(defer));
        if defer == 0 {
            self.pc = resume.unwrap_or(self.pc);
            return LoopExit::Swap;
        }
        self.defers(
            (self.pc - 1, defer),
            DeferredTransfer::Swap(resume),
            self.after_penalty,
        );
        LoopExit::Continue
    }

    /// Applies the writes of index registers that are due by a cycle.
    #[inline(never)]
    pub(crate) fn commit_index_writes(&mut self, cycle: Cycle) {
        self.memory.commit(cycle, &mut self.datapath.byte_index);
        if !self.memory.has_pending() {
            self.slow &= !slow::PENDING;
        }
    }

    /// Applies all writes of index registers.
    #[cold]
    #[inline(never)]
    pub(crate) fn commit_all_index_writes(&mut self) {
        self.memory
            .commit_all_index_writes(&mut self.datapath.byte_index);
        self.slow &= !slow::PENDING;
    }

    /// Executes an operation of the datapath, including cases that the dispatch loop never handles.
    #[inline]
    fn pure(&mut self, mut op: Op, pc: usize, csr: bool) -> NextPc {
        match op.kind {
            UopKind::LdField | UopKind::LdFieldCc | UopKind::CamLookup => {
                self.complete(&mut op, pc);
            }
            UopKind::Immed if csr => op.x = self.csr_value,
            _ => {}
        }
        let codes = self.datapath.codes;
        let next = self.datapath.step(&op);
        if self.slow & slow::CODES_OFF != 0 {
            self.datapath.codes = codes;
        }
        next
    }

    /// Completes an operation with values known only now: an indirect shift count. For a lookup
    /// that loads a pointer, writes the pointer instead.
    #[inline(never)]
    fn complete(&mut self, op: &mut Op, pc: usize) {
        match self.program.instruction(pc as u16) {
            Some(&Instruction::LdField { mask, shift, .. }) => {
                let count = self.datapath.previous_a & 31;
                let placed = match shift {
                    Shift::LeftIndirect => Some(((32 - count as u8) & 31, u32::MAX << count)),
                    Shift::RightIndirect => Some((count as u8, u32::MAX >> count)),
                    _ => None,
                };
                if let Some((n, bits)) = placed {
                    (op.n, op.x) = (n, bits & byte_mask(mask & 15));
                }
            }
            Some(&Instruction::CamLookup {
                lm_addr: Some(CamLmTarget { pointer, block }),
                ..
            }) => {
                let tag = self.datapath.get(op.a);
                // The operation's own lookup gives the same result: an entry hit again stays the
                // most recent one.
                let found = self.datapath.cam.lookup(tag);
                let words = (u32::from(block) << 10 | found & 0x3ff) >> 2;
                self.index_write(
                    PendingIndex::Pointer(pointer & 1),
                    words,
                    self.timing.lm_addr_gap,
                );
            }
            _ => {}
        }
    }

    /// Starts a delayed write of an index register.
    pub(crate) fn index_write(&mut self, index: PendingIndex, value: u32, gap: Cycle) {
        self.memory.write(index, value, self.cycle, gap);
        self.slow |= slow::PENDING;
    }
}
