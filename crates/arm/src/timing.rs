//! How many core cycles instructions take, beyond what the bus costs.

use serde::{Deserialize, Serialize};

/// The pipeline in numbers, each in core cycles.
///
/// An instruction is issued each cycle. A result latency of *n* lets an instruction that uses the result be
/// issued *n* cycles after the one that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Result latency of LDR, LDRB, LDRH, LDRSB and LDRSH, of the first register of LDRD, and of SWP's issue
    /// beyond its other cycles.
    pub load_to_use: u8,
    /// Result latency of a multiplication whose multiplier Rs fits 16 bits; up to 28 bits takes one cycle
    /// more, a larger one two, the high half of a long product another one. With S, the flags wait for the product.
    pub multiply: u8,
    /// Result latency of QADD, QSUB, QDADD and QDSUB.
    pub saturate: u8,
    /// Cycles that shifting by a register adds.
    pub register_shift: u8,
    /// Cycles that a branch adds which the branch target buffer did not predict, and BX and BLX always.
    pub branch_mispredicted: u8,
    /// Cycles that such a branch of Thumb's adds beyond that.
    pub thumb_branch: u8,
    /// Cycles that writing PC as the result of a data operation adds.
    pub jump: u8,
    /// Cycles that loading PC adds.
    pub load_jump: u8,
    /// Cycles of LDM and STM beside one for each register.
    pub block: u8,
    /// Cycles of LDM that loads PC and at most two other registers; each further one takes a cycle.
    pub block_jump: u8,
    /// Cycles of SWP and SWPB.
    pub swap: u8,
    /// Cycles of STRD.
    pub store_double: u8,
    /// Result latency of MRS.
    pub read_status: u8,
    /// Cycles of MSR that writes flags alone.
    pub write_flags: u8,
    /// Cycles of MSR that writes the control bits.
    pub write_status: u8,
    /// Cycles of MRC.
    pub read_coprocessor: u8,
    /// Cycles of MCR.
    pub write_coprocessor: u8,
    /// Cycles from an instruction that takes an exception, or the one before which an interrupt is taken, to its vector.
    pub exception: u8,
}

impl Timing {
    /// The XScale's, without a chip. Profiles of chips have the same numbers, and where each comes from.
    pub const XSCALE: Self = Self {
        load_to_use: 3,
        multiply: 2,
        saturate: 2,
        register_shift: 1,
        branch_mispredicted: 4,
        thumb_branch: 1,
        jump: 4,
        load_jump: 7,
        block: 2,
        block_jump: 10,
        swap: 5,
        store_double: 2,
        read_status: 2,
        write_flags: 2,
        write_status: 6,
        read_coprocessor: 4,
        write_coprocessor: 2,
        exception: 6,
    };
}
