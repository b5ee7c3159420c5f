//! The media interface.

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { msf {
            /// Receive buffer.
            rbuf_bytes: u32, "bytes", 256..=8192 => rbuf_bytes;
            /// Transmit buffer.
            tbuf_bytes: u32, "bytes", 256..=8192 => tbuf_bytes;
            /// Commands that wait at the media interface before microengines stall.
            inlet_depth: u8, "commands", 1..=255 => msf_inlet_depth;
            /// Idle latency of a read of one longword.
            read: u64, "ME cycles", 1..=4096 => msf_read;
            /// Idle latency of a write of one longword to its pull signal.
            write: u64, "ME cycles", 1..=4096 => msf_write;
            /// Issue of a fast write to its effect.
            fast_write: u64, "ME cycles", 1..=4096 => msf_fast_write;
            /// Element valid and thread waiting, to the thread's signal.
            autopush: u64, "ME cycles", 1..=4096 => autopush_latency;
            /// Threads that can wait on the receive freelist.
            receive_freelist_depth: u16, "threads", 1..=1024 => receive_freelist_depth;
            /// Media clocks beside data for one received mpacket.
            receive_overhead: u64, "media clocks", 0..=64 => receive_overhead;
            /// Media clocks beside data for one transmitted mpacket.
            transmit_overhead: u64, "media clocks", 0..=64 => transmit_overhead;
            /// Element valid to its first word on the pins.
            transmit_start: u64, "ME cycles", 0..=4096 => transmit_start;
            /// Bytes that the media bus moves per clock.
            bus_bytes: u64, "bytes", 1..=64 => media_bus_bytes of board;
            /// Room for received frames that are not in RBUF, per port.
            receive_fifo: u32, "bytes", 64..=1048576 => receive_fifo_bytes of board;
            /// Room for frames that have left TBUF and not the port, per port.
            transmit_fifo: u32, "bytes", 256..=1048576 => transmit_fifo_bytes of board;
            /// Fill of a transmit FIFO below which its status says starving.
            transmit_low_water: u32, "bytes", 1..=1048576 => transmit_low_water of board;
            /// Fill of a transmit FIFO above which its status says satisfied.
            transmit_high_water: u32, "bytes", 1..=1048576 => transmit_high_water of board;
            /// Cycles per count of a receive freelist's timeout.
            timeout_unit: u64, "ME cycles", 1..=4096 => freelist_timeout_unit;
        } }
    };
}
pub(crate) use parameters;
