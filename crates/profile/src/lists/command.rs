//! The buses between microengines and units.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { command {
            /// Issue of a command to its arrival at the unit, without waiting.
            issue_to_inlet: u64, "ME cycles", 1..=256 => issue_to_inlet;
            /// Last word on a push or pull bus to transfer register and signal.
            transfer_latency: u64, "ME cycles", 0..=256 => transfer_latency;
            /// Data for an S push bus that a unit can have waiting before it stops reading.
            s_push_fifo: u64, "longwords", 1..=1024 => s_push_fifo;
            /// Data for the D push bus that DRAM can have waiting before it stops reading.
            d_push_fifo: u64, "quadwords", 1..=1024 => d_push_fifo;
        } }
    };
}
pub(crate) use parameters;
