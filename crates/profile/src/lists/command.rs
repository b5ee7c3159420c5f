//! The buses between microengines and units.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { command {
            /// Time from the issue of a command to its arrival at the unit, without
            /// waiting.
            issue_to_inlet: u64, "ME cycles", 1..=256 => issue_to_inlet;
            /// Time from the last word on a push or pull bus to the transfer register and
            /// signal.
            transfer_latency: u64, "ME cycles", 0..=256 => transfer_latency;
            /// Data that can wait in a unit for an S push bus before the unit stops
            /// reading.
            s_push_fifo: u64, "longwords", 1..=1024 => s_push_fifo;
            /// Data that can wait in DRAM for the D push bus before DRAM stops reading.
            d_push_fifo: u64, "quadwords", 1..=1024 => d_push_fifo;
        } }
    };
}
pub(crate) use parameters;
