//! The core cycles that instructions take, excluding the cost of the bus.

use serde::{Deserialize, Serialize};

/// The timing parameters of the pipeline, each in core cycles.
///
/// One instruction is issued per cycle. With a result latency of *n*, an instruction that uses the result can be issued
/// *n* cycles after the one that produces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Result latency of LDR, LDRB, LDRH, LDRSB and LDRSH, of the first register of LDRD, and of SWP on top of its
    /// other cycles.
    pub load_to_use: u8,
    /// Result latency of a multiplication whose multiplier Rs fits 16 bits; one of up to 28 bits takes one cycle more,
    /// a larger one two, and the high half of a long product another one. With S, the flags wait for the product.
    pub multiply: u8,
    /// Result latency of QADD, QSUB, QDADD and QDSUB.
    pub saturate: u8,
    /// Additional cycles for a shift by a register.
    pub register_shift: u8,
    /// Additional cycles for a branch that the branch target buffer mispredicts, and always for BX and BLX.
    pub branch_mispredicted: u8,
    /// Further cycles for such a branch in Thumb state.
    pub thumb_branch: u8,
    /// Additional cycles for writing PC as the result of a data operation.
    pub jump: u8,
    /// Additional cycles for loading PC.
    pub load_jump: u8,
    /// Cycles of LDM and STM in addition to one per register.
    pub block: u8,
    /// Cycles of an LDM that loads PC and at most two other registers; each further register takes one more cycle.
    pub block_jump: u8,
    /// Cycles of SWP and SWPB.
    pub swap: u8,
    /// Cycles of STRD.
    pub store_double: u8,
    /// Result latency of MRS.
    pub read_status: u8,
    /// Cycles of an MSR that writes only flags.
    pub write_flags: u8,
    /// Cycles of an MSR that writes the control bits.
    pub write_status: u8,
    /// Cycles of MRC.
    pub read_coprocessor: u8,
    /// Cycles of MCR.
    pub write_coprocessor: u8,
    /// Cycles from the instruction that takes an exception, or the one before which an interrupt is taken, to the
    /// vector.
    pub exception: u8,
}

impl Timing {
    /// The XScale's timing, for use without a chip profile. Chip profiles have the same numbers, with the source of
    /// each.
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
