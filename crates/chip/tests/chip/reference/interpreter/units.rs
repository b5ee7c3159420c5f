//! Byte alignment, CAM and CRC.

use npsim_isa::{ByteOrder, CrcBytes, CrcKind, Operand};

use super::Reference;

impl Reference {
    pub(super) fn byte_align(&mut self, order: ByteOrder, dest: Operand, src: Operand) {
        let now = self.read(src);
        let skip = self.byte_index as usize;
        let mut eight = [0; 8];
        match order {
            ByteOrder::Big => {
                eight[..4].copy_from_slice(&self.align_be.to_be_bytes());
                eight[4..].copy_from_slice(&now.to_be_bytes());
                self.align_be = now;
                let four = [
                    eight[skip],
                    eight[skip + 1],
                    eight[skip + 2],
                    eight[skip + 3],
                ];
                self.logical(dest, 0, u32::from_be_bytes(four));
            }
            ByteOrder::Little => {
                eight[..4].copy_from_slice(&self.align_le.to_le_bytes());
                eight[4..].copy_from_slice(&now.to_le_bytes());
                self.align_le = now;
                let four = [
                    eight[skip],
                    eight[skip + 1],
                    eight[skip + 2],
                    eight[skip + 3],
                ];
                self.logical(dest, now, u32::from_le_bytes(four));
            }
        }
    }

    pub(super) fn lookup(&mut self, tag: u32) -> u32 {
        for entry in 0..16 {
            if self.tags[entry] == tag {
                self.clock += 1;
                self.used[entry] = self.clock;
                return u32::from(self.states[entry]) * 256 + 128 + entry as u32 * 8;
            }
        }
        let oldest = (0..16).min_by_key(|&entry| self.used[entry]).unwrap();
        oldest as u32 * 8
    }

    pub(super) fn crc_step(
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
        let mut rest = self.crc & mask;
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
        self.crc = rest;
    }
}
