//! Words to instructions.

mod arm;
mod operands;
mod thumb;

pub use arm::decode_arm;
pub use operands::registers_used;
pub use thumb::decode_thumb;
