//! The profile's parameters that a microengine uses, and the value of `TIMESTAMP` that follows from
//! them.

use npsim_chip::Cycle;
use npsim_profile::Profile;
use serde::{Deserialize, Serialize};

/// Timing parameters. Penalties are aborted issue slots of a taken branch without defer slots.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Timing {
    pub branch: u8,
    /// Penalty if the instruction before the branch set the codes.
    pub condition_new: u8,
    /// Penalty if at least one instruction or aborted slot lies between.
    pub condition_old: u8,
    pub bit: u8,
    pub state: u8,
    pub jump: u8,
    pub swap: Cycle,
    pub wake: Cycle,
    pub lm_addr_gap: Cycle,
    pub csr_gap: Cycle,
    pub signal: Cycle,
    pub neighbour: Cycle,
    pub neighbour_full: u8,
    pub timestamp: Cycle,
    pub local_memory_words: u16,
}

impl Timing {
    pub fn new(profile: &Profile) -> Self {
        Self {
            branch: profile.branch_penalty() as u8,
            condition_new: profile.conditional_branch_penalty() as u8,
            condition_old: profile.settled_branch_penalty() as u8,
            bit: profile.bit_branch_penalty() as u8,
            state: profile.state_branch_penalty() as u8,
            jump: profile.jump_penalty() as u8,
            swap: profile.context_swap_penalty(),
            wake: profile.wake_latency(),
            lm_addr_gap: Cycle::from(profile.lm_addr_gap()),
            csr_gap: Cycle::from(profile.csr_gap()),
            signal: profile.local_signal_latency(),
            neighbour: profile.nn_latency(),
            neighbour_full: profile.nn_full_threshold(),
            timestamp: profile.timestamp_divider(),
            local_memory_words: profile.local_memory_words(),
        }
    }
}

/// The value of `TIMESTAMP` at a cycle, given its value when it was set. It counts once every
/// `divider` cycles.
#[inline]
pub(crate) fn timestamp_at((value, set): (u64, Cycle), now: Cycle, divider: Cycle) -> u64 {
    value + now.saturating_sub(set) / divider
}
