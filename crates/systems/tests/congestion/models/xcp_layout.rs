//! Where XCP's pools and sums stand in the state that the driver sets and reads.

use npsim_protocols::xcp::{Factor, FeedbackPools, Sums};

use super::driver::{COUNTS, State};

/// Longwords of the shared state from one group to the next; of sums by thread.
pub const GROUP: usize = 16;
pub const SUMS_GROUP: usize = 8;

/// Longwords of a group with pools under a lock or in the coprocessor, and of the sums if these are
/// also under the lock.
pub const RESIDUES: usize = 0;
pub const SCALES: usize = 2;
pub const SUMS: usize = 8;

/// Longwords of a group with two banks, and from one bank to the next.
pub const PHASE: usize = 0;
pub const BANK_SCALES: usize = 1;
pub const NEXT_SCALES: usize = 3;
pub const BANK_RESIDUES: usize = 8;
pub const NEXT_RESIDUES: usize = 2;

/// Where pools and sums stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Pools and sums in the state.
    Together,
    /// Pools in the state, sums by thread.
    ThreadSums,
    /// Two banks of pools, sums by thread.
    Banks,
}

impl Layout {
    /// Where residues and scale factors of a group are.
    pub fn places(self, state: &State, group: usize) -> [usize; 2] {
        let group = GROUP * group;
        if self == Self::Banks {
            let bank = state[group + PHASE] as usize;
            [
                group + BANK_RESIDUES + NEXT_RESIDUES * bank,
                group + BANK_SCALES + NEXT_SCALES * bank,
            ]
        } else {
            [group + RESIDUES, group + SCALES]
        }
    }

    pub fn pools(self, state: &State, group: usize) -> FeedbackPools {
        let [residues, scales] = self.places(state, group);
        let scale = |mantissa: usize, shift: u32| Factor {
            mantissa: state[scales + mantissa],
            shift: (state[scales + 2] >> shift & 0x3f) as u8,
        };
        FeedbackPools {
            residue_pos: state[residues],
            residue_neg: state[residues + 1],
            cp: scale(0, 0),
            cn: scale(1, 8),
        }
    }

    pub fn put_pools(self, state: &mut State, group: usize, pools: &FeedbackPools) {
        let [residues, scales] = self.places(state, group);
        state[residues] = pools.residue_pos;
        state[residues + 1] = pools.residue_neg;
        state[scales] = pools.cp.mantissa;
        state[scales + 1] = pools.cn.mantissa;
        state[scales + 2] = u32::from(pools.cn.shift) << 8 | u32::from(pools.cp.shift);
    }

    /// Where a group's sums are.
    pub const fn sums_place(self, group: usize) -> usize {
        match self {
            Self::Together => GROUP * group + SUMS,
            _ => COUNTS + SUMS_GROUP * group,
        }
    }

    pub fn sums(self, state: &State, group: usize) -> Sums {
        let at = self.sums_place(group);
        let wide = |low: usize| u64::from(state[low + 1]) << 32 | u64::from(state[low]);
        Sums {
            input_traffic: state[at],
            sum_x: wide(at + 1),
            sum_xrtt: wide(at + 3),
        }
    }

    pub fn put_sums(self, state: &mut State, group: usize, sums: &Sums) {
        let at = self.sums_place(group);
        state[at] = sums.input_traffic;
        for (low, value) in [(at + 1, sums.sum_x), (at + 3, sums.sum_xrtt)] {
            state[low] = value as u32;
            state[low + 1] = (value >> 32) as u32;
        }
    }
}
