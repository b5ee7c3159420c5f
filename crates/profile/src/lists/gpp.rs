//! The general-purpose core.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { gpp {
            /// Time of one access by the general-purpose core to a scratch ring or CSR.
            ring_access: u64, "ME cycles", 1..=65536 => gpp_ring_access;
            /// Time of one access by the core to an SRAM longword or a Q-array entry.
            sram_access: u64, "ME cycles", 1..=65536 => gpp_sram_access;
            /// Time of one read or write by the core of up to 32 bytes of DRAM.
            dram_access: u64, "ME cycles", 1..=65536 => gpp_dram_access;
            /// Time of the instructions that handle one exception packet, without its
            /// accesses.
            exception_work: u64, "ME cycles", 0..=1048576 => gpp_exception_work;
            /// Time of the instructions that compute a congestion control law once, without
            /// its accesses.
            law_work: u64, "ME cycles", 0..=1048576 => gpp_law_work;
            /// Time of the instructions that decide on a reply by the core, such as an ICMP
            /// message, and build it, without its accesses.
            reply_work: u64, "ME cycles", 0..=1048576 => gpp_reply_work;
            /// Time from an interrupt to the first access of its handler.
            interrupt_latency: u64, "ME cycles", 1..=1048576 => gpp_interrupt_latency;
        } }
    };
}
pub(crate) use parameters;
