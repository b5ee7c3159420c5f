//! The attentive path: one instruction with all its checks, its operands that
//! are no plain registers, and whatever else keeps it from the tight loop.

use npsim_isa::{CamLmTarget, Instruction, Operand, Shift};

use super::datapath::Next;
use super::local_memory::Index;
use super::operation::{Kind, Op, Side, Special};
use super::outside::Outcome;
use super::program::Word;
use super::registers::{S_IN, S_OUT, TEMP_A, TEMP_B, TEMP_D, byte_mask, destination_slot, resolve, source_slot};
use super::{After, Check, Flow, Microengine, penalty, slow};
use crate::Cycle;
use crate::fabric::Fabric;
use crate::probe::Probe;

impl Microengine {
    /// Executes one instruction.
    pub(super) fn attentive<P: Probe>(&mut self, fabric: &mut Fabric, probe: &mut P) -> Flow {
        self.attentive_or(fabric, probe).unwrap_or_else(|flow| flow)
    }

    fn attentive_or<P: Probe>(&mut self, fabric: &mut Fabric, probe: &mut P) -> Result<Flow, Flow> {
        let pc = self.pc as usize;
        if self.slow & slow::PENDING != 0 {
            self.memory.settle(self.cycle, &mut self.datapath.byte_index);
            if !self.memory.has_pending() {
                self.slow &= !slow::PENDING;
            }
        }
        let (Some(&op), Some(&side)) = (self.program.ops.get(pc), self.program.sides.get(pc)) else {
            return Err(self.no_instruction(fabric));
        };
        if side.looks && !self.may_look(fabric) {
            return Err(Flow::Post(self.cycle));
        }
        if op.attention & 1 << self.datapath.context != 0 {
            self.prepare(pc, &side, fabric)?;
        }
        let next = if op.kind == Kind::Outside {
            match self.outside(&op, fabric, probe)? {
                Outcome::Next(next) => next,
                Outcome::Swap { defer, resume } => {
                    self.refuse_in_slot(fabric)?;
                    self.issued(probe);
                    self.finish(&side, fabric);
                    return Ok(self.yields(defer, resume));
                }
                Outcome::Halt => {
                    self.issued(probe);
                    return Ok(Flow::Halt);
                }
            }
        } else {
            self.pure(&op, pc)
        };
        let target = match next {
            Next::Sequential | Next::Outside => None,
            Next::Taken => Some(op.d),
            Next::Jump(to) => Some(to.min(self.program.words.len() as u32 - 1) as u16),
        };
        let Some(target) = target else {
            if op.kind != Kind::Outside || self.csr_fresh(pc) {
                // The value of a local CSR is there for one instruction only.
            }
            self.issued(probe);
            self.finish(&side, fabric);
            return Ok(self.advance(&side));
        };
        self.refuse_in_slot(fabric)?;
        self.enter_checked(target, fabric)?;
        let slots = Cycle::from(penalty(&op, self.cycle == self.arrived, self.arrived_with_codes));
        self.issued(probe);
        self.finish(&side, fabric);
        self.slow &= !slow::CSR;
        let slots = slots.saturating_sub(Cycle::from(op.n));
        if op.n == 0 {
            if P::ON {
                probe.aborted(self.index, self.datapath.context, pc as u16, self.cycle, slots);
            }
            self.go(target, slots, false);
        } else {
            self.pc += 1;
            self.slow |= slow::DEFER;
            self.defer_left = op.n;
            self.after = After::Jump(target);
            self.after_penalty = slots;
        }
        Ok(Flow::Continue)
    }
}
