//! The processor's own coprocessor registers: CP15 (system control) and CP14 (performance counting and clocks).

use serde::{Deserialize, Serialize};

use crate::bus::{CoprocessorEffect, CoprocessorRegister};

/// Memory management unit enabled.
const MMU: u32 = 1 << 0;
/// Alignment faults enabled.
pub const ALIGNMENT: u32 = 1 << 1;
/// Big-endian byte order. It is a pin here.
const BIG: u32 = 1 << 7;
/// Branch prediction enabled.
pub const PREDICTION: u32 = 1 << 11;
/// Vectors at the top of memory.
const HIGH_VECTORS: u32 = 1 << 13;
/// The bits that programs can change: M, A, C, W, S, R, Z, I, V.
const WRITABLE: u32 = 0x3b0f;
/// Bits that read as one.
const ONES: u32 = 0x78;

/// Fault status code of an alignment fault.
pub const ALIGNMENT_FAULT: u32 = 1;

/// The coprocessor registers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct System {
    pub control: u32,
    auxiliary: u32,
    translation_table: u32,
    domains: u32,
    pub fault_status: u32,
    pub fault_address: u32,
    /// The process number, in the seven most significant bits.
    pub process: u32,
    access: u32,
    performance: u32,
    /// While the cycle counter runs, the cycle at which it was 0; otherwise, its value.
    counter: u64,
}

/// Further effects of a register write.
pub struct Written {
    pub effect: CoprocessorEffect,
    /// Whether to clear the branch target buffer.
    pub forget_branches: bool,
    /// Whether the program enabled address translation.
    pub management: bool,
}

/// Returns the fields that name a register within its coprocessor.
const fn name(register: CoprocessorRegister) -> (u8, u8, u8, u8) {
    (
        register.crn,
        register.opcode1,
        register.crm,
        register.opcode2,
    )
}

impl System {
    /// Creates the registers as a boot monitor leaves them: caches and branch prediction enabled.
    pub fn new(big: bool) -> Self {
        Self {
            control: ONES | PREDICTION | 1 << 12 | 1 << 2 | if big { BIG } else { 0 },
            auxiliary: 0,
            translation_table: 0,
            domains: 0,
            fault_status: 0,
            fault_address: 0,
            process: 0,
            access: 0,
            performance: 0,
            counter: 0,
        }
    }

    /// Returns the base address of high vectors, if they are enabled.
    pub fn high_vectors(&self) -> Option<u32> {
        (self.control & HIGH_VECTORS != 0).then_some(0xffff_0000)
    }

    /// Returns the address that an access goes to: the process number relocates addresses below 32 MB.
    #[inline(always)]
    pub fn translate(&self, address: u32) -> u32 {
        if address < 0x0200_0000 {
            address | self.process
        } else {
            address
        }
    }

    /// Whether the cycle counter runs.
    fn counts(&self) -> bool {
        self.performance & 1 != 0
    }

    fn cycle_counter(&self, cycles: u64) -> u32 {
        if !self.counts() {
            return self.counter as u32;
        }
        let counted = cycles.wrapping_sub(self.counter);
        // Bit 3: counts every 64th cycle.
        (if self.performance & 8 == 0 {
            counted
        } else {
            counted / 64
        }) as u32
    }

    fn set_cycle_counter(&mut self, cycles: u64, value: u32) {
        let value = u64::from(value);
        self.counter = match (self.counts(), self.performance & 8 != 0) {
            (false, _) => value,
            (true, false) => cycles.wrapping_sub(value),
            (true, true) => cycles.wrapping_sub(value * 64),
        };
    }

    /// Returns a register's value at a cycle; `None` if there is no such register.
    pub fn read(&self, register: CoprocessorRegister, cycles: u64) -> Option<u32> {
        Some(match (register.coprocessor, name(register)) {
            // The XScale core, ARMv5TE, of an IXP2400.
            (15, (0, 0, 0, 0)) => 0x6905_4190,
            // Both caches: 32 KB, 32 ways, 32-byte lines.
            (15, (0, 0, 0, 1)) => 0x0d17_2172,
            (15, (1, 0, 0, 0)) => self.control,
            (15, (1, 0, 0, 1)) => self.auxiliary,
            (15, (2, 0, 0, 0)) => self.translation_table,
            (15, (3, 0, 0, 0)) => self.domains,
            (15, (5, 0, 0, 0)) => self.fault_status,
            (15, (6, 0, 0, 0)) => self.fault_address,
            (15, (13, 0, 0, 0)) => self.process,
            (15, (15, 0, 1, 0)) => self.access,
            // The performance unit of the second core generation, as named in the ID: PMNC and CCNT.
            (14, (0, 0, 1, 0)) => self.performance,
            (14, (1, 0, 1, 0)) => self.cycle_counter(cycles),
            // Clock configuration and power mode: full speed.
            (14, (6 | 7, 0, 0, 0)) => 0,
            _ => return None,
        })
    }

    /// Writes a register at a cycle; `None` if there is no such register.
    pub fn write(
        &mut self,
        register: CoprocessorRegister,
        value: u32,
        cycles: u64,
    ) -> Option<Written> {
        let mut written = Written {
            effect: CoprocessorEffect::Nothing,
            forget_branches: false,
            management: false,
        };
        match (register.coprocessor, name(register)) {
            (15, (1, 0, 0, 0)) => {
                let fixed = self.control & !WRITABLE;
                self.control = fixed | value & WRITABLE & !MMU;
                written.management = value & MMU != 0;
            }
            (15, (1, 0, 0, 1)) => self.auxiliary = value,
            (15, (2, 0, 0, 0)) => self.translation_table = value & !0x3fff,
            (15, (3, 0, 0, 0)) => self.domains = value,
            (15, (5, 0, 0, 0)) => self.fault_status = value & 0x6ff,
            (15, (6, 0, 0, 0)) => self.fault_address = value,
            // Invalidate the instruction cache, both caches, or an instruction cache line.
            (15, (7, 0, 5 | 7, 0) | (7, 0, 5, 1)) => {
                written.effect = CoprocessorEffect::InvalidateCode;
                written.forget_branches = register.opcode2 == 0;
            }
            (15, (7, 0, 5, 6)) => written.forget_branches = true,
            // Data cache, write buffer, translations and locks: no effect, since memory is always up to date.
            (
                15,
                (7, 0, 6, 0 | 1)
                | (7, 0, 10, 1 | 4)
                | (7, 0, 2, 5)
                | (8, 0, 5..=7, 0 | 1)
                | (9 | 10, ..),
            )
            // Clock configuration.
            | (14, (6, 0, 0, 0)) => {}
            (15, (13, 0, 0, 0)) => {
                self.process = value & 0xfe00_0000;
                written.effect = CoprocessorEffect::InvalidateCode;
            }
            (15, (15, 0, 1, 0)) => self.access = value & 0x3fff,
            (14, (0, 0, 1, 0)) => {
                let shown = self.cycle_counter(cycles);
                // Bits 1 and 2 reset counters, and read as zero.
                self.performance = value & 0x9;
                self.set_cycle_counter(cycles, if value & 4 == 0 { shown } else { 0 });
            }
            (14, (1, 0, 1, 0)) => self.set_cycle_counter(cycles, value),
            (14, (7, 0, 0, 0)) => {
                if value & 3 != 0 {
                    written.effect = CoprocessorEffect::WaitForInterrupt;
                }
            }
            _ => return None,
        }
        Some(written)
    }
}
