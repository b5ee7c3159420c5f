//! The general-purpose core.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { gpp {
            /// One access of the general-purpose core to a scratch ring or CSR.
            ring_access: u64, "ME cycles", 1..=65536 => gpp_ring_access;
            /// One access to an SRAM longword or to a Q-array entry.
            sram_access: u64, "ME cycles", 1..=65536 => gpp_sram_access;
            /// One read or write of up to 32 bytes of DRAM.
            dram_access: u64, "ME cycles", 1..=65536 => gpp_dram_access;
            /// Instructions that handle one exception packet, beside its accesses.
            exception_work: u64, "ME cycles", 0..=1048576 => gpp_exception_work;
            /// Instructions that compute a law of congestion control once, beside its
            /// accesses.
            law_work: u64, "ME cycles", 0..=1048576 => gpp_law_work;
            /// Instructions that decide on an answer of the core's own, such as an ICMP
            /// message, and make it, beside its accesses.
            reply_work: u64, "ME cycles", 0..=1048576 => gpp_reply_work;
            /// Interrupt raised to the first access of its handler.
            interrupt_latency: u64, "ME cycles", 1..=1048576 => gpp_interrupt_latency;
        } }
    };
}
pub(crate) use parameters;
