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
        } }
    };
}
pub(crate) use parameters;
