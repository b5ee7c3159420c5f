//! Loops of one line of code: a branch back to the first word of its own line, with
//! nothing but operations on registers before it.
//!
//! The tight loop pays for such a branch as for any other, and for each operation it looks
//! for what it might be. Where a line goes round, all of that is known: its operations
//! become steps, which only have what is needed to come to the next; its rounds are
//! counted, and its account is drawn up when they are over. Steps have no other exit than
//! the end of the round, so whoever stops before or after finds every bit of state.

use super::action::{Action, with_actions};
use super::ahead::Thrown;
use super::datapath::Datapath;
use super::form::{Form, FromHand};
use super::line::Line;
use super::operation::{Kind, Op};
use super::tight::result;
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

/// One operation of a round, or a pair of which the second has the first's result as B.
#[derive(Clone, Copy, Debug)]
struct Step {
    does: Does,
    /// Shift count and mask, or the value: of a pair, those of the one that has them.
    n: u8,
    x: u32,
    /// Where the result goes; of a pair, that of the second.
    d: u16,
    /// Where the result of a pair's first goes.
    first: u16,
    a: u16,
    b: u16,
    /// A of a pair's second; what an operation keeps of its old destination.
    other: u16,
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

impl Step {
    fn single(op: &Op, from_hand: FromHand) -> Option<Self> {
        let does = Does::of(Action::quick(op.kind, from_hand))?;
        Some(Self {
            does,
            n: op.n,
            x: op.x,
            d: op.d,
            first: op.d,
            a: op.a,
            b: op.b,
            other: op.y,
        })
    }

    /// Two operations as one step, if there is one for them.
    fn pair(op: &Op, from_hand: FromHand, next: &Op) -> Option<Self> {
        let takes = next.b == op.d && next.a != op.d;
        if !takes || has_number(op.kind) && has_number(next.kind) {
            return None;
        }
        let first = Action::quick(op.kind, from_hand);
        let does = Does::of(Action::joined(first, next.kind, next.a == op.b)?)?;
        let numbers = if has_number(next.kind) { next } else { op };
        Some(Self {
            does,
            n: numbers.n,
            x: numbers.x,
            d: next.d,
            other: next.a,
            ..Self::single(op, from_hand)?
        })
    }
}

/// A round as one context runs it.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    pub round: Round,
    /// All but the last operation and the branch.
    steps: Box<[Step]>,
    last: Op,
    branch: Op,
    /// What is done with these two.
    decision: Action,
}

impl Rounds {
    /// A round in which nothing needs attention; `None` where an operation has no step.
    pub fn new(round: Round, ops: &[Op]) -> Option<Self> {
        let Round { first, branch } = round;
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
                .and_then(|next| Step::pair(op, from_hand, next));
            quick = if pair.is_some() { &after[1..] } else { after };
            let step = pair.or_else(|| Step::single(op, from_hand))?;
            hand = Some(step.d);
            steps.push(step);
        }
        let (last, branch) = (ops[branch - 1], ops[branch]);
        let decision = Action::decided(last.kind, branch.kind);
        Some(Self {
            round,
            steps: steps.into(),
            last,
            branch,
            decision: decision.unwrap_or(Action::Datapath),
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
        thrown: &mut Thrown,
        calm: Cycle,
    ) -> usize {
        let Round { first, branch } = self.round;
        let words = (branch + 1 - first) as Cycle;
        let period = words + Cycle::from(self.branch.a);
        let most = calm.saturating_sub(line.cycle_of(first)).div_ceil(period);
        let (taken, ended) = self.rounds(datapath, most.max(1));
        if taken != 0 {
            line.rounds((&self.branch, branch), (taken, period), thrown);
        }
        if ended { branch + 1 } else { first }
    }
}

macro_rules! rounds_loop {
    (
        operations { $($kind:ident $whole:ident $with_a:ident $with_b:ident;)* }
        branches { $($branch:ident)* }
        joined { $($first:ident $second:ident
            $pair:ident $pair_at_hand:ident $same:ident $same_at_hand:ident;)* }
        decided { $($test:ident $way:ident $decided:ident;)* }
    ) => {
        /// What a step does, which is what the tight loop's action of the same name does. A
        /// type of its own has no others, so that the compiler need not ask for them.
        #[derive(Clone, Copy, Debug)]
        enum Does {
            $($kind, $with_a, $with_b,)*
            $($pair, $pair_at_hand, $same, $same_at_hand,)*
        }

        impl Does {
            fn of(action: Action) -> Option<Self> {
                match action {
                    $(
                        Action::$kind => Some(Self::$kind),
                        Action::$with_a => Some(Self::$with_a),
                        Action::$with_b => Some(Self::$with_b),
                    )*
                    $(
                        Action::$pair => Some(Self::$pair),
                        Action::$pair_at_hand => Some(Self::$pair_at_hand),
                        Action::$same => Some(Self::$same),
                        Action::$same_at_hand => Some(Self::$same_at_hand),
                    )*
                    _ => None,
                }
            }
        }

        impl Rounds {
            /// Goes round at most so many times, which is not 0. Gives how many times the
            /// branch was taken, and whether it was not at last.
            fn rounds(&self, datapath: &mut Datapath, most: u64) -> (u64, bool) {
                let mut taken = 0;
                let mut hand = 0;
                loop {
                    for step in &self.steps {
                        let number = (step.n, step.x);
                        hand = match step.does {
                            $(
                                Does::$kind => {
                                    let (x, y) = (datapath.get(step.a), datapath.get(step.b));
                                    result(Kind::$kind, number, x, y, datapath.get(step.other))
                                }
                                Does::$with_a => {
                                    let y = datapath.get(step.b);
                                    result(Kind::$kind, number, hand, y, datapath.get(step.other))
                                }
                                Does::$with_b => {
                                    let x = datapath.get(step.a);
                                    result(Kind::$kind, number, x, hand, datapath.get(step.other))
                                }
                            )*
                            $(
                                Does::$pair => {
                                    let (x, y) = (datapath.get(step.a), datapath.get(step.b));
                                    let first = result(Kind::$first, number, x, y, 0);
                                    datapath.put(step.first, first);
                                    result(Kind::$second, number, datapath.get(step.other), first, 0)
                                }
                                Does::$same => {
                                    let (x, y) = (datapath.get(step.a), datapath.get(step.b));
                                    let first = result(Kind::$first, number, x, y, 0);
                                    datapath.put(step.first, first);
                                    result(Kind::$second, number, y, first, 0)
                                }
                                Does::$pair_at_hand => {
                                    let x = datapath.get(step.a);
                                    let first = result(Kind::$first, number, x, hand, 0);
                                    datapath.put(step.first, first);
                                    result(Kind::$second, number, datapath.get(step.other), first, 0)
                                }
                                Does::$same_at_hand => {
                                    let x = datapath.get(step.a);
                                    let first = result(Kind::$first, number, x, hand, 0);
                                    datapath.put(step.first, first);
                                    result(Kind::$second, number, hand, first, 0)
                                }
                            )*
                        };
                        datapath.put(step.d, hand);
                    }
                    let again = match self.decision {
                        $(
                            Action::$decided => {
                                datapath.operate_as(Kind::$test, &self.last);
                                datapath.decides(Kind::$way, &self.branch)
                            }
                        )*
                        _ => {
                            datapath.operate_apart(&self.last);
                            datapath.condition(&self.branch)
                        }
                    };
                    if !again {
                        return (taken, true);
                    }
                    taken += 1;
                    if taken == most {
                        return (taken, false);
                    }
                }
            }
        }
    };
}

with_actions!(rounds_loop);
