//! The attentive path: one instruction with all its checks, its operands that
//! are no plain registers, and whatever else keeps it from the interpreter's loop.

use npsim_isa::{CamLmTarget, Instruction, Operand, Shift};

use crate::control::Outcome;
use crate::datapath::{Datapath, Next};
use crate::local_memory::{Index, LocalMemory};
use crate::operation::{Kind, Old, Op, Side, Special};
use crate::registers::{D_IN, D_OUT, S_IN, S_OUT, TEMP_A, TEMP_B, TEMP_D, byte_mask};
use crate::turn::penalty;
use crate::{After, Flow, Microengine, slow};
use npsim_chip::Cycle;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event::{self, TraceEvent};

impl Microengine {
    /// Executes one instruction, which is there; if it polls, it may.
    #[inline]
    pub(crate) fn attentive<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> Flow {
        self.attentive_or::<OBSERVED>(fabric)
            .unwrap_or_else(|flow| flow)
    }

    /// Everything that can keep the instruction from executing now comes before
    /// its first effect, so that it can be tried again.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is the body of the loop around it.
    fn attentive_or<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> Result<Flow, Flow> {
        let pc = self.pc as usize;
        let op = self.lane().ops()[pc];
        if op.marks & Op::ATTENTION != 0 {
            self.prepare(pc, &op, fabric)?;
        }
        let csr = self.slow & slow::CSR != 0;
        let next = if op.kind.is_outside() {
            match self.outside(&op, fabric)? {
                Outcome::Sequential => Next::Sequential,
                Outcome::Taken => Next::Taken,
                Outcome::Swap { defer, resume } => {
                    self.issued::<OBSERVED>(&op, csr, fabric);
                    self.finish(pc, &op, fabric);
                    return Ok(self.yields(defer, resume));
                }
                Outcome::Halt => {
                    self.issued::<OBSERVED>(&op, csr, fabric);
                    return Ok(Flow::Halt);
                }
            }
        } else {
            self.pure(op, pc, csr)
        };
        let target = match next {
            Next::Sequential => {
                self.issued::<OBSERVED>(&op, csr, fabric);
                self.finish(pc, &op, fabric);
                return Ok(self.advance::<OBSERVED>(&op, fabric));
            }
            Next::Taken => op.d,
            Next::Jump(to) => to.min(u32::from(self.program.end())) as u16,
        };
        self.refuse_in_slot(fabric)?;
        self.enter_checked(target, fabric)?;
        let slots = if op.kind == Kind::Jump {
            Cycle::from(op.y)
        } else {
            penalty(&op, self.cycle == self.line.arrived, self.line.with_codes)
        };
        self.issued::<OBSERVED>(&op, csr, fabric);
        self.finish(pc, &op, fabric);
        if op.n == 0 {
            self.go::<OBSERVED>(target, slots, false, fabric);
        } else {
            self.pc += 1;
            self.defers((pc as u16, op.n), After::Jump(target), slots);
        }
        Ok(Flow::Continue)
    }

    /// Executes one instruction that the interpreter's loop does not have, and which may if it
    /// polls: with nothing to be checked before it or done after it, and for no other
    /// reason than writes of index registers that are on their way. So most of what
    /// [`Self::attentive`] asks is known.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is all that its callers come to.
    pub(crate) fn direct<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> Flow {
        self.direct_or::<OBSERVED>(fabric)
            .unwrap_or_else(|flow| flow)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // It is the body of the loop around it.
    fn direct_or<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> Result<Flow, Flow> {
        let op = &self.lane().ops()[self.pc as usize];
        let (kind, x) = (op.kind, op.x);
        let taken = match kind {
            Kind::CsrRead => {
                self.csr_read::<OBSERVED>(x as u16, fabric)?;
                return Ok(Flow::Continue);
            }
            Kind::BrState | Kind::BrNoState => {
                let taken = self.input_state(x as u8, fabric) == (kind == Kind::BrState);
                if !taken {
                    self.took_a_cycle::<OBSERVED>(fabric);
                }
                taken
            }
            _ => return self.attentive_apart::<OBSERVED>(fabric),
        };
        if !taken {
            self.pc += 1;
            return Ok(Flow::Continue);
        }
        let op = self.lane().ops()[self.pc as usize];
        self.enter_checked(op.d, fabric)?;
        let slots = penalty(&op, self.cycle == self.line.arrived, self.line.with_codes);
        self.took_a_cycle::<OBSERVED>(fabric);
        if op.n == 0 {
            self.go::<OBSERVED>(op.d, slots, false, fabric);
        } else {
            self.pc += 1;
            self.defers((self.pc - 1, op.n), After::Jump(op.d), slots);
        }
        Ok(Flow::Continue)
    }

    #[inline(never)]
    fn attentive_apart<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> Result<Flow, Flow> {
        self.attentive_or::<OBSERVED>(fabric)
    }

    /// An instruction has executed: it took its cycle.
    #[inline]
    pub(crate) fn took_a_cycle<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        if OBSERVED {
            let issued = TraceEvent::Issued {
                me: self.index,
                context: self.datapath.context,
                pc: self.pc,
                count: 1,
            };
            fabric.journal.put(self.cycle, issued);
            if fabric.journal.wants(trace_event::Kind::LocalMemory) {
                self.tell_local_memory(fabric);
            }
        }
        self.cycle += 1;
    }

    /// An instruction has executed: it took its cycle, a local CSR's value was
    /// there for it alone, and a tested signal is consumed.
    #[inline]
    fn issued<const OBSERVED: bool>(&mut self, op: &Op, csr: bool, fabric: &mut Fabric) {
        self.took_a_cycle::<OBSERVED>(fabric);
        if matches!(op.kind, Kind::BrSignal | Kind::BrNoSignal) {
            self.contexts[self.datapath.context].signals &= !(op.x as u16);
        }
        if csr && op.kind != Kind::CsrRead {
            self.slow &= !slow::CSR;
        }
    }

    /// Tells of what the present instruction reads and writes in local memory; its
    /// pointers have not moved yet.
    #[cold]
    #[inline(never)]
    fn tell_local_memory(&self, fabric: &mut Fabric) {
        let side = self.program.sides[self.pc as usize];
        let reads = [
            Some(side.special_a),
            Some(side.special_b),
            side.merges.then_some(side.special_d),
        ];
        let reads = reads.into_iter().flatten().map(|special| (special, false));
        for (special, write) in reads.chain([(side.special_d, true)]) {
            let Some(word) = self.memory.place(special) else {
                continue;
            };
            let access = TraceEvent::LocalMemory {
                me: self.index,
                context: self.datapath.context,
                pc: self.pc,
                word: word as u16,
                write,
            };
            fabric.journal.put(self.cycle, access);
        }
    }

    /// To the next word, or to where the control instruction goes whose last
    /// defer slot this was.
    #[inline]
    fn advance<const OBSERVED: bool>(&mut self, op: &Op, fabric: &mut Fabric) -> Flow {
        self.pc += 1;
        if self.slow & slow::DEFER == 0 {
            return Flow::Continue;
        }
        self.defer_left -= 1;
        if self.defer_left != 0 {
            return Flow::Continue;
        }
        self.slow &= !slow::DEFER;
        // What is done with leaves nothing in the state: the interpreter's loop, where it runs all
        // slots itself, never writes it down.
        let deferred_by = std::mem::take(&mut self.deferred_by);
        match std::mem::replace(&mut self.after, After::Jump(0)) {
            After::Jump(target) => {
                let penalty = std::mem::take(&mut self.after_penalty);
                self.throw_away::<OBSERVED>(deferred_by, penalty, fabric);
                self.pc = target;
                self.line.arrived = self.cycle;
                self.line.with_codes = op.marks & Op::SETS_CODES != 0 && penalty == 0;
                Flow::Continue
            }
            After::Swap(resume) => {
                self.pc = resume.unwrap_or(self.pc);
                Flow::Swap
            }
        }
    }

    fn go<const OBSERVED: bool>(
        &mut self,
        target: u16,
        slots: Cycle,
        with_codes: bool,
        fabric: &mut Fabric,
    ) {
        self.throw_away::<OBSERVED>(self.pc, slots, fabric);
        self.pc = target;
        self.line.arrived = self.cycle;
        self.line.with_codes = with_codes;
    }

    /// Throws issue slots away from the present cycle on.
    fn throw_away<const OBSERVED: bool>(&mut self, pc: u16, slots: Cycle, fabric: &mut Fabric) {
        if slots == 0 {
            return;
        }
        self.thrown.add(self.cycle, slots);
        if OBSERVED {
            let aborted = TraceEvent::Aborted {
                me: self.index,
                context: self.datapath.context,
                pc,
                slots,
            };
            fabric.journal.put(self.cycle, aborted);
        }
        self.cycle += slots;
        self.stats.aborted += slots;
    }

    /// So many defer slots of an instruction at an address are to come.
    pub(crate) fn defers(&mut self, (by, slots): (u16, u8), after: After, penalty: Cycle) {
        self.deferred_by = by;
        self.slow |= slow::DEFER;
        self.defer_left = slots;
        self.after = after;
        self.after_penalty = penalty;
    }

    /// The present instruction is the one with which the context gives up the pipeline.
    #[inline]
    pub(crate) fn yielded(&mut self) {
        self.contexts[self.datapath.context].yielded_at = self.pc;
        self.pc += 1;
    }

    /// The context gives up the pipeline, after defer slots if there are any.
    #[inline]
    pub(crate) fn yields(&mut self, defer: u8, resume: Option<u16>) -> Flow {
        self.yielded();
        self.after_penalty = self.timing.swap.saturating_sub(Cycle::from(defer));
        if defer == 0 {
            self.pc = resume.unwrap_or(self.pc);
            return Flow::Swap;
        }
        self.defers(
            (self.pc - 1, defer),
            After::Swap(resume),
            self.after_penalty,
        );
        Flow::Continue
    }

    /// Lets the writes of index registers take effect that are due by a cycle.
    #[inline(never)]
    pub(crate) fn settle_until(&mut self, cycle: Cycle) {
        self.memory.settle(cycle, &mut self.datapath.byte_index);
        if !self.memory.has_pending() {
            self.slow &= !slow::PENDING;
        }
    }

    /// Lets all writes of index registers take effect.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle_all(&mut self) {
        self.memory.settle_all(&mut self.datapath.byte_index);
        self.slow &= !slow::PENDING;
    }

    /// An operation of the datapath with what the interpreter's loop never sees.
    #[inline]
    fn pure(&mut self, mut op: Op, pc: usize, csr: bool) -> Next {
        match op.kind {
            Kind::LdField | Kind::LdFieldCc | Kind::CamLookup => self.complete(&mut op, pc),
            Kind::Immed if csr => op.x = self.csr_value,
            _ => {}
        }
        let codes = self.datapath.codes;
        let next = self.datapath.step(&op);
        if self.slow & slow::CODES_OFF != 0 {
            self.datapath.codes = codes;
        }
        next
    }

    /// Puts into an operation what is known only now: an indirect shift count. Or
    /// writes the pointer that a lookup loads.
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
                // The lookup of the operation itself gives the same: a hit that
                // is hit again stays the most recent.
                let found = self.datapath.cam.lookup(tag);
                let words = (u32::from(block) << 10 | found & 0x3ff) >> 2;
                self.index_write(Index::Pointer(pointer & 1), words, self.timing.lm_addr_gap);
            }
            _ => {}
        }
    }

    /// A delayed write of an index register.
    pub(crate) fn index_write(&mut self, index: Index, value: u32, gap: Cycle) {
        self.memory.write(index, value, self.cycle, gap);
        self.slow |= slow::PENDING;
    }

    /// Checks operands and fetches those that are no plain registers.
    #[inline(never)]
    fn prepare(&mut self, pc: usize, op: &Op, fabric: &mut Fabric) -> Result<(), Flow> {
        let side = self.program.sides[pc];
        let mut clean = true;
        let [a, b] = side.reads;
        let old = if side.old == Old::Written {
            side.dest
        } else {
            Operand::None
        };
        for (operand, slot) in [(a, op.a), (b, op.b), (old, op.a)] {
            let transfer = matches!(operand, Operand::STransfer(_) | Operand::DTransfer(_));
            if !transfer && operand.bank().is_none() {
                continue;
            }
            let slot = usize::from(slot);
            if transfer {
                self.check_owner(slot, fabric)?;
            }
            if !self.initialised.has(slot) {
                clean = false;
                self.uninitialised(slot, fabric)?;
            }
        }
        match side.old {
            Old::Merged => self.check_owner(usize::from(op.a), fabric)?,
            // That a unit owns it is no mistake, but it is read as of the present.
            Old::Left if self.claims.owns(op.a) && !self.may_look(fabric) => {
                return Err(Flow::Post);
            }
            Old::Nothing | Old::Written | Old::Left => {}
        }
        // Those of registers have none.
        if side.local {
            let a = self.fetch(side.special_a, fabric)?;
            let b = self.fetch(side.special_b, fabric)?;
            let d = self.check_destination(&side, fabric)?;
            let file = &mut self.datapath.file;
            for (slot, value) in [(TEMP_A, a), (TEMP_B, b), (TEMP_D, d)] {
                if let Some(value) = value {
                    file[slot as usize] = value;
                }
            }
        }
        if side.dest != Operand::None && side.special_d == Special::None {
            let slot = usize::from(op.d);
            if matches!(side.dest, Operand::STransfer(_) | Operand::DTransfer(_)) {
                self.check_owner(slot, fabric)?;
            }
            self.initialised.mark(slot);
        }
        if clean && (side.guarded || side.ring || !side.always) {
            self.lanes[self.datapath.context as usize & 7].relieve(pc);
        }
        Ok(())
    }

    /// An operation whose special operands are all in local memory, in the interpreter's
    /// loop: nothing is pending and its registers are known to be initialised.
    /// `None` when an address has no word.
    #[inline]
    pub(crate) fn local_step(
        datapath: &mut Datapath,
        memory: &mut LocalMemory,
        op: &Op,
        side: &Side,
    ) -> Option<()> {
        // Which operands these are shows in the slots, where their values are put.
        if op.a == TEMP_A {
            datapath.put(TEMP_A, memory.word(side.special_a)?);
        }
        if op.b == TEMP_B {
            datapath.put(TEMP_B, memory.word(side.special_b)?);
        }
        if op.d == TEMP_D {
            datapath.put(TEMP_D, memory.word(side.special_d)?);
        }
        datapath.operate_apart(op);
        if op.d == TEMP_D {
            memory.set_word(side.special_d, datapath.get(TEMP_D));
        }
        if side.steps {
            memory.step([side.special_a, side.special_b, side.special_d]);
        }
        Some(())
    }

    /// The value of a special source.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a few instructions for most operands.
    fn fetch(&mut self, special: Special, fabric: &mut Fabric) -> Result<Option<u32>, Flow> {
        Ok(match special {
            Special::None | Special::Neighbour { .. } => None,
            Special::Local { .. } | Special::LocalStep { .. } => {
                let address = self.local_address(special, fabric)?;
                Some(self.memory.words[address])
            }
            Special::Indexed { file, .. } => {
                let slot = self.indexed(file);
                if file < S_OUT {
                    self.check_owner(slot, fabric)?;
                    if !self.initialised.has(slot) {
                        self.uninitialised(slot, fabric)?;
                    }
                }
                Some(self.datapath.file[slot])
            }
            Special::Ring { .. } => Some(self.ring_head(fabric)),
        })
    }

    /// Checks a special destination; gives its old value where it is merged.
    fn check_destination(&mut self, side: &Side, fabric: &mut Fabric) -> Result<Option<u32>, Flow> {
        match side.special_d {
            Special::Local { .. } | Special::LocalStep { .. } => {
                let address = self.local_address(side.special_d, fabric)?;
                Ok(side.merges.then(|| self.memory.words[address]))
            }
            Special::Indexed { file, step } => {
                self.check_owner(self.indexed(file), fabric)?;
                if !side.merges {
                    return Ok(None);
                }
                let incoming = if file == S_OUT { S_IN } else { D_IN };
                debug_assert!(
                    file == S_OUT || file == D_OUT,
                    "destinations are OUT registers"
                );
                self.fetch(
                    Special::Indexed {
                        file: incoming,
                        step,
                    },
                    fabric,
                )
            }
            _ => Ok(None),
        }
    }

    fn indexed(&self, file: u16) -> usize {
        file as usize + (self.memory.transfer_index & 127) as usize
    }

    /// The local memory word of an operand.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a few instructions.
    fn local_address(&mut self, special: Special, fabric: &mut Fabric) -> Result<usize, Flow> {
        let (pointer, offset) = match special {
            Special::Local { pointer, offset } => (pointer, offset),
            Special::LocalStep { pointer, .. } => (pointer, 0),
            _ => (0, 0),
        };
        if let Some(written) = self.memory.early(pointer) {
            self.local_memory_early(pointer, written, fabric)?;
        }
        let address = (self.memory.pointers[pointer as usize] | u32::from(offset)) as usize & 1023;
        if address >= self.memory.words.len() {
            return Err(self.local_memory_missing(pointer, address, fabric));
        }
        Ok(address)
    }

    /// Stores a special destination and moves indices, each once.
    #[inline]
    fn finish(&mut self, pc: usize, op: &Op, fabric: &mut Fabric) {
        if op.marks & Op::FINISHES != 0 {
            self.finish_specials(pc, fabric);
        }
    }

    /// Rare, and kept apart so that the test before it stays in line.
    #[inline(never)]
    pub(crate) fn finish_specials(&mut self, pc: usize, fabric: &mut Fabric) {
        let side = &self.program.sides[pc];
        let [a, b, d] = [side.special_a, side.special_b, side.special_d];
        let value = self.datapath.file[TEMP_D as usize];
        match d {
            Special::None => {}
            Special::Local { .. } | Special::LocalStep { .. } => self.memory.set_word(d, value),
            Special::Indexed { file, .. } => {
                let slot = self.indexed(file);
                self.datapath.file[slot] = value;
                self.initialised.mark(slot);
            }
            Special::Ring { .. } => self.ring_put(value, fabric),
            Special::Neighbour { register } => self.neighbour_write(register, value, fabric),
        }
        if [a, b, d].into_iter().any(Special::moves_an_index) {
            self.move_indices([a, b, d]);
        }
        if [a, b].contains(&Special::Ring { take: true }) {
            self.ring_take(fabric);
        }
    }

    /// Moves the indices that operands of one instruction step, each once.
    fn move_indices(&mut self, specials: [Special; 3]) {
        self.memory.step(specials);
        let step = specials
            .into_iter()
            .rev()
            .find_map(|special| match special {
                Special::Indexed { step, .. } if step != 0 => Some(step),
                _ => None,
            });
        if let Some(step) = step {
            let index = &mut self.memory.transfer_index;
            *index = index.wrapping_add_signed(i32::from(step)) & 127;
        }
    }
}
