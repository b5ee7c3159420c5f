//! Execution of synchronisation points: instructions that read what others write, or order
//! themselves among them. Each executes at a cycle at which the chip's state is final. If the loop
//! reaches one too early, it keeps the point with its operands, and the turn posted for that cycle
//! begins with it.

use npsim_chip::kernel::check::WATCHDOG_CYCLES;
use npsim_chip::kernel::fabric::Fabric;

use crate::microengine::{LoopExit, Microengine, slow};
use crate::operation::Op;
use crate::pending_sync::{SyncOp, SyncPoint};
use crate::registers::{TEMP_A, TEMP_B};

impl Microengine {
    /// Whether the present instruction, a synchronisation point, may execute. If so, index writes
    /// due in its cycle take effect.
    #[inline(always)]
    pub(crate) fn at_sync_point(&mut self, fabric: &mut Fabric) -> bool {
        if !self.is_globally_ordered(self.cycle, fabric) {
            return false;
        }
        self.watchdog_at = self.cycle + WATCHDOG_CYCLES;
        if self.slow != 0 {
            self.commit_index_writes(self.cycle);
        }
        true
    }

    /// Executes a synchronisation point. Returns true if the next word follows and the loop's
    /// condition still holds.
    #[inline(always)]
    pub(crate) fn synchronise<const OBSERVED: bool>(
        &mut self,
        point: SyncPoint,
        fabric: &mut Fabric,
    ) -> Result<bool, LoopExit> {
        let defer = match point.does {
            SyncOp::Command => {
                let swap = self.template_command(point.what, point.with, fabric)?;
                self.retire::<OBSERVED>(fabric);
                let Some(swap) = swap else {
                    self.pc += 1;
                    return Ok(true);
                };
                swap.slots()
            }
            SyncOp::Yield => {
                if point.what & Op::KEEP_MASK == 0 {
                    self.waits_for(point.what as u16, point.what & Op::ANY != 0);
                }
                self.retire::<OBSERVED>(fabric);
                point.with as u8
            }
            SyncOp::CsrWrite => {
                self.csr_written::<OBSERVED>(point.what as u16, point.with, fabric)?;
                return Ok(false);
            }
            SyncOp::Ring => {
                self.ring_step::<OBSERVED>(fabric);
                return Ok(false);
            }
            SyncOp::Other => {
                return match self.step_unchecked::<OBSERVED>(fabric) {
                    LoopExit::Continue => Ok(false),
                    other => Err(other),
                };
            }
        };
        if defer != 0 {
            self.yields(defer, None);
            return Ok(false);
        }
        self.yielded();
        if !self.swap_for::<OBSERVED>(self.timing.swap, fabric) {
            return Err(LoopExit::Over);
        }
        Ok(false)
    }

    /// Executes the present instruction, which has operands on next-neighbour rings and whose
    /// registers are known to be initialised.
    #[inline(never)]
    fn ring_step<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        let at = usize::from(self.pc);
        let op = self.bound_program().ops()[at];
        // The slow path specifies the values left in the temporaries.
        for (slot, place) in [(op.a, TEMP_A), (op.b, TEMP_B)] {
            if slot == place {
                let head = self.ring_head(fabric);
                self.datapath.put(place, head);
            }
        }
        self.datapath.execute_outlined(&op);
        self.retire::<OBSERVED>(fabric);
        self.finish_specials(at, fabric);
        self.pc += 1;
    }

    /// Completes the present instruction, which writes a local CSR.
    #[inline]
    pub(crate) fn csr_written<const OBSERVED: bool>(
        &mut self,
        csr: u16,
        value: u32,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        self.write_csr(csr, value, fabric)?;
        self.retire::<OBSERVED>(fabric);
        self.pc += 1;
        Ok(())
    }

    /// Completes the present instruction, which reads a local CSR: the next word, an `immed`,
    /// receives its value. If the `immed` does nothing else, it executes at once.
    #[inline(never)]
    pub(crate) fn csr_read<const OBSERVED: bool>(
        &mut self,
        csr: u16,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        self.csr_value = self.read_csr(csr, fabric)?;
        self.retire::<OBSERVED>(fabric);
        self.pc += 1;
        let next = self
            .bound_program()
            .ops()
            .get(usize::from(self.pc))
            .copied();
        match next.filter(Op::only_loads) {
            Some(op) if self.slow == 0 && self.cycle < self.run_until => {
                self.datapath.plain(&op, 0, self.csr_value);
                self.retire::<OBSERVED>(fabric);
                self.pc += 1;
            }
            _ => self.slow |= slow::CSR,
        }
        Ok(())
    }
}
