//! What the tight loop does at an address, and the loop itself.
//!
//! Every operation leaves condition codes, its A operand and its result behind
//! for a later one to read. Where the next word in line overwrites all of that
//! unread, the operation is run in its quick form, which stores the destination
//! and nothing else. An operand that is the result of the word before is then
//! taken from hand, as the hardware's bypass does, since a store and a load of
//! the same register would cost more than the operation itself.
//!
//! Finding what to do costs as much as doing it, so what often follows one another is
//! one action: two quick operations of which the second takes the first's result, and
//! an operation that sets the codes with the branch behind it that reads them. Whoever
//! comes to the second word of such a pair finds its own action there.
//!
//! The loop ends at any operation that is no register operation, and the one
//! before is never quick, so whoever looks after it finds everything as if there
//! were no quick forms.

use super::Microengine;
use super::datapath::Datapath;
use super::form::FromHand;
use super::operation::{Kind, Op};
use crate::kernel::journal::Journal;
use crate::kernel::trace_event;

/// What a quick operation makes of its operands and of the register `op.y`.
#[inline(always)]
#[allow(clippy::inline_always)] // With a constant kind one of the arms is left.
fn result(kind: Kind, op: &Op, x: u32, y: u32, kept: u32) -> u32 {
    let shifted = y.rotate_right(u32::from(op.n)) & op.x;
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
        Kind::Immed => op.x,
        Kind::ImmedMerge => x & kept | op.x,
        _ => 0,
    }
}

/// Runs the quick form of an operation; gives its result.
#[inline(always)]
#[allow(clippy::inline_always)] // As above.
fn quick(datapath: &mut Datapath, kind: Kind, op: &Op, x: u32, y: u32) -> u32 {
    let result = result(kind, op, x, y, datapath.get(op.y));
    datapath.put(op.d, result);
    result
}

/// One line an operation: its kind, as a whole, quick, quick with A and with B at
/// hand. One line a branch. Then one line a pair of quick operations of which the second
/// has the first's result as B: their kinds; the pair with the first's B in its register
/// and at hand; the same where that B is the second's A too. Then one line a pair of an
/// operation as a whole and a branch.
macro_rules! actions {
    (
        operations { $($kind:ident $whole:ident $with_a:ident $with_b:ident;)* }
        branches { $($branch:ident)* }
        joined { $($first:ident $second:ident
            $pair:ident $pair_at_hand:ident $same:ident $same_at_hand:ident;)* }
        decided { $($test:ident $way:ident $decided:ident;)* }
    ) => {
        /// What the tight loop does with an operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Action {
            /// It ends.
            Stop,
            /// An operation of the datapath without a form of its own here.
            Datapath,
            /// The same with transfer registers, which no unit may own: which operand is
            /// one, or several.
            OwnedA,
            OwnedB,
            OwnedD,
            Owned,
            /// The same with operands in local memory.
            Local,
            /// A branch on a transfer register.
            OwnedBranch,
            $($whole, $kind, $with_a, $with_b,)*
            $($branch,)*
            $($pair, $pair_at_hand, $same, $same_at_hand,)*
            $($decided,)*
        }

        impl Action {
            /// The action of an operation that works on registers alone, all of it.
            pub fn whole(kind: Kind) -> Self {
                match kind {
                    $(Kind::$kind => Self::$whole,)*
                    $(Kind::$branch => Self::$branch,)*
                    _ => Self::Datapath,
                }
            }

            pub fn quick(kind: Kind, from_hand: FromHand) -> Self {
                match (kind, from_hand) {
                    $(
                        (Kind::$kind, FromHand::Neither) => Self::$kind,
                        (Kind::$kind, FromHand::A) => Self::$with_a,
                        (Kind::$kind, FromHand::B) => Self::$with_b,
                    )*
                    _ => Self::whole(kind),
                }
            }

            /// Whether it leaves its result at hand.
            pub fn is_quick(self) -> bool {
                matches!(
                    self,
                    $(Self::$kind | Self::$with_a | Self::$with_b)|*
                    | $(Self::$pair | Self::$pair_at_hand | Self::$same | Self::$same_at_hand)|*
                )
            }

            /// The action of a quick operation and the quick one behind it, which has its
            /// result as B, if they make a pair; `same`: the other operand of the second is
            /// the first's B.
            pub fn joined(first: Self, second: Kind, same: bool) -> Option<Self> {
                match (first, second, same) {
                    $(
                        (Self::$first, Kind::$second, false) => Some(Self::$pair),
                        (Self::$first, Kind::$second, true) => Some(Self::$same),
                        (first, Kind::$second, false) if first == Self::quick(Kind::$first, FromHand::B) => {
                            Some(Self::$pair_at_hand)
                        }
                        (first, Kind::$second, true) if first == Self::quick(Kind::$first, FromHand::B) => {
                            Some(Self::$same_at_hand)
                        }
                    )*
                    _ => None,
                }
            }

            /// The action of an operation as a whole and the branch behind it, if they make
            /// a pair.
            pub fn decided(test: Kind, branch: Kind) -> Option<Self> {
                match (test, branch) {
                    $((Kind::$test, Kind::$way) => Some(Self::$decided),)*
                    _ => None,
                }
            }

            pub fn has_quick(kind: Kind) -> bool {
                matches!(kind, $(Kind::$kind)|*)
            }
        }

        impl Microengine {
            /// The tight loop: operations that need no attention, along lines and the
            /// branches that join them. It ends before the first other one, and gives its
            /// marks, or at a branch from which the limit is not far. Whoever calls it has made
            /// sure that the program's length in cycles lies before the limit, and that of all
            /// reasons for the attentive path none holds but writes of local memory's pointers
            /// that are on their way.
            #[inline(never)]
            pub(super) fn tight<const OBSERVED: bool>(&mut self, journal: &mut Journal) -> Option<u8> {
                let Self {
                    program, lanes, datapath, memory, claims, thrown, line, stats, slow: pending, ..
                } = self;
                let who = (self.index, datapath.context);
                let ops = lanes[usize::from(who.1) & 7].ops();
                let mut pc = self.pc as usize;
                line.begin(pc, self.cycle);
                let calm = self.calm;
                // Where the first takes an operand from hand.
                let mut last = datapath.get(ops[pc.saturating_sub(1)].d);
                let mut rest = ops[pc..].iter();
                let stop = 'line: loop {
                    let Some(op) = rest.next() else {
                        pc = ops.len();
                        break None;
                    };
                    // Of a quick operation, or the second of a pair, where its result goes. All of
                    // them end in the same place, and taken branches in another.
                    let branch = 'taken: {
                        let (op, value) = match op.action {
                            Action::Stop => break 'line Some(op.marks),
                            Action::OwnedA | Action::OwnedB | Action::OwnedD | Action::Owned => {
                                let owned = match op.action {
                                    Action::OwnedA => claims.owns(op.a),
                                    Action::OwnedB => claims.owns(op.b),
                                    Action::OwnedD => claims.owns(op.d),
                                    _ => claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d),
                                };
                                if owned {
                                    break 'line Some(op.marks);
                                }
                                datapath.operate(op);
                                continue 'line;
                            }
                            Action::Datapath => {
                                datapath.operate_apart(op);
                                continue 'line;
                            }
                            Action::Local => {
                                if OBSERVED && journal.wants(trace_event::Kind::LocalMemory) {
                                    break 'line Some(op.marks);
                                }
                                let at = ops.len() - rest.len() - 1;
                                if *pending != 0 {
                                    memory.settle(line.cycle_of(at), &mut datapath.byte_index);
                                    if memory.has_pending() {
                                        break 'line Some(op.marks);
                                    }
                                    *pending = 0;
                                }
                                let owned = claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d);
                                let side = &program.sides[at];
                                if owned || Self::local_step(datapath, memory, op, side).is_none() {
                                    break 'line Some(op.marks);
                                }
                                continue 'line;
                            }
                            Action::OwnedBranch => {
                                // The other fields of a branch are no slots.
                                if claims.owns(op.b) {
                                    break 'line Some(op.marks);
                                }
                                if !datapath.condition(op) {
                                    continue 'line;
                                }
                                break 'taken op;
                            }
                            $(
                                Action::$whole => {
                                    datapath.operate_as(Kind::$kind, op);
                                    continue 'line;
                                }
                                Action::$kind => {
                                    let (x, y) = (datapath.get(op.a), datapath.get(op.b));
                                    (op, result(Kind::$kind, op, x, y, datapath.get(op.y)))
                                }
                                Action::$with_a => {
                                    let y = datapath.get(op.b);
                                    (op, result(Kind::$kind, op, last, y, datapath.get(op.y)))
                                }
                                Action::$with_b => {
                                    let x = datapath.get(op.a);
                                    (op, result(Kind::$kind, op, x, last, datapath.get(op.y)))
                                }
                            )*
                            $(
                                Action::$pair => {
                                    let Some(second) = rest.next() else { break 'line Some(op.marks) };
                                    let (x, y) = (datapath.get(op.a), datapath.get(op.b));
                                    let first = quick(datapath, Kind::$first, op, x, y);
                                    let x = datapath.get(second.a);
                                    (second, result(Kind::$second, second, x, first, datapath.get(second.y)))
                                }
                                Action::$same => {
                                    let Some(second) = rest.next() else { break 'line Some(op.marks) };
                                    let (x, y) = (datapath.get(op.a), datapath.get(op.b));
                                    let first = quick(datapath, Kind::$first, op, x, y);
                                    (second, result(Kind::$second, second, y, first, datapath.get(second.y)))
                                }
                                Action::$pair_at_hand => {
                                    let Some(second) = rest.next() else { break 'line Some(op.marks) };
                                    let x = datapath.get(op.a);
                                    let first = quick(datapath, Kind::$first, op, x, last);
                                    let x = datapath.get(second.a);
                                    (second, result(Kind::$second, second, x, first, datapath.get(second.y)))
                                }
                                Action::$same_at_hand => {
                                    let Some(second) = rest.next() else { break 'line Some(op.marks) };
                                    let x = datapath.get(op.a);
                                    let first = quick(datapath, Kind::$first, op, x, last);
                                    (second, result(Kind::$second, second, last, first, datapath.get(second.y)))
                                }
                            )*
                            $(
                                Action::$branch => {
                                    if !datapath.decides(Kind::$branch, op) {
                                        continue 'line;
                                    }
                                    break 'taken op;
                                }
                            )*
                            $(
                                Action::$decided => {
                                    let Some(branch) = rest.next() else { break 'line Some(op.marks) };
                                    datapath.operate_as(Kind::$test, op);
                                    if !datapath.decides(Kind::$way, branch) {
                                        continue 'line;
                                    }
                                    break 'taken branch;
                                }
                            )*
                        };
                        last = value;
                        datapath.put(op.d, last);
                        continue 'line;
                    };
                    let at = ops.len() - rest.len() - 1;
                    if !OBSERVED && branch.n == 0 {
                        line.branch((branch, at), (0, false), thrown);
                    } else if !line.branch_with::<OBSERVED>(datapath, (ops, at), who, (journal, thrown)) {
                        break Some(branch.marks);
                    }
                    rest = ops[usize::from(branch.d)..].iter();
                    if line.arrived >= calm {
                        pc = branch.d as usize;
                        break None;
                    }
                };
                if stop.is_some() {
                    pc = ops.len() - rest.len() - 1;
                }
                if OBSERVED {
                    line.tell(who, pc, journal);
                }
                let cycle = line.cycle_of(pc);
                if *pending != 0 {
                    memory.settle(line.before(pc), &mut datapath.byte_index);
                    if !memory.has_pending() {
                        *pending = 0;
                    }
                }
                stats.aborted += line.aborted;
                stats.instructions += cycle - self.cycle - line.aborted;
                self.pc = pc as u16;
                self.cycle = cycle;
                stop
            }
        }
    };
}

actions! {
    operations {
        B WholeB BWithA BWithB;
        NotB WholeNotB NotBWithA NotBWithB;
        Add WholeAdd AddWithA AddWithB;
        Add16 WholeAdd16 Add16WithA Add16WithB;
        Add8 WholeAdd8 Add8WithA Add8WithB;
        And WholeAnd AndWithA AndWithB;
        NotAAnd WholeNotAAnd NotAAndWithA NotAAndWithB;
        AndNot WholeAndNot AndNotWithA AndNotWithB;
        Or WholeOr OrWithA OrWithB;
        Xor WholeXor XorWithA XorWithB;
        Sub WholeSub SubWithA SubWithB;
        SubReverse WholeSubReverse SubReverseWithA SubReverseWithB;
        ShfB WholeShfB ShfBWithA ShfBWithB;
        ShfNotB WholeShfNotB ShfNotBWithA ShfNotBWithB;
        ShfAnd WholeShfAnd ShfAndWithA ShfAndWithB;
        ShfNotAAnd WholeShfNotAAnd ShfNotAAndWithA ShfNotAAndWithB;
        ShfAndNot WholeShfAndNot ShfAndNotWithA ShfAndNotWithB;
        ShfOr WholeShfOr ShfOrWithA ShfOrWithB;
        LdField WholeLdField LdFieldWithA LdFieldWithB;
        Immed WholeImmed ImmedWithA ImmedWithB;
        ImmedMerge WholeImmedMerge ImmedMergeWithA ImmedMergeWithB;
    }
    branches {
        Br Beq Bne Bmi Bpl Bcs Bcc Bvs Bvc Bge Blt Ble Bgt
        BrCtx BrNotCtx BrBitSet BrBitClear BrByte BrNotByte
    }
    joined {
        ShfB Xor ShfXor ShfXorAtHand ShfXorSame ShfXorSameAtHand;
        ShfB And ShfThenAnd ShfThenAndAtHand ShfThenAndSame ShfThenAndSameAtHand;
        ShfB Or ShfThenOr ShfThenOrAtHand ShfThenOrSame ShfThenOrSameAtHand;
        ShfB Add ShfThenAdd ShfThenAddAtHand ShfThenAddSame ShfThenAddSameAtHand;
        ShfB Sub ShfThenSub ShfThenSubAtHand ShfThenSubSame ShfThenSubSameAtHand;
        And ShfB AndThenShf AndThenShfAtHand AndThenShfSame AndThenShfSameAtHand;
        Add Xor AddThenXor AddThenXorAtHand AddThenXorSame AddThenXorSameAtHand;
        Xor Add XorThenAdd XorThenAddAtHand XorThenAddSame XorThenAddSameAtHand;
    }
    decided {
        B Beq BThenBeq;
        B Bne BThenBne;
        And Beq AndThenBeq;
        And Bne AndThenBne;
        Xor Beq XorThenBeq;
        Xor Bne XorThenBne;
        Sub Beq SubThenBeq;
        Sub Bne SubThenBne;
        Sub Bcs SubThenBcs;
        Sub Bcc SubThenBcc;
        ShfB Beq ShfThenBeq;
        ShfB Bne ShfThenBne;
    }
}
