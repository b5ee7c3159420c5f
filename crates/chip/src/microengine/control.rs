//! Instructions that leave the datapath: signals, input states, context swaps,
//! local CSRs and commands.

use npsim_isa::{CtxArb, InputState, Instruction};

use super::datapath::Next;
use super::operation::Op;
use super::program::Word;
use super::{Flow, Microengine};
use crate::kernel::fabric::Fabric;

/// What an instruction outside the datapath leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Next(Next),
    /// The context gives up the pipeline after its defer slots.
    Swap {
        defer: u8,
        resume: Option<u16>,
    },
    /// A breakpoint.
    Halt,
}

impl Microengine {
    pub(super) fn outside(&mut self, op: &Op, fabric: &mut Fabric) -> Result<Outcome, Flow> {
        // Each arm copies what it needs: a whole instruction is large.
        let Word::Instruction(instruction) = &self.program.words[self.pc as usize] else {
            return Err(self.no_instruction(fabric));
        };
        let taken = |condition: bool| {
            Outcome::Next(if condition {
                Next::Taken
            } else {
                Next::Sequential
            })
        };
        match *instruction {
            Instruction::BranchSignal { set, signal, .. } => {
                let context = &self.contexts[self.datapath.context as usize];
                // The test consumes the signal when the branch is issued.
                let arrived = context.signals & 1 << signal != 0;
                Ok(taken(arrived == set))
            }
            Instruction::BranchInputState { set, state, .. } => {
                Ok(taken(self.input_state(state, fabric) == set))
            }
            Instruction::CtxArb(arb) => self.ctx_arb(&arb, fabric),
            Instruction::LocalCsrRead { csr } => {
                self.csr_value = self.read_csr(csr, fabric)?;
                self.slow |= super::slow::CSR;
                Ok(Outcome::Next(Next::Sequential))
            }
            Instruction::LocalCsrWrite { csr, .. } => {
                let value = self.datapath.get(op.a);
                self.write_csr(csr, value, fabric)?;
                Ok(Outcome::Next(Next::Sequential))
            }
            Instruction::Command(command) => {
                let address = self
                    .datapath
                    .get(op.a)
                    .wrapping_add(self.datapath.get(op.b));
                self.memory_command(&command, address, fabric)
            }
            Instruction::CapFastWrite { csr, data } => {
                self.cap_fast_write(csr, u32::from(data), fabric)
            }
            Instruction::CapCsr(access) => self.cap_csr(&access, fabric),
            _ => Ok(Outcome::Next(Next::Sequential)),
        }
    }

    fn input_state(&self, state: InputState, fabric: &Fabric) -> bool {
        match state.number() {
            0 => self.ring_is_empty(fabric),
            1 => self.ring_is_full(fabric),
            number @ 2..=13 => fabric.ring_status(number - 2, self.cycle),
            // No switch fabric is attached: its flow-control FIFO stays empty.
            _ => false,
        }
    }

    fn ctx_arb(&mut self, arb: &CtxArb, fabric: &mut Fabric) -> Result<Outcome, Flow> {
        self.refuse_in_slot(fabric)?;
        if arb.breakpoint {
            return Ok(Outcome::Halt);
        }
        if let Some(target) = arb.resume {
            self.enter_checked(target, fabric)?;
        }
        if !arb.keep_mask {
            self.waits_for(arb.mask, arb.any);
        }
        let end = self.program.words.len() as u16 - 1;
        Ok(Outcome::Swap {
            defer: arb.defer,
            resume: arb.resume.map(|target| target.min(end)),
        })
    }

    /// Loads the running context's wake-up mask.
    pub(super) fn waits_for(&mut self, mask: u16, any: bool) {
        let context = &mut self.contexts[self.datapath.context as usize];
        context.wakeup = mask;
        context.any = any;
    }
}
