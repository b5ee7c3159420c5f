//! The microengine's state as a debugger sees it.

use npsim_image::TransferDirection;
use npsim_isa::{Context, Operand};

use crate::microengine::{DeferredTransfer, Microengine, slow};
use crate::registers::NN;
use npsim_chip::Cycle;
use npsim_chip::core::{CoreProbe, DeferSlots, IndexWrite, TransferOwner};
use npsim_chip::kernel::fabric::Fabric;

impl Microengine {
    /// The slot of the register file, for a side of a transfer register.
    fn slot_on(&self, register: Operand, info: TransferDirection, context: u8) -> Option<usize> {
        let transfer = matches!(register, Operand::STransfer(_) | Operand::DTransfer(_));
        let incoming = !(transfer && info == TransferDirection::Write);
        self.slot_of(register, Context::wrapping(context), incoming)
    }
}

impl CoreProbe for Microengine {
    fn number(&self, register: Operand, context: u8) -> Option<u8> {
        let slot = self.slot_on(register, TransferDirection::Read, context)?;
        Some((slot % 128) as u8)
    }

    fn initialised(&self, register: Operand, info: TransferDirection, context: u8) -> bool {
        let slot = self.slot_on(register, info, context);
        slot.is_some_and(|slot| self.initialised.has(slot))
    }

    fn owner(
        &self,
        register: Operand,
        info: TransferDirection,
        context: u8,
    ) -> Option<TransferOwner> {
        let slot = self.slot_on(register, info, context)?;
        let reservation = (slot < usize::from(NN)).then(|| self.scoreboard.of(slot))??;
        Some(reservation.owner())
    }

    fn pointers(&self, context: u8) -> [u32; 2] {
        let context = Context::wrapping(context);
        [self.pointer(0, context), self.pointer(1, context)]
    }

    fn transfer_index(&self) -> u8 {
        (self.memory.transfer_index % 128) as u8
    }

    fn index_writes(&self) -> Vec<IndexWrite> {
        self.memory.pending_writes().collect()
    }

    fn local_csr(&self, csr: u16, context: u8, now: Cycle, fabric: &Fabric) -> Option<u32> {
        self.csr_at(csr, Context::wrapping(context), now, fabric)
    }

    fn timer(&self, context: u8) -> Option<(u8, Cycle)> {
        let it = &self.contexts[Context::wrapping(context)];
        it.timer_due.map(|due| (it.future_signal & 15, due))
    }

    fn last(&self) -> u8 {
        self.last.number()
    }

    fn defer_slots(&self) -> Option<DeferSlots> {
        if self.slow & slow::DEFER == 0 {
            return None;
        }
        let (then, swaps) = match self.after {
            DeferredTransfer::Jump(to) => (Some(to), false),
            DeferredTransfer::Swap(to) => (to, true),
        };
        Some(DeferSlots {
            of: self.deferred_by,
            left: self.defer_left,
            then,
            swaps,
        })
    }
}
