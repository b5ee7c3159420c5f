//! An interpreter of ARMv5TE: ARM and Thumb state, the E multiplications and saturating arithmetic, all modes with
//! their banked registers, exceptions, both interrupt lines, and the system coprocessor as programs without an operating
//! system use it. It knows no chip: what surrounds the processor is a [`Bus`].
//!
//! An instruction is decoded once and kept ([`Cpu::forget_code`]). Time is core cycles, by [`Timing`]: one an
//! instruction, the wait for results of loads and multiplications that come later, branches that the branch target
//! buffer does not foresee, and what the bus adds.
//!
//! [`Cpu::step`] makes one instruction, [`Cpu::run`] many. An instruction whose access the bus refuses has changed
//! nothing and is begun again by the next call.

// The loop over instructions is one function.
#![allow(clippy::inline_always)]
// Decoded instructions are read where they are kept: copying one takes longer than executing it.
#![allow(clippy::trivially_copy_pass_by_ref)]
// Masks of address bits read as such.
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
