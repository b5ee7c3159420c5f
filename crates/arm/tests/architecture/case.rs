//! A case: one instruction with a state before it, and the state after it.

use npsim_arm::ByteOrder;

/// The address of the cases in the memory of both sides.
pub const CASES: u32 = 0x0100_0000;
/// The bytes of a case.
pub const CASE: u32 = 128;
/// Where code begins in a case.
pub const STUB: u32 = 80;
/// The longwords of code.
pub const STUB_WORDS: usize = 12;
/// The memory that instructions read and write.
pub const WINDOW: u32 = 0x0001_2000;
/// Its longwords.
pub const WINDOW_WORDS: usize = 64;
/// The places at which code continues after an instruction: directly, or after one of two jumps.
pub const LANDINGS: [u32; 3] = [0x0001_0c54, 0x0001_0c60, 0x0001_0c6c];
/// The flags of a case.
pub const FLAGS: u32 = 0xf800_0000;

/// The offsets in an ARM case at which code continues at the second and third landing.
pub const ARM_PADS: [u32; 2] = [8, 12];
/// The offset in a Thumb case at which code continues at the second landing, in Thumb state.
pub const THUMB_PAD: u32 = 12;
/// The same in ARM state.
pub const THUMB_ARM_PAD: u32 = 16;

/// One instruction, or two in Thumb state, and the initial state.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub code: Code,
    pub flags: u32,
    pub registers: [u32; 15],
}

/// The code of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Code {
    Arm(u32),
    Thumb(u16, u16),
}

/// A Thumb halfword without effect: `mov r8, r8`.
pub const NOP: u16 = 0x46c0;
/// `bx pc`.
const BX_PC: u16 = 0x4778;

/// The compared results.
#[derive(Clone, Debug, PartialEq)]
pub struct After {
    pub landing: u32,
    pub flags: u32,
    pub registers: [u32; 15],
    pub window: [u32; WINDOW_WORDS],
}

/// The address of the code of a case by its number.
pub fn address(number: usize) -> u32 {
    CASES + number as u32 * CASE + STUB
}

/// `b` from an address to another one.
fn branch(from: u32, to: u32) -> u32 {
    0xea00_0000 | (to.wrapping_sub(from + 8) >> 2 & 0x00ff_ffff)
}

fn pair(order: ByteOrder, first: u16, second: u16) -> u32 {
    let (high, low) = match order {
        ByteOrder::Big => (first, second),
        ByteOrder::Little => (second, first),
    };
    u32::from(high) << 16 | u32::from(low)
}

impl Case {
    pub fn thumb(&self) -> bool {
        matches!(self.code, Code::Thumb(..))
    }

    /// The code at an address: the instruction, and ways to the landings.
    pub fn stub(&self, order: ByteOrder, at: u32) -> [u32; STUB_WORDS] {
        let [first, second, third] = LANDINGS;
        let mut words = [0; STUB_WORDS];
        match self.code {
            Code::Arm(word) => {
                words[0] = word;
                words[1] = branch(at + 4, first);
                words[2] = branch(at + 8, second);
                words[3] = branch(at + 12, third);
                // Data for loads relative to PC.
                for (i, word) in words.iter_mut().enumerate().skip(4) {
                    *word = 0x8181_7f01u32.wrapping_mul(i as u32);
                }
                // A landing in Thumb state, for BLX.
                words[4] = pair(order, BX_PC, NOP);
                words[5] = branch(at + 20, second);
            }
            Code::Thumb(one, two) => {
                words[0] = pair(order, one, two);
                words[1] = pair(order, BX_PC, NOP);
                words[2] = branch(at + 8, first);
                words[3] = pair(order, BX_PC, NOP);
                words[4] = branch(at + 16, second);
                for (i, word) in words.iter_mut().enumerate().skip(5) {
                    *word = 0x8181_7f01u32.wrapping_mul(i as u32);
                }
            }
        }
        words
    }

    /// All longwords of a case, as the harness reads them.
    pub fn words(&self, order: ByteOrder, number: usize) -> [u32; CASE as usize / 4] {
        let at = address(number);
        let mut words = [0; CASE as usize / 4];
        words[0] = self.flags;
        words[1..16].copy_from_slice(&self.registers);
        words[16] = at | u32::from(self.thumb());
        words[20..32].copy_from_slice(&self.stub(order, at));
        words
    }
}
