//! Instructions that leave the datapath: signals, input states, context swaps, local CSRs and
//! commands.

use npsim_isa::{CtxArb, Instruction};

use crate::microengine::{LoopExit, Microengine, slow};
use crate::operation::Op;
use crate::uop::UopKind;
use npsim_chip::kernel::fabric::Fabric;

/// The outcome of an instruction outside the datapath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowOutcome {
    /// The next word follows.
    Sequential,
    /// Control continues at the operation's target.
    Taken,
    /// The context yields the pipeline after its defer slots.
    Swap { defer: u8, resume: Option<u16> },
    /// A breakpoint.
    Halt,
}

impl Microengine {
    /// Executes an operation that is not part of the datapath.
    #[inline(always)]
    pub(crate) fn outside(
        &mut self,
        op: &Op,
        fabric: &mut Fabric,
    ) -> Result<SlowOutcome, LoopExit> {
        let taken = |condition: bool| {
            if condition {
                SlowOutcome::Taken
            } else {
                SlowOutcome::Sequential
            }
        };
        match op.kind {
            // The test consumes the signal when the branch is issued.
            UopKind::BrSignal | UopKind::BrNoSignal => {
                let context = &self.contexts[self.datapath.context];
                let arrived = u32::from(context.signals) & op.x != 0;
                Ok(taken(arrived == (op.kind == UopKind::BrSignal)))
            }
            UopKind::BrState | UopKind::BrNoState => {
                let state = self.input_state(op.x as u8, fabric);
                Ok(taken(state == (op.kind == UopKind::BrState)))
            }
            UopKind::Arb => {
                self.refuse_in_slot(fabric)?;
                if op.x & Op::KEEP_MASK == 0 {
                    self.waits_for(op.x as u16, op.x & Op::ANY != 0);
                }
                let (defer, resume) = (op.n, None);
                Ok(SlowOutcome::Swap { defer, resume })
            }
            UopKind::CsrRead => {
                self.csr_value = self.read_csr(op.x as u16, fabric)?;
                self.slow |= slow::CSR;
                Ok(SlowOutcome::Sequential)
            }
            UopKind::CsrWrite => {
                let value = self.datapath.get(op.a);
                self.write_csr(op.x as u16, value, fabric)?;
                Ok(SlowOutcome::Sequential)
            }
            UopKind::Command => {
                let swap = self.template_command(op.x, self.address(op), fabric)?;
                Ok(
                    swap.map_or(SlowOutcome::Sequential, |swap| SlowOutcome::Swap {
                        defer: swap.slots(),
                        resume: None,
                    }),
                )
            }
            _ => self.rarely_outside(fabric),
        }
    }

    /// The address of a command.
    pub(crate) fn address(&self, op: &Op) -> u32 {
        let (a, b) = (self.datapath.get(op.a), self.datapath.get(op.b));
        a.wrapping_add(b)
    }

    /// [`Self::outside`] for instructions without their own operation kind.
    #[inline(never)]
    fn rarely_outside(&mut self, fabric: &mut Fabric) -> Result<SlowOutcome, LoopExit> {
        let Some(instruction) = self.program.instruction(self.pc) else {
            return Err(self.no_instruction(fabric));
        };
        match *instruction {
            Instruction::CtxArb(arb) => self.ctx_arb(&arb, fabric),
            Instruction::CapFastWrite { csr, data, .. } => {
                self.cap_fast_write(csr, u32::from(data), fabric)
            }
            Instruction::CapCsr(access) => self.cap_csr(&access, fabric),
            _ => Ok(SlowOutcome::Sequential),
        }
    }

    #[inline(never)]
    pub(crate) fn input_state(&self, number: u8, fabric: &Fabric) -> bool {
        match number {
            0 => self.ring_is_empty(fabric),
            1 => self.ring_is_full(fabric),
            number @ 2..=13 => fabric.ring_status(number - 2, self.cycle),
            // No switch fabric is attached: its flow-control FIFO stays empty.
            _ => false,
        }
    }

    fn ctx_arb(&mut self, arb: &CtxArb, fabric: &mut Fabric) -> Result<SlowOutcome, LoopExit> {
        self.refuse_in_slot(fabric)?;
        if arb.breakpoint {
            return Ok(SlowOutcome::Halt);
        }
        if let Some(target) = arb.resume {
            self.enter_checked(target, fabric)?;
        }
        if !arb.keep_mask {
            self.waits_for(arb.mask, arb.any);
        }
        let end = self.program.end();
        Ok(SlowOutcome::Swap {
            defer: arb.defer,
            resume: arb.resume.map(|target| target.min(end)),
        })
    }

    /// Loads the running context's wake-up mask.
    pub(crate) fn waits_for(&mut self, mask: u16, any: bool) {
        let context = &mut self.contexts[self.datapath.context];
        context.wakeup = mask;
        context.any = any;
    }
}
