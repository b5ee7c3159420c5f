//! The state of the pipeline: time, outstanding results, and the branch target buffer.

use serde::{Deserialize, Serialize};

/// Number of entries of the branch target buffer.
const BRANCHES: usize = 128;

/// The address bits that select an entry.
const PLACE: u32 = 0x1fc;

/// The lowest history that predicts a taken branch.
const WEAKLY_TAKEN: u32 = 2;

/// Time, the scoreboard and the branch target buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// Core cycles spent.
    pub cycles: u64,
    /// The cycle at which each register's result becomes available, if its bit in `pending` is set.
    ready: [u64; 16],
    /// Mask of registers whose result may still be outstanding.
    pub pending: u16,
    /// The cycle at which the multiplier becomes free.
    multiplier: u64,
    /// The line of code entered last; bit 0 is set if there is none.
    line: u32,
    /// The branch target buffer: the address without the index bits, the history in bits 3 and 2, a valid flag in
    /// bit 0. Empty until a branch is taken.
    branches: Vec<u32>,
}

impl Pipeline {
    pub fn new() -> Self {
        Self {
            cycles: 0,
            ready: [0; 16],
            pending: 0,
            multiplier: 0,
            // Not the start of a line.
            line: 1,
            branches: Vec::new(),
        }
    }

    /// Whether an address lies in a different line of code from the previous one; if so, enters that line.
    #[inline(always)]
    pub fn enters_line(&mut self, address: u32) -> bool {
        let other = (address ^ self.line) & !31 != 0 || self.line & 1 != 0;
        if other {
            self.line = address & !31;
        }
        other
    }

    /// Waits until the results of these registers are available.
    #[inline(never)]
    pub fn wait(&mut self, uses: u16) {
        let mut waited = self.pending & uses;
        self.pending &= !uses;
        while waited != 0 {
            let n = waited.trailing_zeros() as usize;
            self.cycles = self.cycles.max(self.ready[n]);
            self.ready[n] = 0;
            waited &= waited - 1;
        }
    }

    /// Makes a register's result available `latency` cycles after the current instruction.
    #[inline(always)]
    pub fn result(&mut self, register: u8, latency: u32) {
        if latency > 1 {
            self.pending |= 1 << register;
            self.ready[register as usize & 15] = self.cycles + u64::from(latency);
        }
    }

    /// Waits for the multiplier, then occupies it.
    #[inline(always)]
    pub fn multiply(&mut self, occupied: u32) {
        self.cycles = self.cycles.max(self.multiplier);
        self.multiplier = self.cycles + u64::from(occupied);
    }

    /// Whether the branch target buffer predicted a branch at an address correctly; also updates the history.
    #[inline(always)]
    pub fn predicted_correctly(&mut self, address: u32, taken: bool) -> bool {
        let place = (address & PLACE) as usize / 4 % BRANCHES;
        // Thumb addresses may have bit 1 set; the history uses bits 3 and 2, so it does not collide.
        let tag = address & !PLACE | 1;
        match self.branches.get_mut(place) {
            Some(entry) if *entry & !0xc == tag => {
                let history = *entry >> 2 & 3;
                let next = if taken {
                    (history + 1).min(3)
                } else {
                    history.saturating_sub(1)
                };
                *entry = tag | next << 2;
                (history >= WEAKLY_TAKEN) == taken
            }
            _ => {
                if taken {
                    self.learn(place, tag);
                }
                !taken
            }
        }
    }

    fn learn(&mut self, place: usize, tag: u32) {
        self.branches.resize(BRANCHES, 0);
        self.branches[place] = tag | WEAKLY_TAKEN << 2;
    }

    /// Clears the branch target buffer, as programs do through CP15.
    pub fn forget_branches(&mut self) {
        self.branches.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_is_predicted_taken_after_one_taken() {
        let mut pipeline = Pipeline::new();
        assert!(!pipeline.predicted_correctly(0x8000, true));
        assert!(pipeline.predicted_correctly(0x8000, true));
        assert!(pipeline.predicted_correctly(0x8000, true));
        // Strongly taken: a single exit is mispredicted, but does not reverse the prediction.
        assert!(!pipeline.predicted_correctly(0x8000, false));
        assert!(pipeline.predicted_correctly(0x8000, true));
    }

    #[test]
    fn branches_512_bytes_apart_share_a_predictor_entry() {
        let mut pipeline = Pipeline::new();
        assert!(!pipeline.predicted_correctly(0x8000, true));
        assert!(!pipeline.predicted_correctly(0x8200, true));
        assert!(!pipeline.predicted_correctly(0x8000, true));
    }

    #[test]
    fn result_latency_stalls_only_the_first_use() {
        let mut pipeline = Pipeline::new();
        pipeline.result(3, 3);
        pipeline.cycles += 1;
        pipeline.wait(1 << 3 | 1 << 4);
        assert_eq!((pipeline.cycles, pipeline.pending), (3, 0));
        pipeline.wait(1 << 3);
        assert_eq!(pipeline.cycles, 3);
    }
}
