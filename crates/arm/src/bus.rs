//! The bus: memory, code and coprocessor registers outside of the processor.

use serde::{Deserialize, Serialize};

/// The width of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Size {
    /// Eight bits.
    Byte,
    /// Sixteen bits.
    Half,
    /// Thirty-two bits.
    Word,
}

impl Size {
    /// Returns the size in bytes: 1, 2 or 4.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }
}

/// The position of the lowest-addressed byte in a longword.
///
/// For loads and stores, the [`Bus`] handles the order; the processor needs it to find a Thumb instruction within a
/// longword of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ByteOrder {
    /// Bits 31 to 24 hold the byte at a multiple of four (BE-32).
    Big,
    /// Bits 7 to 0 hold the byte at a multiple of four.
    Little,
}

impl ByteOrder {
    /// Returns where an access, aligned to its size, lies within its longword: the shift from bit 0, and an unshifted
    /// mask as wide as the access.
    #[must_use]
    pub const fn lane(self, address: u32, size: Size) -> (u32, u32) {
        let bits = 8 * size.bytes();
        let first = 8 * (address & 3);
        let shift = match self {
            Self::Big => 32 - bits - first,
            Self::Little => first,
        };
        (shift, u32::MAX >> (32 - bits))
    }
}

/// A coprocessor register, as MRC and MCR name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CoprocessorRegister {
    /// The coprocessor, 0 to 15.
    pub coprocessor: u8,
    /// The first operation code, 0 to 7.
    pub opcode1: u8,
    /// The register `CRn`, 0 to 15.
    pub crn: u8,
    /// The register `CRm`, 0 to 15.
    pub crm: u8,
    /// The second operation code, 0 to 7.
    pub opcode2: u8,
}

/// The effect of a coprocessor register write on the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CoprocessorEffect {
    /// No effect beyond what the bus did.
    Nothing,
    /// Code may have changed: decoded instructions are discarded, as by [`Cpu::forget_code`](crate::Cpu::forget_code).
    InvalidateCode,
    /// The processor waits for an interrupt: [`Event::WaitForInterrupt`](crate::Event::WaitForInterrupt).
    WaitForInterrupt,
}

/// The environment of the processor.
///
/// Addresses are the results of [`Cpu::translate`](crate::Cpu::translate), values are zero-extended, and costs are core
/// cycles in addition to those of the instruction.
pub trait Bus {
    /// The reason why an access was refused. The instruction has then changed nothing and can be restarted.
    type Refusal;

    /// Returns the longword of code that contains the instruction at an address; in Thumb state, that may be its second
    /// half. Called once per instruction, until [`Cpu::forget_code`](crate::Cpu::forget_code) or a clone of the
    /// processor, which starts without decoded code.
    ///
    /// # Errors
    ///
    /// Returns an error if no code can be read there.
    fn code(&mut self, address: u32) -> Result<u32, Self::Refusal>;

    /// Returns the cycles that execution waits on entering another 32-byte line. An instruction that is refused and
    /// restarted enters its line only once.
    fn enter_line(&mut self, address: u32) -> u32 {
        let _ = address;
        0
    }

    /// Announces the accesses of an instruction that makes several (LDM, STM, LDRD, STRD, SWP): `longwords` from
    /// `address` upwards. A bus must refuse here if at all: accesses announced and not refused are made.
    ///
    /// # Errors
    ///
    /// Returns an error if the accesses must not be made now.
    fn begin_block(&mut self, address: u32, longwords: u32) -> Result<(), Self::Refusal> {
        let _ = (address, longwords);
        Ok(())
    }

    /// Returns the value at an address that is a multiple of the size, and the cost.
    ///
    /// # Errors
    ///
    /// Returns an error if the access is refused.
    fn read(&mut self, address: u32, size: Size) -> Result<(u32, u32), Self::Refusal>;

    /// Writes the low bits of a value at an address that is a multiple of the size; returns the cost.
    ///
    /// # Errors
    ///
    /// Returns an error if the access is refused.
    fn write(&mut self, address: u32, size: Size, value: u32) -> Result<u32, Self::Refusal>;

    /// Whether [`Cpu::run`](crate::Cpu::run) should return after the instruction whose accesses were just made, for
    /// example because they changed an interrupt line.
    fn ends_run(&mut self) -> bool {
        false
    }

    /// Returns the value of a coprocessor register that the bus implements. `None` selects the processor's own register
    /// of that name; if there is none, the instruction is undefined.
    fn coprocessor_read(&mut self, register: CoprocessorRegister) -> Option<u32> {
        let _ = register;
        None
    }

    /// Writes a coprocessor register that the bus implements. `None` selects the processor's own register of that name;
    /// if there is none, the instruction is undefined.
    fn coprocessor_write(
        &mut self,
        register: CoprocessorRegister,
        value: u32,
    ) -> Option<CoprocessorEffect> {
        let _ = (register, value);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_lanes_follow_the_byte_order() {
        let shifts = |order: ByteOrder, size| [0, 1, 2, 3].map(|at| order.lane(at, size).0);
        assert_eq!(shifts(ByteOrder::Big, Size::Byte), [24, 16, 8, 0]);
        assert_eq!(shifts(ByteOrder::Little, Size::Byte), [0, 8, 16, 24]);
        let halves = |order: ByteOrder| [0, 2].map(|at| order.lane(at, Size::Half));
        assert_eq!(halves(ByteOrder::Big), [(16, 0xffff), (0, 0xffff)]);
        assert_eq!(halves(ByteOrder::Little), [(0, 0xffff), (16, 0xffff)]);
        assert_eq!(ByteOrder::Big.lane(4, Size::Word), (0, u32::MAX));
    }
}
