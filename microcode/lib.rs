//! The sources that measure a chip, as text for `npsim chip`. All other microcode is read from
//! the disk.

/// A source: its path in this folder and its text.
pub type Source = (&'static str, &'static str);

macro_rules! sources {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!($path))),*]
    };
}

/// What measures latencies and bandwidths, and the macros that it includes.
pub const MEASURING: &[Source] = sources![
    "latency/measure.uc",
    "latency/scratch.uc",
    "latency/sram.uc",
    "latency/dram.uc",
    "latency/hash.uc",
    "latency/msf.uc",
    "latency/cap.uc",
    "stress/spread.uc",
    "stress/scratch.uc",
    "stress/sram_read.uc",
    "stress/sram_write.uc",
    "stress/sram_both.uc",
    "stress/dram.uc",
    "stress/command_bus.uc",
    "stress/s_push.uc",
    "stress/s_pull.uc",
    "stress/d_push.uc",
    "stress/d_pull.uc",
    "stress/hash.uc",
    "stress/feedback_quick_start.uc",
    "stress/feedback_xcp.uc",
    "stress/media_in.uc",
    "stress/media_out.uc",
    "lib/constant.uc",
    "lib/rbuf.uc",
    "lib/tbuf.uc",
];
