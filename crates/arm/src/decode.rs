//! Words to instructions.

use crate::instruction::Instruction;

/// The instruction of a word in ARM state.
#[must_use]
pub fn decode_arm(word: u32) -> Instruction {
    let _ = word;
    todo!()
}

/// The instruction of a halfword in Thumb state.
#[must_use]
pub fn decode_thumb(half: u16) -> Instruction {
    let _ = half;
    todo!()
}
