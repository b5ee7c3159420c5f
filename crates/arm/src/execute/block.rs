//! LDM and STM.

use super::Outcome;
use crate::bus::{Bus, Size};
use crate::cpu::Cpu;
use crate::exception::Unpredictable;
use crate::instruction::Block;
use crate::status::{Mode, T};
use crate::system::ALIGNMENT;

/// Returns the numbers of the registers in a list, ascending.
fn registers(list: u16) -> impl Iterator<Item = u8> {
    let mut left = list;
    std::iter::from_fn(move || {
        let n = left.trailing_zeros() as u8;
        left &= left.wrapping_sub(1);
        (n < 16).then_some(n)
    })
}

impl Cpu {
    /// Returns the lowest address of a block, and the new base.
    #[inline(always)]
    fn extent(&self, block: &Block) -> (u32, u32) {
        let base = self.registers.get(block.rn);
        let bytes = block.list.count_ones() * 4;
        if block.increment {
            let lowest = base.wrapping_add(if block.before { 4 } else { 0 });
            (lowest, base.wrapping_add(bytes))
        } else {
            let below = base.wrapping_sub(bytes);
            (below.wrapping_add(if block.before { 0 } else { 4 }), below)
        }
    }

    /// Spends the time of a block transfer, except for the cost of the bus.
    #[inline(always)]
    fn spend_block(&mut self, block: &Block) {
        self.spend((u32::from(self.timing.block) + block.list.count_ones()).saturating_sub(1));
    }

    fn block_outcome(&mut self, lowest: u32) -> Outcome {
        if lowest & 3 == 0 {
            Outcome::Access
        } else {
            self.note(Unpredictable::UnalignedBlock)
        }
    }

    #[inline(never)]
    pub(super) fn load_block<B: Bus>(
        &mut self,
        bus: &mut B,
        block: &Block,
    ) -> Result<Outcome, B::Refusal> {
        let (lowest, base) = self.extent(block);
        if lowest & 3 != 0 && self.system.control & ALIGNMENT != 0 {
            return Ok(self.alignment_fault(lowest));
        }
        let first = self.system.translate(lowest & !3);
        bus.begin_block(first, block.list.count_ones())?;
        let mut values = [0; 16];
        let mut address = first;
        let mut cost = 0;
        for n in registers(block.list) {
            let (value, more) = bus.read(address, Size::Word)?;
            values[n as usize & 15] = value;
            cost += more;
            address = address.wrapping_add(4);
        }
        self.spend(cost);
        self.spend_block(block);
        if block.writeback {
            self.registers.set(block.rn, base);
        }
        let jumps = block.list >> 15 != 0;
        let user = block.caret && !jumps;
        for n in registers(block.list & 0x7fff) {
            let value = values[n as usize & 15];
            if user {
                self.registers.set_banked(Mode::User, n as usize, value);
            } else {
                self.registers.set(n, value);
            }
        }
        if jumps {
            let count = block.list.count_ones();
            let whole = u32::from(self.timing.block_jump) + count.saturating_sub(3);
            self.spend(whole.saturating_sub(u32::from(self.timing.block) + count));
            if block.caret {
                self.restore_status();
                self.next = values[15] & if self.cpsr & T == 0 { !3 } else { !1 };
            } else {
                self.exchange(values[15]);
            }
            self.block_outcome(lowest);
            return Ok(Outcome::Status);
        }
        Ok(self.block_outcome(lowest))
    }

    #[inline(never)]
    pub(super) fn store_block<B: Bus>(
        &mut self,
        bus: &mut B,
        block: &Block,
    ) -> Result<Outcome, B::Refusal> {
        let (lowest, base) = self.extent(block);
        if lowest & 3 != 0 && self.system.control & ALIGNMENT != 0 {
            return Ok(self.alignment_fault(lowest));
        }
        let first = self.system.translate(lowest & !3);
        bus.begin_block(first, block.list.count_ones())?;
        let mut address = first;
        let mut cost = 0;
        for n in registers(block.list) {
            let value = if block.caret && n != 15 {
                self.registers.banked(Mode::User, n as usize)
            } else {
                self.registers.get(n)
            };
            cost += bus.write(address, Size::Word, value)?;
            address = address.wrapping_add(4);
        }
        self.spend(cost);
        self.spend_block(block);
        if block.writeback {
            self.registers.set(block.rn, base);
        }
        Ok(self.block_outcome(lowest))
    }
}
