//! The processor's own coprocessor registers: CP15, system control, and CP14, counting and clocks.

use serde::{Deserialize, Serialize};

use crate::bus::{CoprocessorEffect, CoprocessorRegister};

/// The memory management unit.
const MMU: u32 = 1 << 0;
/// Alignment is checked.
pub const ALIGNMENT: u32 = 1 << 1;
/// The byte order is big. It is a pin here.
const BIG: u32 = 1 << 7;
/// Branches are predicted.
pub const PREDICTION: u32 = 1 << 11;
/// Vectors are at the top of memory.
const HIGH_VECTORS: u32 = 1 << 13;
/// What programs can change: M, A, C, W, S, R, Z, I, V.
const WRITABLE: u32 = 0x3b0f;
/// Bits that read as one.
const ONES: u32 = 0x78;

/// The fault status of an alignment fault.
pub const ALIGNMENT_FAULT: u32 = 1;

/// The registers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct System {
    pub control: u32,
    auxiliary: u32,
    translation_table: u32,
    domains: u32,
    pub fault_status: u32,
    pub fault_address: u32,
    /// The process number, in the seven highest bits.
    pub process: u32,
    access: u32,
    performance: u32,
    /// The cycle at which the cycle counter was 0, while it counts; what it shows while it does not.
    counter: u64,
}

/// What a write leads to beside.
pub struct Written {
    pub effect: CoprocessorEffect,
    /// The branch target buffer is to be cleared.
    pub forget_branches: bool,
    /// Addresses would have to be translated.
    pub management: bool,
}

/// The names of a register within its coprocessor.
const fn name(register: CoprocessorRegister) -> (u8, u8, u8, u8) {
    (
        register.crn,
        register.opcode1,
        register.crm,
        register.opcode2,
    )
}

impl System {
    /// As a boot monitor leaves them: caches and branch prediction on.
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

    /// The address of vectors at the top of memory, if they are there.
    pub fn high_vectors(&self) -> Option<u32> {
        (self.control & HIGH_VECTORS != 0).then_some(0xffff_0000)
    }

    /// Where an access goes: the process number moves addresses below 32 MB.
    #[inline(always)]
    pub fn translate(&self, address: u32) -> u32 {
        if address < 0x0200_0000 {
            address | self.process
        } else {
            address
        }
    }

    /// Whether the cycle counter counts.
    fn counts(&self) -> bool {
        self.performance & 1 != 0
    }

    fn cycle_counter(&self, cycles: u64) -> u32 {
        if !self.counts() {
            return self.counter as u32;
        }
        let counted = cycles.wrapping_sub(self.counter);
        // Bit 3: every 64th cycle.
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

    /// A register's value at a cycle; `None` if there is none of that name.
    pub fn read(&self, register: CoprocessorRegister, cycles: u64) -> Option<u32> {
        Some(match (register.coprocessor, name(register)) {
            // An XScale core, ARMv5TE, of an IXP2400.
            (15, (0, 0, 0, 0)) => 0x6905_4190,
            // Both caches: 32 KB, 32 ways, lines of 32 bytes.
            (15, (0, 0, 0, 1)) => 0x0d17_2172,
            (15, (1, 0, 0, 0)) => self.control,
            (15, (1, 0, 0, 1)) => self.auxiliary,
            (15, (2, 0, 0, 0)) => self.translation_table,
            (15, (3, 0, 0, 0)) => self.domains,
            (15, (5, 0, 0, 0)) => self.fault_status,
            (15, (6, 0, 0, 0)) => self.fault_address,
            (15, (13, 0, 0, 0)) => self.process,
            (15, (15, 0, 1, 0)) => self.access,
            // The performance unit of the second generation of cores, which the ID names: PMNC and CCNT.
            (14, (0, 0, 1, 0)) => self.performance,
            (14, (1, 0, 1, 0)) => self.cycle_counter(cycles),
            // Clock configuration and power mode: full speed.
            (14, (6 | 7, 0, 0, 0)) => 0,
            _ => return None,
        })
    }

    /// Writes a register at a cycle; `None` if there is none of that name.
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
            // The instruction cache, both, a line of it.
            (15, (7, 0, 5 | 7, 0) | (7, 0, 5, 1)) => {
                written.effect = CoprocessorEffect::InvalidateCode;
                written.forget_branches = register.opcode2 == 0;
            }
            (15, (7, 0, 5, 6)) => written.forget_branches = true,
            // The data cache, the write buffer; translations; locks. Memory is up to date.
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
                // Bits 1 and 2 reset counters and read as zero.
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
