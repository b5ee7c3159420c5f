//! What an instruction reaches outside of the processor: memory, code and coprocessor registers.

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
    /// Its bytes: 1, 2 or 4.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }
}

/// Which byte of a longword has the lowest address.
///
/// Loads and stores leave the order to the [`Bus`]; the processor needs the order to find the Thumb instruction
/// of a longword of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ByteOrder {
    /// The byte at a multiple of four is bits 31 to 24 (BE-32).
    Big,
    /// The byte at a multiple of four is bits 7 to 0.
    Little,
}

impl ByteOrder {
    /// Where the bytes of an access, which is aligned to its size, stand in their longword: how far above bit 0,
    /// and as many ones as it has bits.
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

/// A register of a coprocessor, as MRC and MCR name it.
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

/// What a write of a coprocessor register does to the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CoprocessorEffect {
    /// Nothing beyond what the bus did.
    Nothing,
    /// Code may have changed: decoded instructions are forgotten, as by [`Cpu::forget_code`](crate::Cpu::forget_code).
    InvalidateCode,
    /// The processor waits for an interrupt: [`Event::WaitForInterrupt`](crate::Event::WaitForInterrupt).
    WaitForInterrupt,
}

/// What surrounds the processor.
///
/// Addresses are those behind [`Cpu::translate`](crate::Cpu::translate), values are zero-extended, and costs are core
/// cycles beyond those of the instruction.
pub trait Bus {
    /// Why an access was not made. The instruction has then changed nothing and can be begun again.
    type Refusal;

    /// The longword of code in which the instruction at an address lies; in Thumb state that may be its second half.
    /// Asked once for each instruction, until [`Cpu::forget_code`](crate::Cpu::forget_code) or a clone of the processor,
    /// which begins without decoded code.
    ///
    /// # Errors
    ///
    /// Where no code can be read.
    fn code(&mut self, address: u32) -> Result<u32, Self::Refusal>;

    /// The cycles that execution waits when it enters another line of 32 bytes. An instruction that is refused
    /// and begun again enters its line once.
    fn enter_line(&mut self, address: u32) -> u32 {
        let _ = address;
        0
    }

    /// Announces the accesses of one instruction that makes several (LDM, STM, LDRD, STRD, SWP): `longwords` from
    /// `address` upwards. A bus that refuses has to do so here: accesses announced and not refused are made.
    ///
    /// # Errors
    ///
    /// Where they are not to be made now.
    fn begin_block(&mut self, address: u32, longwords: u32) -> Result<(), Self::Refusal> {
        let _ = (address, longwords);
        Ok(())
    }

    /// The value at an address that is a multiple of the size, and the cost.
    ///
    /// # Errors
    ///
    /// Where the access is not made.
    fn read(&mut self, address: u32, size: Size) -> Result<(u32, u32), Self::Refusal>;

    /// Writes the low bits of a value at an address that is a multiple of the size; the cost.
    ///
    /// # Errors
    ///
    /// Where the access is not made.
    fn write(&mut self, address: u32, size: Size, value: u32) -> Result<u32, Self::Refusal>;

    /// Whether [`Cpu::run`](crate::Cpu::run) is to return after the instruction whose accesses were just made, as
    /// when they changed an interrupt line.
    fn ends_run(&mut self) -> bool {
        false
    }

    /// The value of a coprocessor register that the bus has. `None`: the processor's own register of that name, or
    /// else the instruction is undefined.
    fn coprocessor_read(&mut self, register: CoprocessorRegister) -> Option<u32> {
        let _ = register;
        None
    }

    /// Writes a coprocessor register that the bus has. `None`: the processor's own register of that name, or else
    /// the instruction is undefined.
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
    fn bytes_stand_in_the_lanes_of_their_order() {
        let shifts = |order: ByteOrder, size| [0, 1, 2, 3].map(|at| order.lane(at, size).0);
        assert_eq!(shifts(ByteOrder::Big, Size::Byte), [24, 16, 8, 0]);
        assert_eq!(shifts(ByteOrder::Little, Size::Byte), [0, 8, 16, 24]);
        let halves = |order: ByteOrder| [0, 2].map(|at| order.lane(at, Size::Half));
        assert_eq!(halves(ByteOrder::Big), [(16, 0xffff), (0, 0xffff)]);
        assert_eq!(halves(ByteOrder::Little), [(0, 0xffff), (16, 0xffff)]);
        assert_eq!(ByteOrder::Big.lane(4, Size::Word), (0, u32::MAX));
    }
}
