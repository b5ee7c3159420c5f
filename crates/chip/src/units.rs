//! The units that commands go to: memories, media interface, hash unit, chip-wide
//! CSRs, and devices beside an SRAM channel.

pub mod cap;
pub mod dram;
pub mod hash;
pub mod msf;
pub mod scratch;
pub mod sram;
