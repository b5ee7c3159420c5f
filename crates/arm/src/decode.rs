//! Decoding of words to instructions.

mod arm;
mod operands;
mod thumb;

pub use arm::decode_arm;
pub use operands::registers_used;
pub use thumb::decode_thumb;

use crate::instruction::{Address, Operation, Width};

/// Makes a load or store of one register, with user privileges or the current ones.
const fn access(load: bool, width: Width, user: bool, rd: u8, address: Address) -> Operation {
    if load {
        Operation::Load {
            width,
            user,
            rd,
            address,
        }
    } else {
        Operation::Store {
            width,
            user,
            rd,
            address,
        }
    }
}
