//! The effects of an instruction, and its successor.

use npsim_chip::Cycle;
use npsim_chip::kernel::fabric::Fabric;
use npsim_isa::{Condition, CtxArb, InputState, Instruction};

use crate::{Reference, Stop};

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlOutcome {
    /// To the next word.
    Next,
    /// To a target, after defer slots and then lost slots.
    Jump {
        target: u16,
        defer: u8,
        penalty: Cycle,
    },
    /// To another context, after defer slots.
    Yield { defer: u8, resume: Option<u16> },
    /// Nowhere, at a breakpoint.
    Halt,
}

/// A branch with its condition evaluated.
struct Branch {
    taken: bool,
    target: u16,
    defer: u8,
    /// Slots lost if nothing is deferred.
    cost: Cycle,
}

impl Reference {
    /// Executes an instruction. Anything that can prevent execution comes before the first effect,
    /// so that the instruction can be retried.
    pub(crate) fn perform(
        &mut self,
        instruction: &Instruction,
        fabric: &mut Fabric,
    ) -> Result<ControlOutcome, Stop> {
        let outcome = match *instruction {
            Instruction::Branch { .. }
            | Instruction::BranchCtx { .. }
            | Instruction::BranchBit { .. }
            | Instruction::BranchByte { .. }
            | Instruction::BranchSignal { .. }
            | Instruction::BranchInputState { .. }
            | Instruction::Jump { .. } => self.branch(instruction, fabric)?,
            Instruction::CtxArb(arb) => self.ctx_arb(&arb, fabric)?,
            Instruction::Command(command) => self.memory_command(&command, fabric)?,
            Instruction::CapFastWrite { csr, data, .. } => {
                self.cap_fast_write(csr, data.into(), fabric)?
            }
            Instruction::CapCsr(access) => self.cap_csr(&access, fabric)?,
            Instruction::LocalCsrRead { csr } => {
                // The value is available to the next instruction, even if time passes between this
                // one and the end of its own read.
                self.state.csr_value = Some(self.read_csr(csr, fabric)?);
                return Ok(ControlOutcome::Next);
            }
            Instruction::LocalCsrWrite { csr, src } => {
                let value = self.read(src, fabric)?;
                self.write_csr(csr, value, fabric)?;
                ControlOutcome::Next
            }
            _ => {
                self.operate(instruction, fabric)?;
                ControlOutcome::Next
            }
        };
        self.state.csr_value = None;
        Ok(outcome)
    }

    fn branch(
        &mut self,
        instruction: &Instruction,
        fabric: &mut Fabric,
    ) -> Result<ControlOutcome, Stop> {
        let profile = &fabric.profile;
        let branch = match *instruction {
            Instruction::Branch {
                condition,
                target,
                defer,
            } => Branch {
                taken: self.holds(condition),
                target,
                defer,
                cost: Cycle::from(if condition == Condition::Always {
                    profile.branch_penalty()
                } else if self.state.codes_are_new {
                    profile.conditional_branch_penalty()
                } else {
                    profile.settled_branch_penalty()
                }),
            },
            Instruction::BranchCtx {
                equal,
                context,
                target,
                defer,
            } => Branch {
                taken: (self.state.running == context) == equal,
                target,
                defer,
                cost: Cycle::from(profile.state_branch_penalty()),
            },
            Instruction::BranchBit {
                set,
                src,
                bit,
                target,
                defer,
            } => {
                let cost = Cycle::from(profile.bit_branch_penalty());
                let found = self.read(src, fabric)? >> (bit & 31) & 1 == 1;
                Branch {
                    taken: found == set,
                    target,
                    defer,
                    cost,
                }
            }
            Instruction::BranchByte {
                equal,
                src,
                byte,
                value,
                target,
                defer,
            } => {
                let cost = Cycle::from(profile.bit_branch_penalty());
                let found = self.read(src, fabric)?.to_le_bytes()[usize::from(byte & 3)];
                Branch {
                    taken: (found == value) == equal,
                    target,
                    defer,
                    cost,
                }
            }
            Instruction::BranchSignal {
                set,
                signal,
                target,
                defer,
            } => {
                let cost = Cycle::from(profile.state_branch_penalty());
                let context = self.state.context();
                let arrived = context.signals >> (signal & 15) & 1 == 1;
                // The test consumes the signal, whether the branch is taken or not.
                context.signals &= !(1 << (signal & 15));
                Branch {
                    taken: arrived == set,
                    target,
                    defer,
                    cost,
                }
            }
            Instruction::BranchInputState {
                set,
                state,
                target,
                defer,
            } => Branch {
                taken: self.input_state(state, fabric) == set,
                target,
                defer,
                cost: Cycle::from(profile.state_branch_penalty()),
            },
            Instruction::Jump { src, base, defer } => {
                let cost = Cycle::from(profile.jump_penalty());
                let target = self.read(src, fabric)?.wrapping_add(base.into());
                Branch {
                    taken: true,
                    target: target.min(u16::MAX.into()) as u16,
                    defer,
                    cost,
                }
            }
            _ => return Ok(ControlOutcome::Next),
        };
        if !branch.taken {
            return Ok(ControlOutcome::Next);
        }
        let target = self.in_program(branch.target);
        self.check_not_in_slot(fabric)?;
        self.check_target(target, fabric)?;
        Ok(ControlOutcome::Jump {
            target,
            defer: branch.defer,
            penalty: branch.cost.saturating_sub(Cycle::from(branch.defer)),
        })
    }

    /// Returns the address, limited to the first one past the program.
    fn in_program(&self, target: u16) -> u16 {
        usize::from(target).min(self.program.words().len()) as u16
    }

    fn holds(&self, condition: Condition) -> bool {
        let [n, z, v, c] = self.state.codes;
        match condition {
            Condition::Always => true,
            Condition::Eq => z,
            Condition::Ne => !z,
            Condition::Mi => n,
            Condition::Pl => !n,
            Condition::Cs => c,
            Condition::Cc => !c,
            Condition::Vs => v,
            Condition::Vc => !v,
            Condition::Ge => n == v,
            Condition::Lt => n != v,
            Condition::Le => z || n != v,
            Condition::Gt => !z && n == v,
        }
    }

    fn input_state(&self, state: InputState, fabric: &Fabric) -> bool {
        match state.number() {
            0 => self.ring_is_empty(fabric),
            1 => self.neighbours_ring_is_full(fabric),
            number @ 2..=13 => fabric.ring_status(number - 2, self.state.cycle),
            // No switch fabric is attached, so its flow-control FIFO stays empty.
            _ => false,
        }
    }

    fn ctx_arb(&mut self, arb: &CtxArb, fabric: &mut Fabric) -> Result<ControlOutcome, Stop> {
        self.check_not_in_slot(fabric)?;
        if arb.breakpoint {
            return Ok(ControlOutcome::Halt);
        }
        let resume = arb.resume.map(|target| self.in_program(target));
        if let Some(target) = resume {
            self.check_target(target, fabric)?;
        }
        if !arb.keep_mask {
            self.waits_for(arb.mask, arb.any);
        }
        Ok(ControlOutcome::Yield {
            defer: arb.defer,
            resume,
        })
    }

    /// Sets the running context's wake-up mask.
    pub(crate) fn waits_for(&mut self, mask: u16, any: bool) {
        let context = self.state.context();
        context.wakeup = mask;
        context.any = any;
    }
}
