//! The scratchpad.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { scratch {
            /// Size of the scratchpad.
            bytes: u32, "bytes", 4096..=65536 => scratch_bytes;
            /// Commands that wait at the scratchpad before microengines stall.
            inlet_depth: u8, "commands", 1..=255 => scratch_inlet_depth;
            /// Bus clocks the scratchpad is busy per longword.
            occupancy: u64, "bus clocks", 1..=16 => scratch_occupancy;
            /// Idle latency of a read of one longword.
            read: u64, "ME cycles", 1..=4096 => scratch_read;
            /// Idle latency of a write of one longword to its pull signal.
            write: u64, "ME cycles", 1..=4096 => scratch_write;
            /// Idle latency of an atomic operation that returns the old value.
            atomic: u64, "ME cycles", 1..=4096 => scratch_atomic;
            /// Idle latency of a ring get of one longword.
            ring_get: u64, "ME cycles", 1..=4096 => scratch_ring_get;
            /// Idle latency of a ring put of one longword to its pull signal.
            ring_put: u64, "ME cycles", 1..=4096 => scratch_ring_put;
            /// Ring operation to its visibility in the ring's status bit.
            ring_status_lag: u64, "ME cycles", 0..=4096 => ring_status_lag;
            /// Fill at which a ring counts as nearly full.
            ring_full_percent: u32, "percent", 1..=100 => ring_full_percent;
        } }
    };
}
pub(crate) use parameters;
