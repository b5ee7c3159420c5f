//! What the tight loop does at an address, and the loop itself.
//!
//! Every operation leaves condition codes, its A operand and its result behind
//! for a later one to read. Where the next word in line overwrites all of that
//! unread, the operation is run in its quick form, which stores the destination
//! and nothing else. An operand that is the result of the word before is then
//! taken from hand, as the hardware's bypass does, since a store and a load of
//! the same register would cost more than the operation itself.
//!
//! The loop ends at any operation that is no register operation, and the one
//! before is never quick, so whoever looks after it finds everything as if there
//! were no quick forms.

use npsim_isa::{Instruction, Leaves};
use serde::{Deserialize, Serialize};

use super::Microengine;
use super::ahead::Thrown;
use super::datapath::Datapath;
use super::operation::{Kind, Op, Side};
use super::registers::{NN, S_IN};
use super::turn::penalty;
use crate::Cycle;
use crate::kernel::journal::Journal;
use crate::kernel::trace_event::{self, TraceEvent};

/// Which operand is the result of the word before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FromHand {
    Neither,
    A,
    B,
}

#[inline]
fn shifted(op: &Op, y: u32) -> u32 {
    y.rotate_right(u32::from(op.n)) & op.x
}

/// One line an operation: its kind, as a whole, quick, quick with A and with B at
/// hand, and the result from the operation, its operands and the register `op.y`;
/// then one line a branch: its kind and whether it is taken; then one line a pair of
/// a shift and the operation on what was shifted, in which the other operand is in
/// its register or is what was shifted, which is in its register or at hand.
macro_rules! actions {
    (
        operations { $($kind:ident $whole:ident $with_a:ident $with_b:ident
            |$op:ident, $x:ident, $y:ident, $kept:ident| $result:expr;)* }
        branches { $($branch:ident |$path:ident, $by:ident| $taken:expr;)* }
        shifted { $($second:ident $pair:ident $pair_at_hand:ident $same:ident $same_at_hand:ident
            |$other:ident, $moved:ident| $joined:expr;)* }
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
        }

        impl Action {
            /// The action of an operation that works on registers alone, all of it.
            fn whole(kind: Kind) -> Self {
                match kind {
                    $(Kind::$kind => Self::$whole,)*
                    $(Kind::$branch => Self::$branch,)*
                    _ => Self::Datapath,
                }
            }

            fn quick(kind: Kind, from_hand: FromHand) -> Self {
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

            /// The action of a quick shift and the quick operation behind it, if they
            /// make a pair: `same` says that it joins what was shifted with itself.
            fn pair(first: Self, kind: Kind, same: bool) -> Option<Self> {
                let at_hand = match first {
                    Self::ShfB => false,
                    Self::ShfBWithB => true,
                    _ => return None,
                };
                match (kind, same, at_hand) {
                    $(
                        (Kind::$second, false, false) => Some(Self::$pair),
                        (Kind::$second, false, true) => Some(Self::$pair_at_hand),
                        (Kind::$second, true, false) => Some(Self::$same),
                        (Kind::$second, true, true) => Some(Self::$same_at_hand),
                    )*
                    _ => None,
                }
            }

            fn has_quick(kind: Kind) -> bool {
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
                let stop = loop {
                    let Some(op) = rest.next() else {
                        pc = ops.len();
                        break None;
                    };
                    let taken = match op.action {
                        Action::Stop => break Some(op.marks),
                        Action::OwnedA | Action::OwnedB | Action::OwnedD | Action::Owned => {
                            let owned = match op.action {
                                Action::OwnedA => claims.owns(op.a),
                                Action::OwnedB => claims.owns(op.b),
                                Action::OwnedD => claims.owns(op.d),
                                _ => claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d),
                            };
                            if owned {
                                break Some(op.marks);
                            }
                            datapath.operate(op);
                            false
                        }
                        Action::Datapath => {
                            datapath.operate_apart(op);
                            false
                        }
                        Action::Local => {
                            if OBSERVED && journal.wants(trace_event::Kind::LocalMemory) {
                                break Some(op.marks);
                            }
                            let at = ops.len() - rest.len() - 1;
                            if *pending != 0 {
                                let cycle = line.ahead.wrapping_add(at as Cycle);
                                memory.settle(cycle, &mut datapath.byte_index);
                                if memory.has_pending() {
                                    break Some(op.marks);
                                }
                                *pending = 0;
                            }
                            let owned = claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d);
                            let side = &program.sides[at];
                            if owned || Self::local_step(datapath, memory, op, side).is_none() {
                                break Some(op.marks);
                            }
                            false
                        }
                        Action::OwnedBranch => {
                            // The other fields of a branch are no slots.
                            if claims.owns(op.b) {
                                break Some(op.marks);
                            }
                            datapath.condition(op)
                        }
                        $(
                            Action::$whole => {
                                datapath.operate_as(Kind::$kind, op);
                                false
                            }
                            #[allow(unused_variables, reason = "not all have an A, or bytes to keep")]
                            Action::$kind => {
                                let ($op, $x, $y, $kept) =
                                    (op, datapath.get(op.a), datapath.get(op.b), datapath.get(op.y));
                                last = $result;
                                datapath.put(op.d, last);
                                false
                            }
                            #[allow(unused_variables, reason = "not all have an A, or bytes to keep")]
                            Action::$with_a => {
                                let ($op, $x, $y, $kept) = (op, last, datapath.get(op.b), datapath.get(op.y));
                                last = $result;
                                datapath.put(op.d, last);
                                false
                            }
                            #[allow(unused_variables, reason = "not all have an A, or bytes to keep")]
                            Action::$with_b => {
                                let ($op, $x, $y, $kept) = (op, datapath.get(op.a), last, datapath.get(op.y));
                                last = $result;
                                datapath.put(op.d, last);
                                false
                            }
                        )*
                        $(
                            Action::$pair => {
                                let Some(second) = rest.next() else { break Some(op.marks) };
                                let $moved = shifted(op, datapath.get(op.b));
                                datapath.put(op.d, $moved);
                                let $other = datapath.get(second.a);
                                last = $joined;
                                datapath.put(second.d, last);
                                false
                            }
                            Action::$pair_at_hand => {
                                let Some(second) = rest.next() else { break Some(op.marks) };
                                let $moved = shifted(op, last);
                                datapath.put(op.d, $moved);
                                let $other = datapath.get(second.a);
                                last = $joined;
                                datapath.put(second.d, last);
                                false
                            }
                            Action::$same => {
                                let Some(second) = rest.next() else { break Some(op.marks) };
                                let $other = datapath.get(op.b);
                                let $moved = shifted(op, $other);
                                datapath.put(op.d, $moved);
                                last = $joined;
                                datapath.put(second.d, last);
                                false
                            }
                            Action::$same_at_hand => {
                                let Some(second) = rest.next() else { break Some(op.marks) };
                                let $other = last;
                                let $moved = shifted(op, $other);
                                datapath.put(op.d, $moved);
                                last = $joined;
                                datapath.put(second.d, last);
                                false
                            }
                        )*
                        $(
                            #[allow(unused_variables, reason = "not all ask the codes")]
                            Action::$branch => {
                                let ($path, $by) = (&*datapath, op);
                                $taken
                            }
                        )*
                    };
                    if !taken {
                        continue;
                    }
                    let at = ops.len() - rest.len() - 1;
                    if !OBSERVED && op.n == 0 {
                        line.branch((op, at), (0, false), thrown);
                    } else if !line.branch_with::<OBSERVED>(datapath, (ops, at), who, (journal, thrown)) {
                        break Some(op.marks);
                    }
                    pc = op.d as usize;
                    rest = ops[pc..].iter();
                    if line.arrived >= calm {
                        break None;
                    }
                };
                if stop.is_some() {
                    pc = ops.len() - rest.len() - 1;
                }
                if OBSERVED {
                    line.tell(who, pc, journal);
                }
                let cycle = line.ahead.wrapping_add(pc as Cycle);
                if *pending != 0 {
                    // As when the last one had been run on its own.
                    let last = if pc > line.from { cycle - 1 } else { line.left };
                    memory.settle(last, &mut datapath.byte_index);
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
    B WholeB BWithA BWithB |op, x, y, kept| y;
    NotB WholeNotB NotBWithA NotBWithB |op, x, y, kept| !y;
    Add WholeAdd AddWithA AddWithB |op, x, y, kept| x.wrapping_add(y);
    Add16 WholeAdd16 Add16WithA Add16WithB |op, x, y, kept| x.wrapping_add(y & 0xffff);
    Add8 WholeAdd8 Add8WithA Add8WithB |op, x, y, kept| x.wrapping_add(y & 0xff);
    And WholeAnd AndWithA AndWithB |op, x, y, kept| x & y;
    NotAAnd WholeNotAAnd NotAAndWithA NotAAndWithB |op, x, y, kept| !x & y;
    AndNot WholeAndNot AndNotWithA AndNotWithB |op, x, y, kept| x & !y;
    Or WholeOr OrWithA OrWithB |op, x, y, kept| x | y;
    Xor WholeXor XorWithA XorWithB |op, x, y, kept| x ^ y;
    Sub WholeSub SubWithA SubWithB |op, x, y, kept| x.wrapping_sub(y);
    SubReverse WholeSubReverse SubReverseWithA SubReverseWithB |op, x, y, kept| y.wrapping_sub(x);
    ShfB WholeShfB ShfBWithA ShfBWithB |op, x, y, kept| shifted(op, y);
    ShfNotB WholeShfNotB ShfNotBWithA ShfNotBWithB |op, x, y, kept| !shifted(op, y);
    ShfAnd WholeShfAnd ShfAndWithA ShfAndWithB |op, x, y, kept| x & shifted(op, y);
    ShfNotAAnd WholeShfNotAAnd ShfNotAAndWithA ShfNotAAndWithB |op, x, y, kept| !x & shifted(op, y);
    ShfAndNot WholeShfAndNot ShfAndNotWithA ShfAndNotWithB |op, x, y, kept| x & !shifted(op, y);
    ShfOr WholeShfOr ShfOrWithA ShfOrWithB |op, x, y, kept| x | shifted(op, y);
    LdField WholeLdField LdFieldWithA LdFieldWithB |op, x, y, kept| x & kept | shifted(op, y);
    Immed WholeImmed ImmedWithA ImmedWithB |op, x, y, kept| op.x;
    ImmedMerge WholeImmedMerge ImmedMergeWithA ImmedMergeWithB |op, x, y, kept| x & kept | op.x;
    }
    branches {
    Br |path, op| true;
    Beq |path, op| path.codes.zero();
    Bne |path, op| !path.codes.zero();
    Bmi |path, op| path.condition(op);
    Bpl |path, op| path.condition(op);
    Bcs |path, op| path.condition(op);
    Bcc |path, op| path.condition(op);
    Bvs |path, op| path.condition(op);
    Bvc |path, op| path.condition(op);
    Bge |path, op| path.condition(op);
    Blt |path, op| path.condition(op);
    Ble |path, op| path.condition(op);
    Bgt |path, op| path.condition(op);
    BrCtx |path, op| u32::from(path.context) == op.x;
    BrNotCtx |path, op| u32::from(path.context) != op.x;
    BrBitSet |path, op| path.get(op.b) & op.x != 0;
    BrBitClear |path, op| path.get(op.b) & op.x == 0;
    BrByte |path, op| path.get(op.b) >> (op.x >> 8) & 0xff == op.x & 0xff;
    BrNotByte |path, op| path.get(op.b) >> (op.x >> 8) & 0xff != op.x & 0xff;
    }
    shifted {
        Xor ShfXor ShfXorAtHand ShfXorSame ShfXorSameAtHand |x, y| x ^ y;
        And ShfThenAnd ShfThenAndAtHand ShfThenAndSame ShfThenAndSameAtHand |x, y| x & y;
        Or ShfThenOr ShfThenOrAtHand ShfThenOrSame ShfThenOrSameAtHand |x, y| x | y;
        Add ShfThenAdd ShfThenAddAtHand ShfThenAddSame ShfThenAddSameAtHand |x, y| x.wrapping_add(y);
        Sub ShfThenSub ShfThenSubAtHand ShfThenSubSame ShfThenSubSameAtHand |x, y| x.wrapping_sub(y);
    }
}

/// The line of code that a context is on, and the account of those before it in the
/// tight loop. It is apart from the loop, which needs the processor's registers for
/// other things.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Line {
    /// When the context came to it, and whether the instruction before set the codes.
    pub arrived: Cycle,
    pub with_codes: bool,
    /// Its first address in the tight loop.
    #[serde(skip)]
    from: usize,
    /// What is to be added to an address for its cycle.
    #[serde(skip)]
    ahead: Cycle,
    /// Slots thrown away.
    #[serde(skip)]
    aborted: Cycle,
    /// The cycle of the last instruction before it in the tight loop, 0 if there is none.
    #[serde(skip)]
    left: Cycle,
}

impl Line {
    /// The tight loop begins at an address.
    #[inline]
    fn begin(&mut self, from: usize, cycle: Cycle) {
        self.from = from;
        self.ahead = cycle.wrapping_sub(from as Cycle);
        self.aborted = 0;
        self.left = 0;
    }

    /// Takes the branch at an address.
    #[inline]
    fn branch(
        &mut self,
        (op, at): (&Op, usize),
        (deferred, sets_codes): (usize, bool),
        thrown: &mut Thrown,
    ) -> Cycle {
        let cycle = self.ahead.wrapping_add(at as Cycle);
        let slots = penalty(op, cycle == self.arrived, self.with_codes);
        self.left = cycle + deferred as Cycle;
        let next = self.left + 1;
        if slots != 0 {
            thrown.add(next, slots);
        }
        self.with_codes = sets_codes && slots == 0;
        self.aborted += slots;
        self.arrived = next + slots;
        self.from = op.d as usize;
        self.ahead = self.arrived.wrapping_sub(Cycle::from(op.d));
        slots
    }

    /// The same where somebody watches, or with defer slots, which are run. False,
    /// and nothing done, if they need attention.
    #[inline(never)]
    fn branch_with<const OBSERVED: bool>(
        &mut self,
        datapath: &mut Datapath,
        (ops, at): (&[Op], usize),
        who: (u8, u8),
        (journal, thrown): (&mut Journal, &mut Thrown),
    ) -> bool {
        let op = &ops[at];
        let deferred = op.n as usize;
        let mut sets_codes = false;
        if deferred != 0 {
            let slots = ops.get(at + 1..=at + deferred);
            let Some(slots) = slots.filter(|slots| slots.iter().all(Op::is_plain)) else {
                return false;
            };
            for slot in slots {
                datapath.operate_apart(slot);
                sets_codes = slot.marks & Op::SETS_CODES != 0;
            }
        }
        if OBSERVED {
            self.tell(who, at + deferred + 1, journal);
        }
        let slots = self.branch((op, at), (deferred, sets_codes), thrown);
        if OBSERVED && slots != 0 {
            let ((me, context), pc) = (who, at as u16);
            let aborted = TraceEvent::Aborted {
                me,
                context,
                pc,
                slots,
            };
            journal.put(self.arrived - slots, aborted);
        }
        true
    }

    /// Tells of the instructions of the line up to an address.
    fn tell(&self, (me, context): (u8, u8), to: usize, journal: &mut Journal) {
        if to != self.from {
            let issued = TraceEvent::Issued {
                me,
                context,
                pc: self.from as u16,
                count: (to - self.from) as u16,
            };
            journal.put(self.ahead.wrapping_add(self.from as Cycle), issued);
        }
    }
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

/// What may be run of an operation when the next word follows in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// All of it.
    Whole,
    /// Its quick form. What is at hand is so only if the word before was quick.
    Quick(FromHand),
}

/// Finds the forms of a program's operations. At the target of a branch the word
/// before is not always the last that ran.
pub(super) fn find_forms(ops: &[Op], sides: &[Side]) -> Vec<Form> {
    let mut targets = vec![false; ops.len()];
    for op in ops.iter().filter(|op| op.kind.branches()) {
        targets[usize::from(op.d)] = true;
    }
    let form = |at: usize| {
        let op = ops[at];
        let next = sides.get(at + 1).map_or(Trace::Other, |next| next.trace);
        let unread = match sides[at].trace {
            Trace::All => next == Trace::All,
            Trace::Operands => next != Trace::Other,
            Trace::Other => false,
        };
        if !unread || !Action::has_quick(op.kind) {
            return Form::Whole;
        }
        let before = at.checked_sub(1).filter(|_| !targets[at]);
        let result = before.map(|before| ops[before].d);
        Form::Quick(match (result == Some(op.a), result == Some(op.b)) {
            (true, false) => FromHand::A,
            (false, true) => FromHand::B,
            _ => FromHand::Neither,
        })
    };
    (0..ops.len()).map(form).collect()
}

/// The action of the operation at an address, from the one before and the ones
/// around it.
pub(super) fn action_at(ops: &[Op], forms: &[Form], at: usize) -> Action {
    let op = &ops[at];
    if op.marks & Op::WATCHED != 0 {
        return Action::Stop;
    }
    let branches = op.kind.branches();
    if !branches && !op.kind.is_of_datapath() {
        return Action::Stop;
    }
    if op.marks & Op::GUARDED != 0 {
        return match (branches, op.marks & Op::LOCAL != 0) {
            (true, _) => Action::OwnedBranch,
            (false, true) => Action::Local,
            (false, false) => {
                let [a, b, d] = [op.a, op.b, op.d].map(|slot| (S_IN..NN).contains(&slot));
                match (a, b, d) {
                    (true, false, false) => Action::OwnedA,
                    (false, true, false) => Action::OwnedB,
                    (false, false, true) => Action::OwnedD,
                    _ => Action::Owned,
                }
            }
        };
    }
    let goes_on = ops.get(at + 1).is_some_and(Op::is_plain);
    match forms[at] {
        Form::Quick(from_hand) if goes_on => {
            let at_hand = at
                .checked_sub(1)
                .is_some_and(|at| ops[at].action.is_quick());
            let first = Action::quick(
                op.kind,
                if at_hand {
                    from_hand
                } else {
                    FromHand::Neither
                },
            );
            pair_at(ops, forms, at, first).unwrap_or(first)
        }
        _ => Action::whole(op.kind),
    }
}

/// The action of an operation and the next as one, where the next takes as its B
/// operand what the first leaves, and neither is the last that is quick.
fn pair_at(ops: &[Op], forms: &[Form], at: usize, first: Action) -> Option<Action> {
    let (op, next) = (&ops[at], ops.get(at + 1)?);
    let joins = forms[at + 1] == Form::Quick(FromHand::B)
        && next.is_plain()
        && ops.get(at + 2).is_some_and(Op::is_plain);
    joins
        .then(|| Action::pair(first, next.kind, next.a == op.b))
        .flatten()
}
