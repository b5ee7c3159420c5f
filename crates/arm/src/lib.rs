//! An interpreter for ARMv5TE: ARM and Thumb state, the E multiplications and saturating arithmetic, all modes with
//! their banked registers, exceptions, both interrupt lines, and the system coprocessor as used by programs without an
//! operating system. It is independent of any chip: the processor's environment is a [`Bus`].
//!
//! An instruction is decoded once and cached ([`Cpu::forget_code`]). Time is counted in core cycles, according to
//! [`Timing`]: one per instruction, plus waiting for results of loads and multiplications, branches that the branch
//! target buffer mispredicts, and the cost of the bus.
//!
//! [`Cpu::step`] executes one instruction, [`Cpu::run`] many. An instruction whose access the bus refuses has had no
//! effect, and the next call restarts it.

// The interpreter's loop must become a single function.
#![allow(clippy::inline_always)]
// Decoded instructions are read in place: copying one takes longer than executing it.
#![allow(clippy::trivially_copy_pass_by_ref)]
// Masks of address bits are clearer as masks.
#![allow(clippy::verbose_bit_mask)]

mod bus;
mod code;
mod cpu;
mod decode;
mod display;
mod exception;
mod execute;
mod instruction;
mod pipeline;
mod registers;
pub mod status;
mod system;
mod timing;

pub use bus::{Bus, ByteOrder, CoprocessorEffect, CoprocessorRegister, Size};
pub use cpu::Cpu;
pub use decode::{decode_arm, decode_thumb};
pub use exception::{Event, Exception, Line, RunEnd, Step, Unpredictable};
pub use instruction::{
    Address, Block, Condition, DataOp, HalfMultiply, Index, Instruction, Offset, Operand,
    Operation, Saturating, Shift, Width,
};
pub use status::Mode;
pub use timing::Timing;
