//! Operations of which only the result matters.
//!
//! Every operation leaves condition codes, its A operand and its result behind
//! for a later one to read. Where the next word in line overwrites all of that
//! unread, the operation is run in its quick form, which stores the destination
//! and nothing else. An operand that is the result of the word before is then
//! taken from hand, as the hardware's bypass does, since a store and a load of
//! the same register would cost more than the operation itself.
//!
//! The last operation of a stretch is never quick, so whoever looks after it
//! finds everything as if there were no quick forms.

use npsim_isa::{Instruction, Leaves};

use super::datapath::Datapath;
use super::operation::{Kind, Op, Side};

/// Which operand is the result of the word before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FromHand {
    Neither,
    A,
    B,
}

#[inline]
fn shifted(op: &Op, y: u32) -> u32 {
    y.rotate_right(u32::from(op.n)) & op.x
}

/// One line an operation: its kind, the quick forms with A and with B at hand,
/// and the result from the operation, its operands and the register `op.y`.
macro_rules! quick_forms {
    ($($kind:ident $with_a:ident $with_b:ident |$op:ident, $x:ident, $y:ident, $kept:ident| $result:expr;)*) => {
        /// The quick form of an operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Quick {
            /// There is none: the whole operation runs.
            Whole,
            $($kind, $with_a, $with_b,)*
        }

        impl Quick {
            fn of(kind: Kind, from_hand: FromHand) -> Self {
                match (kind, from_hand) {
                    $(
                        (Kind::$kind, FromHand::Neither) => Self::$kind,
                        (Kind::$kind, FromHand::A) => Self::$with_a,
                        (Kind::$kind, FromHand::B) => Self::$with_b,
                    )*
                    _ => Self::Whole,
                }
            }
        }

        impl Datapath {
            /// As [`Self::in_line`], apart, so that the hot loop stays small.
            #[inline(never)]
            pub fn in_defer_slots(&mut self, ops: &[Op], at: usize, count: usize) {
                self.in_line(ops, at, count);
            }

            /// Runs `count` operations from `at` on, one after the other.
            #[inline(always)]
            #[allow(clippy::inline_always)] // It is the hot loop.
            pub fn in_line(&mut self, ops: &[Op], at: usize, count: usize) {
                // Where the first takes an operand from hand.
                let mut last = self.get(ops[at.saturating_sub(1)].d);
                let Some((end, ops)) = ops[at..at + count].split_last() else { return };
                for op in ops {
                    match op.quick {
                        Quick::Whole => self.operate(op),
                        $(
                            #[allow(unused_variables, reason = "not all have an A, or bytes to keep")]
                            Quick::$kind => {
                                let ($op, $x, $y, $kept) = (op, self.get(op.a), self.get(op.b), self.get(op.y));
                                last = $result;
                                self.put(op.d, last);
                            }
                            #[allow(unused_variables, reason = "not all have an A, or bytes to keep")]
                            Quick::$with_a => {
                                let ($op, $x, $y, $kept) = (op, last, self.get(op.b), self.get(op.y));
                                last = $result;
                                self.put(op.d, last);
                            }
                            #[allow(unused_variables, reason = "not all have an A, or bytes to keep")]
                            Quick::$with_b => {
                                let ($op, $x, $y, $kept) = (op, self.get(op.a), last, self.get(op.y));
                                last = $result;
                                self.put(op.d, last);
                            }
                        )*
                    }
                }
                self.operate(end);
            }
        }
    };
}

quick_forms! {
    B BWithA BWithB |op, x, y, kept| y;
    NotB NotBWithA NotBWithB |op, x, y, kept| !y;
    Add AddWithA AddWithB |op, x, y, kept| x.wrapping_add(y);
    Add16 Add16WithA Add16WithB |op, x, y, kept| x.wrapping_add(y & 0xffff);
    Add8 Add8WithA Add8WithB |op, x, y, kept| x.wrapping_add(y & 0xff);
    And AndWithA AndWithB |op, x, y, kept| x & y;
    NotAAnd NotAAndWithA NotAAndWithB |op, x, y, kept| !x & y;
    AndNot AndNotWithA AndNotWithB |op, x, y, kept| x & !y;
    Or OrWithA OrWithB |op, x, y, kept| x | y;
    Xor XorWithA XorWithB |op, x, y, kept| x ^ y;
    Sub SubWithA SubWithB |op, x, y, kept| x.wrapping_sub(y);
    SubReverse SubReverseWithA SubReverseWithB |op, x, y, kept| y.wrapping_sub(x);
    ShfB ShfBWithA ShfBWithB |op, x, y, kept| shifted(op, y);
    ShfNotB ShfNotBWithA ShfNotBWithB |op, x, y, kept| !shifted(op, y);
    ShfAnd ShfAndWithA ShfAndWithB |op, x, y, kept| x & shifted(op, y);
    ShfNotAAnd ShfNotAAndWithA ShfNotAAndWithB |op, x, y, kept| !x & shifted(op, y);
    ShfAndNot ShfAndNotWithA ShfAndNotWithB |op, x, y, kept| x & !shifted(op, y);
    ShfOr ShfOrWithA ShfOrWithB |op, x, y, kept| x | shifted(op, y);
    LdField LdFieldWithA LdFieldWithB |op, x, y, kept| x & kept | shifted(op, y);
    Immed ImmedWithA ImmedWithB |op, x, y, kept| op.x;
    ImmedMerge ImmedMergeWithA ImmedMergeWithB |op, x, y, kept| x & kept | op.x;
}

/// What an operation leaves behind and what it reads of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// Sets codes, A operand and result, reads none of them.
    All,
    /// Sets A operand and result, leaves the codes.
    Operands,
    /// Anything else.
    Other,
}

impl Trace {
    pub fn of(instruction: &Instruction) -> Self {
        let leaves = instruction.form().leaves;
        let reads = instruction.takes().is_some() || instruction.reads_codes();
        if reads || !matches!(leaves, Leaves::Result | Leaves::Zero) {
            Self::Other
        } else if instruction.sets_codes() {
            Self::All
        } else {
            Self::Operands
        }
    }
}

/// Finds the quick forms of a program's operations.
pub(super) fn find(ops: &mut [Op], sides: &[Side]) {
    for at in 0..ops.len() {
        let op = ops[at];
        let next = sides.get(at + 1).map_or(Trace::Other, |next| next.trace);
        let unread = match sides[at].trace {
            Trace::All => next == Trace::All,
            Trace::Operands => next != Trace::Other,
            Trace::Other => false,
        };
        if !unread {
            continue;
        }
        let before = at.checked_sub(1).map(|before| ops[before]);
        let result = before
            .filter(|before| before.quick != Quick::Whole)
            .map(|before| before.d);
        let from_hand = match (result == Some(op.a), result == Some(op.b)) {
            (true, false) => FromHand::A,
            (false, true) => FromHand::B,
            _ => FromHand::Neither,
        };
        ops[at].quick = Quick::of(op.kind, from_hand);
    }
}
