//! Loops of one line of code: a branch back to the first word of its own line, with
//! nothing but operations on registers before it.
//!
//! The interpreter's loop pays for such a branch as for any other, and for each operation it looks
//! for what it might be. Where a line goes round, all of that is known: its operations
//! become steps, which only have what is needed to come to the next; its rounds are
//! counted, and its account is drawn up when they are over. Steps have no other exit than
//! the end of the round, so whoever stops before or after finds every bit of state.

use super::action::{Action, with_actions};
use super::ahead::Thrown;
use super::datapath::{Codes, Datapath, result, taken};
use super::form::Form;
use super::line::Line;
use super::operation::{Kind, Op};
use super::registers::SLOTS;
use crate::Cycle;

/// The words of a program that may go round: the first, and the branch back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    pub first: usize,
    pub branch: usize,
}

impl Round {
    pub fn contains(self, at: usize) -> bool {
        (self.first..=self.branch).contains(&at)
    }

    /// Whether nothing in it needs attention any more.
    pub fn is_plain(self, ops: &[Op]) -> bool {
        let guarded = |op: &Op| op.marks & Op::ATTENTION != 0;
        !ops[self.first..=self.branch].iter().any(guarded)
    }
}

/// Finds the rounds of a program, as far as they show in it. A branch with defer slots
/// goes on behind itself, and one on a transfer register may have to wait.
pub(super) fn find_rounds(ops: &[Op], forms: &[Form]) -> Vec<Round> {
    let round = |(branch, op): (usize, &Op)| {
        let first = usize::from(op.d);
        let back = op.kind.branches() && op.n == 0 && first < branch;
        let round = Round { first, branch };
        let inside = |at: usize| ops[at].kind.is_of_datapath() && ops[at].marks & Op::GUARDED == 0;
        // Quick but for the last, whose codes the branch may read.
        let quick = |at: usize| forms[at] != Form::Whole;
        let goes = back
            && op.marks & Op::GUARDED == 0
            && (first..branch).all(inside)
            && (first..branch - 1).all(quick);
        goes.then_some(round)
    };
    ops.iter().enumerate().filter_map(round).collect()
}

/// Which operand is the result of the operation before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FromHand {
    Neither,
    A,
    B,
}

/// One operation of a round, or a pair of which the second has the first's result as B.
/// Registers are those of the round, by its own numbers.
#[derive(Clone, Copy, Debug)]
struct Step<D = Does> {
    does: D,
    /// Shift count and mask, or the value: of a pair, those of the one that has them.
    n: u8,
    /// Where the result goes; of a pair, that of the second.
    d: u8,
    /// Where the result of a pair's first goes.
    first: u8,
    a: u8,
    b: u8,
    /// A of a pair's second; what an operation keeps of its old destination.
    other: u8,
    x: u32,
}

/// The registers that a round names: slots of the file, in the order of their numbers. So
/// many have numbers of a byte, and an array of as many needs no check of an index.
#[derive(Default)]
struct Registers(Vec<u16>);

/// The most registers of a round.
const MOST: usize = 1 << 8;

impl Registers {
    /// The number of a slot; `None` if there are too many.
    fn number(&mut self, slot: u16) -> Option<u8> {
        // What is no slot names one as well, as it does in the file.
        let slot = slot % SLOTS as u16;
        let known = self.0.iter().position(|it| *it == slot);
        let number = known.unwrap_or_else(|| {
            self.0.push(slot);
            self.0.len() - 1
        });
        u8::try_from(number).ok()
    }
}

/// Whether an operation uses its shift count and mask, or its value.
fn has_number(kind: Kind) -> bool {
    use Kind as K;
    matches!(
        kind,
        K::ShfB
            | K::ShfNotB
            | K::ShfAnd
            | K::ShfNotAAnd
            | K::ShfAndNot
            | K::ShfOr
            | K::LdField
            | K::Immed
            | K::ImmedMerge
    )
}

impl<D> Step<D> {
    fn new(does: D, op: &Op, registers: &mut Registers) -> Option<Self> {
        let d = registers.number(op.d)?;
        Some(Self {
            does,
            n: op.n,
            d,
            first: d,
            a: registers.number(op.a)?,
            b: registers.number(op.b)?,
            other: registers.number(op.y)?,
            x: op.x,
        })
    }
}

impl Step {
    fn single(op: &Op, from_hand: FromHand, registers: &mut Registers) -> Option<Self> {
        let does = Does::quick(op.kind, from_hand)?;
        Self::new(does, op, registers)
    }

    /// Two operations as one step, if there is one for them.
    fn pair(op: &Op, from_hand: FromHand, next: &Op, registers: &mut Registers) -> Option<Self> {
        let takes = next.b == op.d && next.a != op.d;
        if !takes || has_number(op.kind) && has_number(next.kind) {
            return None;
        }
        let first = Does::quick(op.kind, from_hand)?;
        let does = first.joined(next.kind, next.a == op.b)?;
        let numbers = if has_number(next.kind) { next } else { op };
        Some(Self {
            n: numbers.n,
            x: numbers.x,
            d: registers.number(next.d)?,
            other: registers.number(next.a)?,
            ..Self::new(does, op, registers)?
        })
    }
}

/// A round as one context runs it.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    pub round: Round,
    /// All but the last operation and the branch, two at a time: what finds the next two is a
    /// fifth of what they take. An odd one is followed by nothing.
    steps: Box<[[Step; 2]]>,
    /// The last operation, and what is done with it and the branch.
    decision: Step<Decides>,
    registers: Box<[u16]>,
    last: Op,
    branch: Op,
    /// The register that the branch may read.
    tested: u8,
}

/// How rounds ended.
struct Ended {
    /// How many times the branch was taken.
    taken: u64,
    /// Whether it was not at last.
    behind: bool,
    /// The operands of the last operation.
    x: u32,
    y: u32,
}

impl Rounds {
    /// A round in which nothing needs attention; `None` where an operation has no step.
    pub fn new(round: Round, ops: &[Op]) -> Option<Self> {
        let Round { first, branch } = round;
        let mut registers = Registers::default();
        let mut steps = Vec::new();
        let mut quick = &ops[first..branch - 1];
        let mut hand = None;
        while let [op, after @ ..] = quick {
            let from_hand = match (hand == Some(op.a), hand == Some(op.b)) {
                (true, false) => FromHand::A,
                (false, true) => FromHand::B,
                _ => FromHand::Neither,
            };
            let pair = after
                .first()
                .and_then(|next| Step::pair(op, from_hand, next, &mut registers));
            quick = if pair.is_some() { &after[1..] } else { after };
            let step = pair.or_else(|| Step::single(op, from_hand, &mut registers))?;
            let behind = if pair.is_some() { &after[0] } else { op };
            hand = Some(behind.d);
            steps.push(step);
        }
        let (last, branch) = (ops[branch - 1], ops[branch]);
        if !Action::has_quick(last.kind) || last.marks & Op::SETS_CODES == 0 {
            return None;
        }
        let decides = Action::decided(last.kind, branch.kind).and_then(Decides::of);
        let decides = decides.unwrap_or(Decides::Other);
        let decision = Step::new(decides, &last, &mut registers)?;
        let tested = registers.number(branch.b)?;
        let nothing = |step: Step| Step {
            does: Does::Nothing,
            ..step
        };
        let twos = steps.chunks(2).map(|two| {
            let second = two.get(1).copied();
            [two[0], second.unwrap_or(nothing(two[0]))]
        });
        Some(Self {
            round,
            steps: twos.collect(),
            decision,
            registers: registers.0.into(),
            last,
            branch,
            tested,
        })
    }

    /// Goes round from the first word, until the branch is not taken or the line
    /// comes to the cycle behind which the limit is not far. Gives the address at which
    /// that ended: behind the branch, or the first word.
    #[inline(never)]
    pub fn run(
        &self,
        datapath: &mut Datapath,
        line: &mut Line,
        (thrown, aborted): (&mut Thrown, &mut Cycle),
        calm: Cycle,
    ) -> usize {
        let Round { first, branch } = self.round;
        let words = (branch + 1 - first) as Cycle;
        let period = words + Cycle::from(self.branch.a);
        let most = calm.saturating_sub(line.cycle_of(first)).div_ceil(period);
        let mut own = [0; MOST];
        for (own, &slot) in own.iter_mut().zip(&self.registers) {
            *own = datapath.get(slot);
        }
        let ended = self.rounds(&mut own, most.max(1), datapath.context);
        for (own, &slot) in own.iter().zip(&self.registers) {
            datapath.put(slot, *own);
        }
        datapath.leave(&self.last, ended.x, ended.y);
        if ended.taken != 0 {
            *aborted += line.rounds((&self.branch, branch), (ended.taken, period), thrown);
        }
        if ended.behind { branch + 1 } else { first }
    }

    /// The last operation, and whether its branch is taken, if the interpreter's loop has no action
    /// for these two.
    #[inline(never)]
    fn decide(&self, own: &mut [u32; MOST], context: u8) -> bool {
        let step = &self.decision;
        let (x, y) = (own[usize::from(step.a)], own[usize::from(step.b)]);
        let result = result(self.last.kind, (step.n, step.x), x, y, 0);
        own[usize::from(step.d)] = result;
        let codes = Codes::of(self.last.kind, x, y, result);
        let word = own[usize::from(self.tested)];
        taken(self.branch.kind, self.branch.x, codes, word, context)
    }
}

macro_rules! rounds_loop {
    (
        operations { $($kind:ident $whole:ident $with_a:ident $with_b:ident;)* }
        owned { $($moved:ident $owned:ident $tested:ident;)* }
        alone { $($alone:ident)* }
        branches { $($branch:ident)* }
        joined { $($first:ident $second:ident
            $pair:ident $pair_at_hand:ident $same:ident $same_at_hand:ident;)* }
        decided { $($test:ident $way:ident $decided:ident;)* }
    ) => {
        /// What a step does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Does {
            $($kind, $with_a, $with_b,)*
            $($pair, $pair_at_hand, $same, $same_at_hand,)*
            /// It leaves what is at hand, and where it went, as they are.
            Nothing,
        }

        impl Does {
            /// What a quick operation does.
            fn quick(kind: Kind, from_hand: FromHand) -> Option<Self> {
                match (kind, from_hand) {
                    $(
                        (Kind::$kind, FromHand::Neither) => Some(Self::$kind),
                        (Kind::$kind, FromHand::A) => Some(Self::$with_a),
                        (Kind::$kind, FromHand::B) => Some(Self::$with_b),
                    )*
                    _ => None,
                }
            }

            /// What it does with the quick one behind it, which has its result as B, if they make
            /// a pair; `same`: the other operand of the second is the first's B.
            fn joined(self, second: Kind, same: bool) -> Option<Self> {
                let at_hand = |kind| Self::quick(kind, FromHand::B) == Some(self);
                match (second, same) {
                    $(
                        (Kind::$second, false) if self == Self::$first => Some(Self::$pair),
                        (Kind::$second, true) if self == Self::$first => Some(Self::$same),
                        (Kind::$second, false) if at_hand(Kind::$first) => Some(Self::$pair_at_hand),
                        (Kind::$second, true) if at_hand(Kind::$first) => Some(Self::$same_at_hand),
                    )*
                    _ => None,
                }
            }
        }

        /// What the last operation and the branch do.
        #[derive(Clone, Copy, Debug)]
        enum Decides {
            $($decided,)*
            /// The interpreter's loop has no action for these two.
            Other,
        }

        impl Decides {
            fn of(action: Action) -> Option<Self> {
                match action {
                    $(Action::$decided => Some(Self::$decided),)*
                    _ => None,
                }
            }
        }

        impl Step {
            /// Takes a step; gives its result, which is at hand for the next.
            #[inline(always)]
            #[allow(clippy::inline_always)] // It is the body of the loop.
            fn take(&self, own: &mut [u32; MOST], hand: u32) -> u32 {
                macro_rules! own {
                    ($register:ident) => {
                        own[usize::from(self.$register)]
                    };
                }
                let number = (self.n, self.x);
                let result = match self.does {
                    $(
                        Does::$kind => {
                            result(Kind::$kind, number, own!(a), own!(b), own!(other))
                        }
                        Does::$with_a => result(Kind::$kind, number, hand, own!(b), own!(other)),
                        Does::$with_b => result(Kind::$kind, number, own!(a), hand, own!(other)),
                    )*
                    $(
                        Does::$pair => {
                            let first = result(Kind::$first, number, own!(a), own!(b), 0);
                            own!(first) = first;
                            result(Kind::$second, number, own!(other), first, 0)
                        }
                        Does::$same => {
                            let y = own!(b);
                            let first = result(Kind::$first, number, own!(a), y, 0);
                            own!(first) = first;
                            result(Kind::$second, number, y, first, 0)
                        }
                        Does::$pair_at_hand => {
                            let first = result(Kind::$first, number, own!(a), hand, 0);
                            own!(first) = first;
                            result(Kind::$second, number, own!(other), first, 0)
                        }
                        Does::$same_at_hand => {
                            let first = result(Kind::$first, number, own!(a), hand, 0);
                            own!(first) = first;
                            result(Kind::$second, number, hand, first, 0)
                        }
                    )*
                    Does::Nothing => hand,
                };
                own!(d) = result;
                result
            }
        }

        impl Rounds {
            /// Goes round at most so many times, which is not 0, on registers of its own.
            fn rounds(&self, own: &mut [u32; MOST], most: u64, context: u8) -> Ended {
                let last = &self.decision;
                let mut left = most;
                loop {
                    let mut hand = 0;
                    for [first, second] in &self.steps {
                        hand = first.take(own, hand);
                        hand = second.take(own, hand);
                    }
                    let (x, y) = (own[usize::from(last.a)], own[usize::from(last.b)]);
                    let again = match last.does {
                        $(
                            Decides::$decided => {
                                let result = result(Kind::$test, (last.n, last.x), x, y, 0);
                                own[usize::from(last.d)] = result;
                                let codes = Codes::of(Kind::$test, x, y, result);
                                taken(Kind::$way, 0, codes, 0, context)
                            }
                        )*
                        Decides::Other => self.decide(own, context),
                    };
                    left -= u64::from(again);
                    if !again || left == 0 {
                        return Ended { taken: most - left, behind: !again, x, y };
                    }
                }
            }
        }
    };
}

with_actions!(rounds_loop);
