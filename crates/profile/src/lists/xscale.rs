//! The general-purpose core as a processor that runs a program.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { xscale {
            /// Clock of the processor.
            core_mhz: u64, "MHz", 1..=10000 => xscale_core_mhz;
            /// Clock that the timers count.
            timer_mhz: u64, "MHz", 1..=1000 => xscale_timer_mhz;
            /// Bytes of the instruction cache, and as many of the data cache.
            cache_bytes: u32, "bytes", 1024..=1048576 => xscale_cache_bytes;
            /// Lines of 32 bytes of which each cache holds any in one set.
            cache_ways: u32, "lines", 1..=1024 => xscale_cache_ways;
            /// A microengine's interrupt to the processor's interrupt line.
            interrupt_delay: u64, "ME cycles", 1..=1048576 => xscale_interrupt_delay;
            /// Result latency of a load, of the first register of LDRD, and one cycle more
            /// of its second.
            load_to_use: u8, "core cycles", 1..=255 => xscale_load_to_use;
            /// Result latency of a multiplication whose multiplier fits 16 bits; up to 28
            /// bits take one cycle more, larger ones two, the upper half of a long product
            /// another.
            multiply: u8, "core cycles", 1..=255 => xscale_multiply;
            /// Result latency of QADD, QSUB, QDADD and QDSUB.
            saturate: u8, "core cycles", 1..=255 => xscale_saturate;
            /// Cycles that an operand shifted by a register, or by RRX, adds.
            register_shift: u8, "core cycles", 0..=255 => xscale_register_shift;
            /// Cycles that a branch adds which the branch target buffer did not foresee; BX
            /// and BLX always.
            branch_mispredicted: u8, "core cycles", 0..=255 => xscale_branch_mispredicted;
            /// Cycles that such a branch of Thumb's adds beyond that.
            thumb_branch: u8, "core cycles", 0..=255 => xscale_thumb_branch;
            /// Cycles that writing PC as the result of a data operation adds.
            jump: u8, "core cycles", 0..=255 => xscale_jump;
            /// Cycles that loading PC adds.
            load_jump: u8, "core cycles", 0..=255 => xscale_load_jump;
            /// Cycles of LDM and STM beside one for each register.
            block: u8, "core cycles", 0..=255 => xscale_block;
            /// Cycles of LDM that loads PC and at most two other registers; each further
            /// one takes a cycle.
            block_jump: u8, "core cycles", 1..=255 => xscale_block_jump;
            /// Cycles of SWP and SWPB.
            swap: u8, "core cycles", 1..=255 => xscale_swap;
            /// Cycles of STRD.
            store_double: u8, "core cycles", 1..=255 => xscale_store_double;
            /// Result latency of MRS.
            read_status: u8, "core cycles", 1..=255 => xscale_read_status;
            /// Cycles of MSR that writes flags alone.
            write_flags: u8, "core cycles", 1..=255 => xscale_write_flags;
            /// Cycles of MSR that writes control bits.
            write_status: u8, "core cycles", 1..=255 => xscale_write_status;
            /// Cycles of MRC.
            read_coprocessor: u8, "core cycles", 1..=255 => xscale_read_coprocessor;
            /// Cycles of MCR.
            write_coprocessor: u8, "core cycles", 1..=255 => xscale_write_coprocessor;
            /// Cycles from an instruction that takes an exception, or the one before which
            /// an interrupt is taken, to its vector.
            exception: u8, "core cycles", 1..=255 => xscale_exception;
        } }
    };
}
pub(crate) use parameters;
