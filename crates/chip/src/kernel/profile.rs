//! What a profile says of clocks, and of the buses between microengines and units.

macro_rules! clock {
    ($collect:ident) => {
        $collect! { clock {
            /// Microengine clock: one cycle of it is the unit of all time.
            me_mhz: u64, "MHz", 1..=10000 => me_mhz;
            /// ME cycles per clock of the internal buses.
            bus_cycle: u64, "ME cycles", 1..=64 => bus_cycle;
            /// Clock of the media interface.
            media_mhz: u64, "MHz", 1..=10000 => media_mhz of board;
        } }
    };
}
pub(crate) use clock;

macro_rules! command {
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
pub(crate) use command;
