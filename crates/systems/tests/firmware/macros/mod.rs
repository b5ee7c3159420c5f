//! The macros of `microcode/lib` that compute a value, executed on the chip for thousands of
//! operands and compared with the same in Rust; and those that synchronise contexts, on one
//! microengine and on many.

mod arithmetic;
mod bench;
mod checksums;
mod memory;
mod sharing;
mod words;
