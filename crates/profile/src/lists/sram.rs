//! The SRAM channels.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { sram {
            /// SRAM channels.
            channels: u8, "channels", 1..=4 => sram_channels;
            /// Memory of one channel.
            channel_bytes: u32, "bytes", 4096..=67108864 => sram_channel_bytes of board;
            /// Commands that wait at a channel before microengines stall.
            inlet_depth: u8, "commands", 1..=255 => sram_inlet_depth;
            /// Commands in a channel's FIFO of each direction, behind the inlet.
            fifo_depth: u8, "commands", 1..=255 => sram_fifo_depth;
            /// ME cycles per longword and direction on a channel's pins.
            longword_cycles: u64, "ME cycles", 1..=256 => sram_longword_cycles;
            /// Idle latency of a read of one longword.
            read: u64, "ME cycles", 1..=4096 => sram_read;
            /// Idle latency of a write of one longword to its pull signal.
            write: u64, "ME cycles", 1..=4096 => sram_write;
            /// Idle latency of an atomic operation that returns the old value.
            atomic: u64, "ME cycles", 1..=4096 => sram_atomic;
            /// Read half of an atomic operation to its write half.
            atomic_turnaround: u64, "ME cycles", 0..=4096 => sram_atomic_turnaround;
            /// Idle latency of a dequeue.
            dequeue: u64, "ME cycles", 1..=4096 => sram_dequeue;
            /// Idle latency of a ring get of one longword.
            ring_get: u64, "ME cycles", 1..=4096 => sram_ring_get;
            /// Idle latency of a ring put of one longword to its status word.
            ring_put: u64, "ME cycles", 1..=4096 => sram_ring_put;
            /// Idle latency of reading a channel's register.
            csr: u64, "ME cycles", 1..=4096 => sram_csr;
            /// Q-array entries of a channel.
            queue_entries: u8, "entries", 1..=64 => queue_entries;
            /// Least distance of two operations on one Q-array entry.
            same_entry_gap: u64, "ME cycles", 0..=4096 => same_entry_gap;
        } }
    };
}
pub(crate) use parameters;
