//! The datapath: registers, the arithmetic-logic unit and all that works
//! without leaving the microengine, as one `match`.

use crate::cam::Cam;
use crate::crc;
use crate::operation::{Kind, Op};
use crate::registers::{SLOTS, TEMP_A, TEMP_B, TEMP_D, new_file, saved_file};
use npsim_chip::kernel::snapshot::stamp;
use serde::{Deserialize, Serialize};

/// Condition codes as what they come from: a sum `x + y (+ carry) = result`,
/// so that only branches pay for them. Logical results are `result + 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Codes {
    pub x: u32,
    pub y: u32,
    pub result: u32,
}

impl Codes {
    /// What an operation that has a [`result`] and sets the codes sets them to, from its
    /// operands and that result.
    #[inline(always)]
    #[allow(clippy::inline_always)] // With a constant kind one of the arms is left.
    pub fn of(kind: Kind, x: u32, y: u32, result: u32) -> Self {
        let (x, y) = match kind {
            Kind::Add => (x, y),
            Kind::Add16 => (x, y & 0xffff),
            Kind::Add8 => (x, y & 0xff),
            // The carry in is 1.
            Kind::Sub => (x, !y),
            Kind::SubReverse => (y, !x),
            _ => (result, 0),
        };
        Self { x, y, result }
    }

    #[inline]
    pub fn negative(self) -> bool {
        self.result >> 31 != 0
    }
    #[inline]
    pub fn zero(self) -> bool {
        self.result == 0
    }
    #[inline]
    pub fn carry(self) -> bool {
        (self.x & self.y | (self.x | self.y) & !self.result) >> 31 != 0
    }
    #[inline]
    pub fn overflow(self) -> bool {
        ((self.x ^ self.result) & (self.y ^ self.result)) >> 31 != 0
    }
}

/// What an operation that has a quick form makes of its operands, its shift count and mask
/// or its value, and of the mask that says what it keeps.
#[inline(always)]
#[allow(clippy::inline_always)] // With a constant kind one of the arms is left.
pub(crate) fn result(kind: Kind, (n, value): (u8, u32), x: u32, y: u32, kept: u32) -> u32 {
    let shifted = y.rotate_right(u32::from(n)) & value;
    match kind {
        Kind::B => y,
        Kind::NotB => !y,
        Kind::Add => x.wrapping_add(y),
        Kind::Add16 => x.wrapping_add(y & 0xffff),
        Kind::Add8 => x.wrapping_add(y & 0xff),
        Kind::And => x & y,
        Kind::NotAAnd => !x & y,
        Kind::AndNot => x & !y,
        Kind::Or => x | y,
        Kind::Xor => x ^ y,
        Kind::Sub => x.wrapping_sub(y),
        Kind::SubReverse => y.wrapping_sub(x),
        Kind::ShfB => shifted,
        Kind::ShfNotB => !shifted,
        Kind::ShfAnd => x & shifted,
        Kind::ShfNotAAnd => !x & shifted,
        Kind::ShfAndNot => x & !shifted,
        Kind::ShfOr => x | shifted,
        Kind::LdField => x & kept | shifted,
        Kind::Immed => value,
        Kind::ImmedMerge => x & kept | value,
        _ => 0,
    }
}

/// Whether a branch with a number is taken: on the codes, on a word of a register, or on
/// the context that runs.
#[inline(always)]
#[allow(clippy::inline_always)] // With a constant kind one of the arms is left.
pub(crate) fn taken(kind: Kind, number: u32, codes: Codes, word: u32, context: u8) -> bool {
    let lower = || codes.negative() != codes.overflow();
    match kind {
        Kind::Br => true,
        Kind::Beq => codes.zero(),
        Kind::Bne => !codes.zero(),
        Kind::Bmi => codes.negative(),
        Kind::Bpl => !codes.negative(),
        Kind::Bcs => codes.carry(),
        Kind::Bcc => !codes.carry(),
        Kind::Bvs => codes.overflow(),
        Kind::Bvc => !codes.overflow(),
        Kind::Bge => !lower(),
        Kind::Blt => lower(),
        Kind::Ble => codes.zero() || lower(),
        Kind::Bgt => !codes.zero() && !lower(),
        Kind::BrCtx => u32::from(context) == number,
        Kind::BrNotCtx => u32::from(context) != number,
        Kind::BrBitSet => word & number != 0,
        Kind::BrBitClear => word & number == 0,
        Kind::BrByte => word >> (number >> 8) & 0xff == number & 0xff,
        Kind::BrNotByte => word >> (number >> 8) & 0xff != number & 0xff,
        _ => false,
    }
}

/// Where control goes after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Sequential,
    /// To the operation's target.
    Taken,
    /// To a computed address.
    Jump(u32),
}

/// State that pure operations read and write.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Datapath {
    #[serde(with = "saved_file")]
    pub file: [u32; SLOTS],
    #[serde(with = "stamp::datapath")]
    pub codes: Codes,
    /// A operand of the previous operation: the count of indirect shifts.
    #[serde(with = "stamp::datapath")]
    pub previous_a: u32,
    /// Result of the previous operation: the fill of `asr`, the override word.
    #[serde(with = "stamp::datapath")]
    pub previous_result: u32,
    align_be: u32,
    align_le: u32,
    multiplicand: u32,
    multiplier: u32,
    pub cam: Cam,
    pub crc_remainder: u32,
    pub byte_index: u32,
    /// Running context.
    pub context: u8,
}

impl Datapath {
    pub fn new() -> Self {
        Self {
            file: new_file(),
            codes: Codes::default(),
            previous_a: 0,
            previous_result: 0,
            align_be: 0,
            align_le: 0,
            multiplicand: 0,
            multiplier: 0,
            cam: Cam::new(),
            crc_remainder: 0,
            byte_index: 0,
            context: 0,
        }
    }

    /// First register of the running context, in both context modes.
    #[inline]
    pub fn base(&self) -> u16 {
        u16::from(self.context) * 16
    }

    #[inline]
    pub fn get(&self, slot: u16) -> u32 {
        self.file[slot as usize & (SLOTS - 1)]
    }

    #[inline]
    pub fn put(&mut self, slot: u16, value: u32) {
        self.file[slot as usize & (SLOTS - 1)] = value;
    }

    #[inline]
    pub(crate) fn plain(&mut self, op: &Op, a: u32, result: u32) {
        self.put(op.d, result);
        self.previous_a = a;
        self.previous_result = result;
    }

    #[inline]
    fn logical(&mut self, op: &Op, a: u32, result: u32) {
        self.codes = Codes {
            x: result,
            y: 0,
            result,
        };
        self.plain(op, a, result);
    }

    /// A sum with the carry that the codes have.
    #[inline]
    fn sum_with_carry(&mut self, op: &Op, x: u32, y: u32) {
        let carry = u32::from(self.codes.carry());
        let result = x.wrapping_add(y).wrapping_add(carry);
        self.codes = Codes { x, y, result };
        self.plain(op, x, result);
    }

    /// Executes one operation or decides one branch.
    pub fn step(&mut self, op: &Op) -> Next {
        match op.kind {
            Kind::Jump => Next::Jump(self.get(op.a).wrapping_add(op.x)),
            kind if kind.branches() => {
                if self.condition(op) {
                    Next::Taken
                } else {
                    Next::Sequential
                }
            }
            _ => {
                self.operate_apart(op);
                Next::Sequential
            }
        }
    }

    /// Whether a branch is taken.
    pub fn condition(&self, op: &Op) -> bool {
        self.decides(op.kind, op)
    }

    /// Whether a branch that is known to be of a kind is taken.
    #[inline(always)]
    #[allow(clippy::inline_always)] // With a constant kind one of the arms is left.
    pub fn decides(&self, kind: Kind, op: &Op) -> bool {
        taken(kind, op.x, self.codes, self.get(op.b), self.context)
    }

    /// Executes one operation whose kind [`Kind::is_of_datapath`].
    #[inline(always)]
    #[allow(clippy::inline_always)] // The two callers are the hot loop and its slow twin.
    pub fn operate(&mut self, op: &Op) {
        self.operate_as(op.kind, op);
    }

    /// Executes some operations that are plain; gives whether the last of them sets the codes.
    #[inline]
    pub fn operate_each(&mut self, plain: &[Op]) -> bool {
        let mut sets_codes = false;
        for op in plain {
            self.operate_apart(op);
            sets_codes = op.marks & Op::SETS_CODES != 0;
        }
        sets_codes
    }

    /// Executes an operation of which one or more operands are a word of local memory, which
    /// shows in the slots, and the others registers.
    #[inline]
    pub fn operate_on(&mut self, word: &mut u32, op: &Op) {
        if op.a == TEMP_A {
            self.put(TEMP_A, *word);
        }
        if op.b == TEMP_B {
            self.put(TEMP_B, *word);
        }
        self.operate_apart(op);
        if op.d == TEMP_D {
            *word = self.get(TEMP_D);
        }
    }

    /// Executes an operation that is known to be of a kind; gives whether the branch behind it
    /// is taken, of a kind that reads nothing but the codes.
    #[inline(always)]
    #[allow(clippy::inline_always)] // With constant kinds one of the ways is left.
    pub fn operate_and_decide(&mut self, (kind, op): (Kind, &Op), branch: Kind) -> bool {
        // A difference carries unless it borrows, which the compiler does not find out.
        let unborrowed = self.get(op.a) >= self.get(op.b);
        self.operate_as(kind, op);
        match (kind, branch) {
            (Kind::Sub, Kind::Bcs) => unborrowed,
            (Kind::Sub, Kind::Bcc) => !unborrowed,
            _ => taken(branch, 0, self.codes, 0, self.context),
        }
    }

    /// The same as [`Self::operate`], apart, so that the hot loop stays small.
    #[inline(never)]
    pub fn operate_apart(&mut self, op: &Op) {
        self.operate(op);
    }

    /// Executes an operation that is known to be of a kind.
    #[inline(always)]
    #[allow(clippy::inline_always)] // With a constant kind one of the arms is left.
    pub fn operate_as(&mut self, kind: Kind, op: &Op) {
        let (a, b) = (op.a, op.b);
        macro_rules! a {
            () => {
                self.get(a)
            };
        }
        macro_rules! b {
            () => {
                self.get(b)
            };
        }
        macro_rules! shifted {
            () => {
                b!().rotate_right(u32::from(op.n)) & op.x
            };
        }
        // Each has an arm of its own, so that its kind is found once.
        macro_rules! with_codes {
            ($kind:ident) => {{
                let (x, y) = (a!(), b!());
                let result = result(Kind::$kind, (op.n, op.x), x, y, 0);
                self.codes = Codes::of(Kind::$kind, x, y, result);
                self.plain(op, x, result);
            }};
        }
        match kind {
            Kind::B => with_codes!(B),
            Kind::NotB => with_codes!(NotB),
            Kind::Add => with_codes!(Add),
            Kind::Add16 => with_codes!(Add16),
            Kind::Add8 => with_codes!(Add8),
            Kind::And => with_codes!(And),
            Kind::NotAAnd => with_codes!(NotAAnd),
            Kind::AndNot => with_codes!(AndNot),
            Kind::Or => with_codes!(Or),
            Kind::Xor => with_codes!(Xor),
            Kind::Sub => with_codes!(Sub),
            Kind::SubReverse => with_codes!(SubReverse),
            Kind::ShfB => with_codes!(ShfB),
            Kind::ShfNotB => with_codes!(ShfNotB),
            Kind::ShfAnd => with_codes!(ShfAnd),
            Kind::ShfNotAAnd => with_codes!(ShfNotAAnd),
            Kind::ShfAndNot => with_codes!(ShfAndNot),
            Kind::ShfOr => with_codes!(ShfOr),
            Kind::AddCarry => {
                let (x, y) = (a!(), b!());
                self.sum_with_carry(op, x, y);
            }
            Kind::SubCarry => {
                let (x, y) = (a!(), b!());
                self.sum_with_carry(op, x, !y);
            }
            Kind::ShfIndirect => {
                let count = self.previous_a & 31;
                let (x, y) = (
                    a!(),
                    if op.n == 0 {
                        b!() << count
                    } else {
                        b!() >> count
                    },
                );
                let result = match op.y {
                    0 => y,
                    1 => !y,
                    2 => x & y,
                    3 => !x & y,
                    4 => x & !y,
                    _ => x | y,
                };
                self.logical(op, x, result);
            }
            Kind::DblShf | Kind::DblShfIndirect => {
                let count = if kind == Kind::DblShf {
                    u32::from(op.n)
                } else {
                    self.previous_a & 31
                };
                let (x, y) = (a!(), b!());
                let result = ((u64::from(x) << 32 | u64::from(y)) >> count) as u32;
                self.logical(op, x, result);
            }
            Kind::Asr | Kind::AsrIndirect => {
                let count = if kind == Kind::Asr {
                    u32::from(op.n)
                } else {
                    self.previous_a & 31
                };
                let fill = u64::from((self.previous_result as i32 >> 31) as u32);
                let result = ((fill << 32 | u64::from(b!())) >> count) as u32;
                self.logical(op, 0, result);
            }
            Kind::ByteAlignBe => {
                let source = b!();
                let pair = u64::from(self.align_be) << 32 | u64::from(source);
                self.align_be = source;
                let result = (pair >> (32 - 8 * (self.byte_index & 3))) as u32;
                self.logical(op, 0, result);
            }
            Kind::ByteAlignLe => {
                let source = a!();
                let pair = u64::from(source) << 32 | u64::from(self.align_le);
                self.align_le = source;
                let result = (pair >> (8 * (self.byte_index & 3))) as u32;
                self.logical(op, source, result);
            }
            Kind::LdField | Kind::LdFieldCc => {
                let old = a!();
                let result = old & self.get(op.y) | shifted!();
                if kind == Kind::LdFieldCc {
                    self.logical(op, old, result);
                } else {
                    self.plain(op, old, result);
                }
            }
            Kind::Immed => self.plain(op, 0, op.x),
            Kind::ImmedMerge => {
                let result = a!() & self.get(op.y) | op.x;
                self.plain(op, 0, result);
            }
            Kind::Nop => {
                self.previous_a = 0;
                self.previous_result = 0;
            }
            Kind::MulStart => {
                (self.multiplicand, self.multiplier) = (a!(), b!());
                self.previous_a = self.multiplicand;
            }
            Kind::MulStep => {
                self.previous_a = a!();
            }
            Kind::MulLast => {
                let (x, y) = (u64::from(self.multiplicand), u64::from(self.multiplier));
                let product = match op.n {
                    0 => (x & 0xff_ffff) * (y & 0xff),
                    1 => (x & 0xffff) * (y & 0xffff),
                    _ => x * y,
                };
                let result = if op.x == 0 {
                    product as u32
                } else {
                    (product >> 32) as u32
                };
                self.logical(op, 0, result);
            }
            Kind::Unary => self.unary(op),
            Kind::CamClear => {
                self.cam = Cam::new();
            }
            Kind::CamLookup => {
                let tag = a!();
                let result = self.cam.lookup(tag);
                self.logical(op, tag, result);
            }
            Kind::CamWrite => {
                let (tag, entry) = (a!(), b!());
                self.cam.write(entry, tag, op.n);
                self.previous_a = tag;
            }
            Kind::CamWriteState => {
                let entry = b!();
                self.cam.write_state(entry, op.n);
                self.previous_a = 0;
            }
            Kind::Crc => {
                let source = b!();
                self.crc_remainder = crc::update(self.crc_remainder, op.x, source);
                self.logical(op, 0, source);
            }
            Kind::Br
            | Kind::Beq
            | Kind::Bne
            | Kind::Bmi
            | Kind::Bpl
            | Kind::Bcs
            | Kind::Bcc
            | Kind::Bvs
            | Kind::Bvc
            | Kind::Bge
            | Kind::Blt
            | Kind::Ble
            | Kind::Bgt
            | Kind::BrCtx
            | Kind::BrNotCtx
            | Kind::BrBitSet
            | Kind::BrBitClear
            | Kind::BrByte
            | Kind::BrNotByte
            | Kind::Jump
            | Kind::BrSignal
            | Kind::BrNoSignal
            | Kind::BrState
            | Kind::BrNoState
            | Kind::Arb
            | Kind::CsrRead
            | Kind::CsrWrite
            | Kind::Command
            | Kind::Outside => {}
        }
    }
}
