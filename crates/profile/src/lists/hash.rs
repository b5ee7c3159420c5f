//! The hash unit.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { hash {
            /// Commands that wait at the hash unit before microengines stall.
            inlet_depth: u8, "commands", 1..=255 => hash_inlet_depth;
            /// Idle latency of one `hash_48`.
            one: u64, "ME cycles", 1..=4096 => hash_one;
            /// Time a 48-bit operand is in the multiplier array.
            array_48: u64, "bus clocks", 1..=64 => hash_array_48;
            /// Time a 64-bit operand is in the multiplier array.
            array_64: u64, "bus clocks", 1..=64 => hash_array_64;
            /// Time a 128-bit operand is in the multiplier array.
            array_128: u64, "bus clocks", 1..=64 => hash_array_128;
            /// Time in the input and in the output buffer, 48 and 64 bits, each way.
            buffer_48_64: u64, "bus clocks", 0..=64 => hash_buffer_48_64;
            /// Time in the input and in the output buffer, 128 bits, each way.
            buffer_128: u64, "bus clocks", 0..=64 => hash_buffer_128;
        } }
    };
}
pub(crate) use parameters;
