//! The general registers and their banks.

use serde::{Deserialize, Serialize};

use crate::status::Mode;

/// The registers visible in the current mode, and those of the other banks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Registers {
    /// The registers visible in the current mode. The last is PC as the current instruction reads
    /// it.
    current: [u32; 16],
    /// r8 to r12 of FIQ mode while in another mode; those of the other modes while in FIQ mode.
    middle: [u32; 5],
    /// r13 and r14 of each bank except the current one.
    stack_and_link: [[u32; 2]; 6],
    /// The saved status of each bank; always 0 for user mode.
    saved_status: [u32; 6],
    bank: usize,
}

/// Returns the bank of a mode; bank 0 has no saved status.
const fn bank(mode: Mode) -> usize {
    match mode {
        Mode::User | Mode::System => 0,
        Mode::Fiq => 1,
        Mode::Irq => 2,
        Mode::Supervisor => 3,
        Mode::Abort => 4,
        Mode::Undefined => 5,
    }
}

const FIQ: usize = bank(Mode::Fiq);

impl Registers {
    pub fn new(mode: Mode) -> Self {
        Self {
            current: [0; 16],
            middle: [0; 5],
            stack_and_link: [[0; 2]; 6],
            saved_status: [0; 6],
            bank: bank(mode),
        }
    }

    #[inline(always)]
    pub fn get(&self, n: u8) -> u32 {
        self.current[n as usize & 15]
    }

    #[inline(always)]
    pub fn set(&mut self, n: u8, value: u32) {
        self.current[n as usize & 15] = value;
    }

    /// Switches to the registers of a mode.
    pub fn switch(&mut self, mode: Mode) {
        let to = bank(mode);
        let from = self.bank;
        if to == from {
            return;
        }
        if to == FIQ || from == FIQ {
            self.current[8..13].swap_with_slice(&mut self.middle);
        }
        self.stack_and_link[from].copy_from_slice(&self.current[13..15]);
        self.current[13..15].copy_from_slice(&self.stack_and_link[to]);
        self.bank = to;
    }

    /// Returns a register below PC, as seen in a mode.
    pub fn banked(&self, mode: Mode, n: usize) -> u32 {
        let bank = bank(mode);
        match n {
            8..=12 if (bank == FIQ) != (self.bank == FIQ) => self.middle[n - 8],
            13 | 14 if bank != self.bank => self.stack_and_link[bank][n - 13],
            _ => self.current[n],
        }
    }

    /// Sets a register below PC, as seen in a mode.
    pub fn set_banked(&mut self, mode: Mode, n: usize, value: u32) {
        let bank = bank(mode);
        match n {
            8..=12 if (bank == FIQ) != (self.bank == FIQ) => self.middle[n - 8] = value,
            13 | 14 if bank != self.bank => self.stack_and_link[bank][n - 13] = value,
            _ => self.current[n] = value,
        }
    }

    /// Returns the saved status of the current mode, if it has one.
    pub fn saved_status(&self) -> Option<u32> {
        (self.bank != 0).then(|| self.saved_status[self.bank])
    }

    /// Sets the saved status of the current mode, if it has one.
    pub fn set_saved_status(&mut self, value: u32) {
        if self.bank != 0 {
            self.saved_status[self.bank] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 7] = [
        Mode::User,
        Mode::Fiq,
        Mode::Irq,
        Mode::Supervisor,
        Mode::Abort,
        Mode::Undefined,
        Mode::System,
    ];

    #[test]
    fn banked_registers_are_kept_per_mode() {
        let mut registers = Registers::new(Mode::Supervisor);
        for (i, mode) in MODES.into_iter().enumerate().skip(1) {
            registers.switch(mode);
            registers.set(13, 100 + i as u32);
            registers.set(8, if mode == Mode::Fiq { 7 } else { 8 });
        }
        registers.set_banked(Mode::Irq, 14, 55);
        for (i, mode) in MODES.into_iter().enumerate().skip(1) {
            registers.switch(mode);
            assert_eq!(registers.get(13), 100 + i as u32, "{mode:?}");
            assert_eq!(registers.get(8), if mode == Mode::Fiq { 7 } else { 8 });
            for other in MODES {
                let seen = registers.banked(other, 8);
                assert_eq!(seen, if other == Mode::Fiq { 7 } else { 8 });
            }
        }
        registers.switch(Mode::User);
        assert_eq!(registers.get(13), 106);
        assert_eq!(registers.banked(Mode::Irq, 14), 55);
    }
}
