//! The general-purpose core as a processor that runs a program.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { xscale {
            /// Clock of the processor.
            core_mhz: u64, "MHz", 1..=10000 => xscale_core_mhz;
            /// Clock of the timers.
            timer_mhz: u64, "MHz", 1..=1000 => xscale_timer_mhz;
            /// Size of the instruction cache, and of the data cache.
            cache_bytes: u32, "bytes", 1024..=1048576 => xscale_cache_bytes;
            /// Associativity of each cache: lines of 32 bytes per set.
            cache_ways: u32, "lines", 1..=1024 => xscale_cache_ways;
            /// Time from a microengine's interrupt to the processor's interrupt line.
            interrupt_delay: u64, "ME cycles", 1..=1048576 => xscale_interrupt_delay;
            /// Result latency of a load and of the first register of LDRD; the second takes
            /// one cycle more.
            load_to_use: u8, "core cycles", 1..=255 => xscale_load_to_use;
            /// Result latency of a multiplication whose multiplier fits 16 bits; one of up
            /// to 28 bits takes one cycle more, a larger one two, and the upper half of a
            /// long product another one.
            multiply: u8, "core cycles", 1..=255 => xscale_multiply;
            /// Result latency of QADD, QSUB, QDADD and QDSUB.
            saturate: u8, "core cycles", 1..=255 => xscale_saturate;
            /// Additional cycles for an operand shifted by a register, or by RRX.
            register_shift: u8, "core cycles", 0..=255 => xscale_register_shift;
            /// Additional cycles for a branch that the branch target buffer mispredicts,
            /// and always for BX and BLX.
            branch_mispredicted: u8, "core cycles", 0..=255 => xscale_branch_mispredicted;
            /// Further cycles for a mispredicted branch in Thumb state.
            thumb_branch: u8, "core cycles", 0..=255 => xscale_thumb_branch;
            /// Additional cycles for writing PC as the result of a data operation.
            jump: u8, "core cycles", 0..=255 => xscale_jump;
            /// Additional cycles for loading PC.
            load_jump: u8, "core cycles", 0..=255 => xscale_load_jump;
            /// Cycles of LDM and STM in addition to one per register.
            block: u8, "core cycles", 0..=255 => xscale_block;
            /// Cycles of an LDM that loads PC and at most two other registers; each further
            /// register takes one more cycle.
            block_jump: u8, "core cycles", 1..=255 => xscale_block_jump;
            /// Cycles of SWP and SWPB.
            swap: u8, "core cycles", 1..=255 => xscale_swap;
            /// Cycles of STRD.
            store_double: u8, "core cycles", 1..=255 => xscale_store_double;
            /// Result latency of MRS.
            read_status: u8, "core cycles", 1..=255 => xscale_read_status;
            /// Cycles of an MSR that writes only flags.
            write_flags: u8, "core cycles", 1..=255 => xscale_write_flags;
            /// Cycles of an MSR that writes the control bits.
            write_status: u8, "core cycles", 1..=255 => xscale_write_status;
            /// Cycles of MRC.
            read_coprocessor: u8, "core cycles", 1..=255 => xscale_read_coprocessor;
            /// Cycles of MCR.
            write_coprocessor: u8, "core cycles", 1..=255 => xscale_write_coprocessor;
            /// Cycles from the instruction that takes an exception, or the one before which
            /// an interrupt is taken, to the vector.
            exception: u8, "core cycles", 1..=255 => xscale_exception;
        } }
    };
}
pub(crate) use parameters;
