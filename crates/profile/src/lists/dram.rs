//! The DRAM channels.

use crate::named::named;

named! {
    /// The state of a bank's row after an access.
    pub enum RowPolicy {
        /// The row is closed after each access.
        Closed = "closed",
        /// The row stays open until another row of the bank is accessed or a refresh comes. A row
        /// holds the bytes before the next bank follows.
        Open = "open",
    }
}

named! {
    /// Which banks a refresh blocks.
    pub enum RefreshPolicy {
        /// One set of banks at a time, in turn.
        InTurn = "in-turn",
        /// All banks.
        AllBank = "all-bank",
    }
}

macro_rules! parameters {
    ($collect:ident) => {
        $collect! { dram {
            /// DRAM channels.
            channels: u8, "channels", 1..=3 => dram_channels;
            /// Memory of one channel.
            channel_bytes: u32, "bytes", 4096..=1073741824 => dram_channel_bytes of board;
            /// Bytes after which the next channel follows.
            channel_interleave: u32, "bytes", 8..=1048576 => dram_channel_interleave;
            /// Commands that wait at a channel before microengines stall.
            inlet_depth: u8, "commands", 1..=255 => dram_inlet_depth;
            /// Banks with a command FIFO of their own.
            banks: u8, "banks", 1..=32 => dram_banks;
            /// Commands in a bank's FIFO.
            bank_fifo_depth: u8, "commands", 1..=64 => dram_bank_fifo_depth;
            /// Bytes after which the next bank follows.
            bank_interleave: u32, "bytes", 8..=16777216 => dram_bank_interleave;
            /// The state of a bank's row after an access.
            rows: crate::RowPolicy => dram_rows;
            /// Bytes that one burst moves.
            burst_bytes: u32, "bytes", 8..=256 => dram_burst_bytes;
            /// Time one burst keeps the data pins busy.
            burst_half_cycles: u64, "half ME cycles", 1..=2048 => dram_burst_half_cycles;
            /// Row activation to column command.
            row_to_column: u64, "ME cycles", 0..=1024 => dram_row_to_column;
            /// Column command to first data.
            column_to_data: u64, "ME cycles", 0..=1024 => dram_column_to_data;
            /// Least distance of two row activations in one bank.
            row_cycle: u64, "ME cycles", 0..=1024 => dram_row_cycle;
            /// Precharge: last data to the next activation in the bank.
            precharge: u64, "ME cycles", 0..=1024 => dram_precharge;
            /// Last written data to precharge.
            write_recovery: u64, "ME cycles", 0..=1024 => dram_write_recovery;
            /// Data bus gap from a read to a write.
            read_to_write: u64, "ME cycles", 0..=1024 => dram_read_to_write;
            /// Data bus gap from a write to a read.
            write_to_read: u64, "ME cycles", 0..=1024 => dram_write_to_read;
            /// Distance of refreshes.
            refresh_interval: u64, "ME cycles", 128..=1000000000 => dram_refresh_interval;
            /// Which banks a refresh blocks.
            refresh: crate::RefreshPolicy => dram_refresh;
            /// Banks that are refreshed together, where sets of them take turns.
            refresh_banks: u8, "banks", 1..=32 => dram_refresh_banks;
            /// Time a refresh blocks its banks.
            refresh_cycles: u64, "ME cycles", 0..=100000 => dram_refresh_cycles;
            /// Idle latency of a read of one quadword.
            read: u64, "ME cycles", 1..=4096 => dram_read;
            /// Idle latency of a write of one quadword to its pull signals.
            write: u64, "ME cycles", 1..=4096 => dram_write;
            /// Idle latency of moving 64 bytes from RBUF to its signals.
            rbuf_rd: u64, "ME cycles", 1..=4096 => dram_rbuf_rd;
            /// Idle latency of moving 64 bytes to TBUF to its signals.
            tbuf_wr: u64, "ME cycles", 1..=4096 => dram_tbuf_wr;
        } }
    };
}
pub(crate) use parameters;
