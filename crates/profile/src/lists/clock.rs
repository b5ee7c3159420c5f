//! The clocks.

macro_rules! parameters {
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
pub(crate) use parameters;
