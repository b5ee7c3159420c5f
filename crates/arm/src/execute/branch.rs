//! Branches and switches between ARM and Thumb state.

use super::Outcome;
use crate::cpu::Cpu;
use crate::exception::Unpredictable;
use crate::status::T;
use crate::system::PREDICTION;

impl Cpu {
    /// Spends the time of a taken branch at PC with a constant offset.
    #[inline(always)]
    fn spend_branch(&mut self) {
        let is_predicted = self.system.control & PREDICTION != 0
            && self.pipeline.predicted_correctly(self.pc, true);
        if !is_predicted {
            self.spend_misprediction();
        }
    }

    /// Spends the time of a mispredicted branch.
    #[inline(always)]
    pub(super) fn spend_misprediction(&mut self) {
        let further = if self.thumb() {
            self.timing.thumb_branch
        } else {
            0
        };
        self.spend(u32::from(self.timing.branch_mispredicted) + u32::from(further));
    }

    /// Branches and switches to the state selected by bit 0 of the address.
    #[inline(always)]
    pub(super) fn exchange(&mut self, target: u32) {
        if target & 1 == 0 {
            self.cpsr &= !T;
            self.next = target & !3;
            if target & 2 != 0 {
                self.note(Unpredictable::UnalignedJump);
            }
        } else {
            self.cpsr |= T;
            self.next = target & !1;
        }
    }

    /// Stores the address of the next instruction in LR, with the state in bit 0.
    #[inline(always)]
    fn link(&mut self) {
        let state = self.cpsr >> 5 & 1;
        self.registers.set(14, self.next | state);
    }

    #[inline(always)]
    pub(super) fn branch(&mut self, link: bool, offset: i32) -> Outcome {
        self.spend_branch();
        if link {
            self.link();
        }
        self.next = self.registers.get(15).wrapping_add_signed(offset);
        Outcome::Next
    }

    pub(super) fn branch_to_thumb(&mut self, offset: i32) -> Outcome {
        self.spend_misprediction();
        self.link();
        self.next = self.registers.get(15).wrapping_add_signed(offset);
        self.cpsr |= T;
        Outcome::Next
    }

    #[inline(always)]
    pub(super) fn branch_exchange(&mut self, link: bool, rm: u8) -> Outcome {
        self.spend_misprediction();
        let target = self.registers.get(rm);
        if link {
            self.link();
        }
        self.exchange(target);
        if target & 3 == 2 {
            Outcome::Status
        } else {
            Outcome::Next
        }
    }

    pub(super) fn link_suffix(&mut self, exchange: bool, offset: u32) -> Outcome {
        let target = self.registers.get(14).wrapping_add(offset);
        if exchange {
            self.spend_misprediction();
        } else {
            self.spend_branch();
        }
        self.link();
        if exchange {
            self.cpsr &= !T;
            self.next = target & !3;
        } else {
            self.next = target & !1;
        }
        Outcome::Next
    }
}
