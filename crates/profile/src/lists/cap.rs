//! The CSR proxy.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { cap {
            /// Commands that wait at the CSR proxy before microengines stall.
            inlet_depth: u8, "commands", 1..=255 => cap_inlet_depth;
            /// Idle latency of a register read.
            read: u64, "ME cycles", 1..=4096 => cap_read;
            /// Idle latency of a register write to its pull signal.
            write: u64, "ME cycles", 1..=4096 => cap_write;
            /// Issue of a fast write to its effect.
            fast_write: u64, "ME cycles", 1..=4096 => cap_fast_write;
            /// Issue of an interthread signal to the signal.
            interthread_signal: u64, "ME cycles", 1..=4096 => interthread_signal;
            /// Idle latency of moving transfer registers between microengines.
            reflect: u64, "ME cycles", 1..=4096 => cap_reflect;
        } }
    };
}
pub(crate) use parameters;
