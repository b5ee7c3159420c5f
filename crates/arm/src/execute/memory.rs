//! Loads and stores of one or two registers, and SWP.

use super::Outcome;
use crate::bus::{Bus, Size};
use crate::cpu::Cpu;
use crate::exception::Unpredictable;
use crate::instruction::{Address, Index, Offset, Shift, Width};
use crate::system::ALIGNMENT;

impl Width {
    const fn size(self) -> Size {
        match self {
            Self::Word => Size::Word,
            Self::Byte | Self::SignedByte => Size::Byte,
            Self::Half | Self::SignedHalf => Size::Half,
        }
    }
}

impl Cpu {
    /// Returns the address of an access, and the new base.
    #[inline(always)]
    fn address(&self, address: &Address) -> (u32, u32) {
        let base = self.registers.get(address.rn);
        // In Thumb state, PC may be two bytes past a multiple of four.
        let base = if address.rn == 15 { base & !3 } else { base };
        let offset = match address.offset {
            Offset::Constant(value) => value as u32,
            Offset::Register {
                rm,
                shift,
                amount,
                subtract,
            } => {
                let value = self.registers.get(rm);
                let amount = u32::from(amount);
                let value = match shift {
                    Shift::Lsl => value << amount,
                    Shift::Lsr => value.checked_shr(amount).unwrap_or(0),
                    Shift::Asr => ((value as i32) >> amount.min(31)) as u32,
                    Shift::Ror => value.rotate_right(amount),
                    Shift::Rrx => value >> 1 | (self.cpsr << 2) & 1 << 31,
                };
                if subtract {
                    value.wrapping_neg()
                } else {
                    value
                }
            }
        };
        let moved = base.wrapping_add(offset);
        match address.index {
            Index::After => (base, moved),
            Index::Offset | Index::Before => (moved, moved),
        }
    }

    #[inline(always)]
    fn write_back(&mut self, address: &Address, base: u32) {
        if address.index != Index::Offset {
            self.registers.set(address.rn, base);
        }
    }

    /// Whether the program enabled alignment faults.
    fn checks_alignment(&self) -> bool {
        self.system.control & ALIGNMENT != 0
    }

    #[inline(always)]
    pub(super) fn load<B: Bus>(
        &mut self,
        bus: &mut B,
        width: Width,
        rd: u8,
        address: &Address,
    ) -> Result<Outcome, B::Refusal> {
        let (at, base) = self.address(address);
        let size = width.size();
        let low = at & (size.bytes() - 1);
        if low != 0 && self.checks_alignment() {
            return Ok(self.alignment_fault(at));
        }
        let (value, cost) = bus.read(self.system.translate(at - low), size)?;
        self.write_back(address, base);
        let value = match width {
            Width::Word if low != 0 => value.rotate_right(8 * low),
            Width::Word | Width::Byte | Width::Half => value,
            Width::SignedByte => i32::from(value as i8) as u32,
            Width::SignedHalf => i32::from(value as i16) as u32,
        };
        if rd == 15 {
            self.spend(cost + u32::from(self.timing.load_jump));
            self.exchange(value);
            return Ok(Outcome::Status);
        }
        self.registers.set(rd, value);
        self.pipeline
            .result(rd, cost + u32::from(self.timing.load_to_use));
        if low != 0 && size == Size::Half {
            return Ok(self.note(Unpredictable::UnalignedHalf));
        }
        Ok(Outcome::Access)
    }

    #[inline(always)]
    pub(super) fn store<B: Bus>(
        &mut self,
        bus: &mut B,
        width: Width,
        rd: u8,
        address: &Address,
    ) -> Result<Outcome, B::Refusal> {
        let (at, base) = self.address(address);
        let size = width.size();
        let low = at & (size.bytes() - 1);
        if low != 0 && self.checks_alignment() {
            return Ok(self.alignment_fault(at));
        }
        let value = self.registers.get(rd);
        let cost = bus.write(self.system.translate(at - low), size, value)?;
        self.spend(cost);
        self.write_back(address, base);
        if low != 0 && size == Size::Half {
            return Ok(self.note(Unpredictable::UnalignedHalf));
        }
        Ok(Outcome::Access)
    }

    pub(super) fn load_double<B: Bus>(
        &mut self,
        bus: &mut B,
        rd: u8,
        address: &Address,
    ) -> Result<Outcome, B::Refusal> {
        let (at, base) = self.address(address);
        if at & 7 != 0 && self.checks_alignment() {
            return Ok(self.alignment_fault(at));
        }
        let first = self.system.translate(at & !3);
        bus.begin_block(first, 2)?;
        let (low, cost) = bus.read(first, Size::Word)?;
        let (high, more) = bus.read(first.wrapping_add(4), Size::Word)?;
        self.write_back(address, base);
        self.registers.set(rd, low);
        self.registers.set(rd + 1, high);
        let latency = cost + u32::from(self.timing.load_to_use);
        self.pipeline.result(rd, latency);
        self.pipeline.result(rd + 1, latency + more + 1);
        Ok(self.double_outcome(at))
    }

    pub(super) fn store_double<B: Bus>(
        &mut self,
        bus: &mut B,
        rd: u8,
        address: &Address,
    ) -> Result<Outcome, B::Refusal> {
        let (at, base) = self.address(address);
        if at & 7 != 0 && self.checks_alignment() {
            return Ok(self.alignment_fault(at));
        }
        let first = self.system.translate(at & !3);
        bus.begin_block(first, 2)?;
        let (low, high) = (self.registers.get(rd), self.registers.get(rd + 1));
        let cost = bus.write(first, Size::Word, low)?;
        let more = bus.write(first.wrapping_add(4), Size::Word, high)?;
        self.spend(cost + more);
        self.take_cycles(self.timing.store_double);
        self.write_back(address, base);
        Ok(self.double_outcome(at))
    }

    fn double_outcome(&mut self, at: u32) -> Outcome {
        if at & 7 == 0 {
            Outcome::Access
        } else {
            self.note(Unpredictable::UnalignedDouble)
        }
    }

    pub(super) fn swap<B: Bus>(
        &mut self,
        bus: &mut B,
        byte: bool,
        rd: u8,
        rm: u8,
        rn: u8,
    ) -> Result<Outcome, B::Refusal> {
        let at = self.registers.get(rn);
        let size = if byte { Size::Byte } else { Size::Word };
        let low = at & (size.bytes() - 1);
        if low != 0 && self.checks_alignment() {
            return Ok(self.alignment_fault(at));
        }
        let address = self.system.translate(at - low);
        bus.begin_block(address & !3, 1)?;
        let (old, cost) = bus.read(address, size)?;
        let more = bus.write(address, size, self.registers.get(rm))?;
        self.registers.set(rd, old.rotate_right(8 * low));
        self.spend(cost + more);
        self.take_cycles(self.timing.swap);
        Ok(Outcome::Access)
    }
}
