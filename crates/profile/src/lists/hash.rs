//! The hash unit.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { hash {
            /// Commands that can wait at the hash unit before microengines stall.
            inlet_depth: u8, "commands", 1..=255 => hash_inlet_depth;
            /// Idle latency of one `hash_48`.
            one: u64, "ME cycles", 1..=4096 => hash_one;
            /// Time that a 48-bit operand spends in the multiplier array.
            array_48: u64, "bus clocks", 1..=64 => hash_array_48;
            /// Time that a 64-bit operand spends in the multiplier array.
            array_64: u64, "bus clocks", 1..=64 => hash_array_64;
            /// Time that a 128-bit operand spends in the multiplier array.
            array_128: u64, "bus clocks", 1..=64 => hash_array_128;
            /// Time that a 48-bit or 64-bit operand spends in each of the input and output
            /// buffers.
            buffer_48_64: u64, "bus clocks", 0..=64 => hash_buffer_48_64;
            /// Time that a 128-bit operand spends in each of the input and output buffers.
            buffer_128: u64, "bus clocks", 0..=64 => hash_buffer_128;
        } }
    };
}
pub(crate) use parameters;
