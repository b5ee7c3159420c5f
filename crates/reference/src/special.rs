//! Byte alignment, CAM and CRC.

use npsim_chip::kernel::fabric::Fabric;
use npsim_isa::{ByteOrder, CrcBytes, CrcKind, Instruction, Operand};

use crate::state::Delayed;
use crate::{Reference, Stop};

impl Reference {
    pub(crate) fn operate_special(
        &mut self,
        instruction: &Instruction,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        match *instruction {
            Instruction::ByteAlign { order, dest, src } => {
                self.byte_align(order, dest, src, fabric)
            }
            Instruction::CamClear => {
                self.state.tags = [0; 16];
                self.state.tag_states = [0; 16];
                self.state.used = [0; 16];
                self.state.cam_clock = 0;
                Ok(())
            }
            Instruction::CamLookup { dest, src, lm_addr } => {
                let tag = self.read(src, fabric)?;
                let result = self.lookup(tag);
                self.logical(dest, tag, result, fabric)?;
                if let Some(target) = lm_addr {
                    // In local memory, the entry number selects a block of 8 bytes and the state a
                    // block of 256.
                    let address = u32::from(target.block) << 10 | result & 0x3ff;
                    let gap = fabric.profile.lm_addr_gap().into();
                    let register = Delayed::Pointer(target.pointer & 1);
                    self.write_late(register, address >> 2, gap);
                }
                Ok(())
            }
            Instruction::CamWrite { entry, src, state } => {
                let (tag, entry) = (self.read(src, fabric)?, self.entry(entry, fabric)?);
                self.state.tags[entry] = tag;
                self.state.tag_states[entry] = state & 15;
                self.use_entry(entry);
                self.state.previous_a = tag;
                Ok(())
            }
            Instruction::CamWriteState { entry, state } => {
                let entry = self.entry(entry, fabric)?;
                self.state.tag_states[entry] = state & 15;
                self.state.previous_a = 0;
                Ok(())
            }
            Instruction::Crc {
                order,
                kind,
                dest,
                src,
                bytes,
                bit_swap,
            } => {
                let x = self.read(src, fabric)?;
                self.crc_step(order, kind, bytes, bit_swap, x);
                self.logical(dest, 0, x, fabric)
            }
            _ => Ok(()),
        }
    }

    fn byte_align(
        &mut self,
        order: ByteOrder,
        dest: Operand,
        src: Operand,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        let now = self.read(src, fabric)?;
        let skip = (self.state.byte_index & 3) as usize;
        let four = |before: [u8; 4], now: [u8; 4]| {
            let eight = [before, now].concat();
            [
                eight[skip],
                eight[skip + 1],
                eight[skip + 2],
                eight[skip + 3],
            ]
        };
        match order {
            ByteOrder::Big => {
                let before = std::mem::replace(&mut self.state.align_be, now);
                let result = u32::from_be_bytes(four(before.to_be_bytes(), now.to_be_bytes()));
                self.logical(dest, 0, result, fabric)
            }
            ByteOrder::Little => {
                let before = std::mem::replace(&mut self.state.align_le, now);
                let result = u32::from_le_bytes(four(before.to_le_bytes(), now.to_le_bytes()));
                self.logical(dest, now, result, fabric)
            }
        }
    }

    fn entry(&mut self, operand: Operand, fabric: &mut Fabric) -> Result<usize, Stop> {
        Ok(self.read(operand, fabric)? as usize % 16)
    }

    fn use_entry(&mut self, entry: usize) {
        self.state.cam_clock += 1;
        self.state.used[entry] = self.state.cam_clock;
    }

    /// Returns state, hit bit and number of the entry with the tag, or the number of the least
    /// recently used entry. A hit counts as a use, a miss does not.
    fn lookup(&mut self, tag: u32) -> u32 {
        if let Some(entry) = (0..16).find(|&entry| self.state.tags[entry] == tag) {
            self.use_entry(entry);
            u32::from(self.state.tag_states[entry]) * 256 + 128 + entry as u32 * 8
        } else {
            u32::from(self.oldest_first()[0]) * 8
        }
    }

    /// Returns the CAM's entries, from least to most recently used.
    pub(crate) fn oldest_first(&self) -> [u8; 16] {
        let mut entries: [u8; 16] = std::array::from_fn(|entry| entry as u8);
        entries.sort_by_key(|&entry| self.state.used[usize::from(entry)]);
        entries
    }

    /// Feeds the selected bytes to the CRC unit, bit by bit.
    fn crc_step(
        &mut self,
        order: ByteOrder,
        kind: CrcKind,
        bytes: CrcBytes,
        bit_swap: bool,
        word: u32,
    ) {
        let (width, polynomial) = match kind {
            CrcKind::None => return,
            CrcKind::Ccitt => (16, 0x1021),
            CrcKind::Crc32 => (32, 0x04c1_1db7),
            CrcKind::Iscsi => (32, 0x1edc_6f41),
            CrcKind::Crc10 => (10, 0x233),
            CrcKind::Crc5 => (5, 0x05),
        };
        let four = if order == ByteOrder::Big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        };
        let chosen = match bytes {
            CrcBytes::All => 0..4,
            CrcBytes::B1_3 => 1..4,
            CrcBytes::B2_3 => 2..4,
            CrcBytes::B3 => 3..4,
            CrcBytes::B0_2 => 0..3,
            CrcBytes::B0_1 => 0..2,
            CrcBytes::B0 => 0..1,
        };
        let mask = u32::MAX >> (32 - width);
        let mut rest = self.state.crc & mask;
        for byte in &four[chosen] {
            for bit in 0..8 {
                let next = if bit_swap {
                    byte >> bit & 1
                } else {
                    byte >> (7 - bit) & 1
                };
                let top = rest >> (width - 1) & 1 ^ u32::from(next);
                rest = rest << 1 & mask;
                if top == 1 {
                    rest ^= polynomial;
                }
            }
        }
        self.state.crc = rest;
    }
}
