//! The datapath: the registers, the arithmetic-logic unit and every operation that does not leave
//! the microengine, as a single `match`.

use crate::cam::Cam;
use crate::operation::Op;
use crate::registers::{SLOTS, TEMP_A, TEMP_B, TEMP_D, new_file, saved_file};
use crate::uop::{UopKind, with_uops};
use npsim_chip::kernel::snapshot::stamp;
use npsim_isa::Context;
use serde::{Deserialize, Serialize};

/// Condition codes, stored as the sum that they derive from, `x + y (+ carry) = result`, so that
/// only branches pay for computing them. Logical results are stored as `result + 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Codes {
    pub x: u32,
    pub y: u32,
    pub result: u32,
}

impl Codes {
    /// The codes of a logical result.
    #[inline]
    pub fn logical(_: OperationInputs, result: u32) -> Self {
        Self {
            x: result,
            y: 0,
            result,
        }
    }

    /// The codes of a sum.
    #[inline]
    pub fn sum(x: u32, y: u32, result: u32) -> Self {
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
    /// Whether the codes indicate "less than" for signed numbers.
    #[inline]
    pub fn less(self) -> bool {
        self.negative() != self.overflow()
    }
}

/// The inputs of an operation's result. Inputs that its row in [the table](crate::uop) does not use
/// are not fetched.
#[derive(Clone, Copy)]
pub(crate) struct OperationInputs {
    /// Operand A.
    pub a: u32,
    /// Operand B.
    pub b: u32,
    /// B, rotated right by the shift count and masked.
    pub shifted: u32,
    /// Mask of the bits of A that are kept.
    pub kept: u32,
    /// The instruction's immediate value.
    pub value: u32,
}

/// The inputs of a branch condition.
#[derive(Clone, Copy)]
pub(crate) struct Tested {
    pub codes: Codes,
    /// A register, if the branch names one.
    pub word: u32,
    /// The running context.
    pub context: u32,
    /// The instruction's immediate number.
    pub number: u32,
}

/// Computes a result by its row in [the table](crate::uop).
#[inline(always)]
pub(crate) fn result_of(row: impl Fn(OperationInputs) -> u32, inputs: OperationInputs) -> u32 {
    row(inputs)
}

/// Computes the codes by a row in the table.
#[inline(always)]
fn codes_of(
    row: impl Fn(OperationInputs, u32) -> Codes,
    inputs: OperationInputs,
    result: u32,
) -> Codes {
    row(inputs, result)
}

/// Evaluates a condition by its row in the table.
#[inline(always)]
fn condition_of(row: impl Fn(Tested) -> bool, tested: Tested) -> bool {
    row(tested)
}

/// Where control continues after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextPc {
    Sequential,
    /// To the operation's target.
    Taken,
    /// To a computed address.
    Jump(u32),
}

/// The state that pure operations read and write.
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
    pub align_be: u32,
    pub align_le: u32,
    pub multiplicand: u32,
    pub multiplier: u32,
    pub cam: Cam,
    pub crc_remainder: u32,
    pub byte_index: u32,
    /// The running context.
    pub context: Context,
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
            context: Context::FIRST,
        }
    }

    /// First register of the running context, in both context modes.
    #[inline]
    pub fn base(&self) -> u16 {
        u16::from(self.context.register_base())
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
    pub fn logical(&mut self, op: &Op, a: u32, result: u32) {
        self.codes = Codes {
            x: result,
            y: 0,
            result,
        };
        self.plain(op, a, result);
    }

    /// The inputs of the operation's result.
    #[inline(always)]
    pub fn inputs(&self, op: &Op) -> OperationInputs {
        let b = self.get(op.b);
        OperationInputs {
            a: self.get(op.a),
            b,
            shifted: b.rotate_right(u32::from(op.n)) & op.x,
            kept: self.get(op.y),
            value: op.x,
        }
    }

    /// Executes one operation or decides one branch.
    pub fn step(&mut self, op: &Op) -> NextPc {
        match op.kind {
            UopKind::Jump => NextPc::Jump(self.get(op.a).wrapping_add(op.x)),
            kind if kind.branches() => {
                if self.condition(op) {
                    NextPc::Taken
                } else {
                    NextPc::Sequential
                }
            }
            _ => {
                self.execute_outlined(op);
                NextPc::Sequential
            }
        }
    }

    /// Whether a branch is taken.
    pub fn condition(&self, op: &Op) -> bool {
        self.is_taken(op.kind, op)
    }

    /// Executes one operation whose kind [`UopKind::is_alu`].
    #[inline(always)]
    pub fn execute(&mut self, op: &Op) {
        self.execute_as(op.kind, op);
    }

    /// Executes a series of plain operations. Returns whether the last of them sets the codes.
    #[inline]
    pub fn execute_each(&mut self, plain: &[Op]) -> bool {
        let mut sets_codes = false;
        for op in plain {
            self.execute_outlined(op);
            sets_codes = op.flags & Op::SETS_CODES != 0;
        }
        sets_codes
    }

    /// Executes an operation of which one or more operands, identified by their slots, are the same
    /// word of local memory, and the others are registers.
    #[inline]
    pub fn execute_on(&mut self, word: &mut u32, op: &Op) {
        if op.a == TEMP_A {
            self.put(TEMP_A, *word);
        }
        if op.b == TEMP_B {
            self.put(TEMP_B, *word);
        }
        self.execute_outlined(op);
        if op.d == TEMP_D {
            *word = self.get(TEMP_D);
        }
    }

    /// Executes an operation of a known kind. Returns whether the branch after it is taken, which
    /// must be of a kind that reads only the codes.
    #[inline(always)]
    pub fn execute_and_branch(&mut self, (kind, op): (UopKind, &Op), branch: UopKind) -> bool {
        // A difference carries unless it borrows, which the compiler cannot deduce.
        let unborrowed = self.get(op.a) >= self.get(op.b);
        self.execute_as(kind, op);
        match (kind, branch) {
            (UopKind::Sub, UopKind::Bcs) => unborrowed,
            (UopKind::Sub, UopKind::Bcc) => !unborrowed,
            // The branch reads only the codes.
            _ => self.is_taken(branch, op),
        }
    }

    /// [`Self::execute`] out of line, so that the hot loop stays small.
    #[inline(never)]
    pub fn execute_outlined(&mut self, op: &Op) {
        self.execute(op);
    }
}

macro_rules! evaluators {
    (
        values { $($value:ident $live:ident $dead:ident $([$xfer:ident $slot:ident])?:
            $result:expr, $codes:expr;)* }
        moves { $($move:ident $move_live:ident $move_dead:ident $([$move_xfer:ident $move_slot:ident])?:
            $moved:expr, $port:expr;)* }
        functions { $($(#[$fn_doc:meta])* $function:ident: $call:ident $(, $fn_live:ident)?
            $([$fn_xfer:ident $fn_slot:ident])?;)* }
        branches { $($(#[$br_doc:meta])* $branch:ident: $taken:expr;)* }
        control { $($(#[$ctl_doc:meta])* $control:ident;)* }
        fused { $($test:ident $way:ident $fused:ident;)* }
    ) => {
        impl Datapath {
            /// Executes an operation of a known kind.
            #[inline(always)]
            pub fn execute_as(&mut self, kind: UopKind, op: &Op) {
                match kind {
                    $(
                        UopKind::$value => {
                            let inputs = self.inputs(op);
                            let result = result_of($result, inputs);
                            self.codes = codes_of($codes, inputs, result);
                            self.plain(op, inputs.a, result);
                        }
                    )*
                    $(
                        UopKind::$move => {
                            let inputs = self.inputs(op);
                            let result = result_of($moved, inputs);
                            self.plain(op, result_of($port, inputs), result);
                        }
                    )*
                    $(UopKind::$function => self.$call(op),)*
                    $(UopKind::$branch)|* | $(UopKind::$control)|* => {}
                }
            }

            /// Whether a branch of a known kind is taken.
            #[inline(always)]
            pub fn is_taken(&self, kind: UopKind, op: &Op) -> bool {
                let tested = Tested {
                    codes: self.codes,
                    word: self.get(op.b),
                    context: self.context.number().into(),
                    number: op.x,
                };
                match kind {
                    $(UopKind::$branch => condition_of($taken, tested),)*
                    _ => false,
                }
            }
        }
    };
}

with_uops!(evaluators);
