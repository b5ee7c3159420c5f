//! Which form of each operation the interpreter's loop runs: found once for a program, as far
//! as it shows in the program, and then for each context by what needs attention.

use npsim_isa::{Instruction, Leaves, csr};

use super::action::Action;
use super::operation::{Kind, Op, Side};

/// Which operand is the result of the word before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FromHand {
    Neither,
    A,
    B,
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
    if op.marks & Op::RING != 0 {
        return Action::Ring;
    }
    let branches = op.kind.branches();
    if !branches && !op.kind.is_of_datapath() {
        return outside(op, ops.get(at + 1));
    }
    if op.marks & Op::GUARDED != 0 {
        return match (branches, op.marks & Op::LOCAL != 0) {
            (true, _) => Action::OwnedBranch,
            (false, true) if op.word().is_some() => Action::LocalWord,
            (false, true) => Action::Local,
            (false, false) => Action::owned(op),
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
            joined_at(ops, forms, at, first).unwrap_or(first)
        }
        _ => decided_at(ops, at).unwrap_or_else(|| Action::whole(op.kind)),
    }
}

/// The action of an operation that leaves the datapath and is not watched, from the next.
fn outside(op: &Op, next: Option<&Op>) -> Action {
    if op.marks & (Op::GUARDED | Op::FINISHES) != 0 {
        return Action::Stop;
    }
    match op.kind {
        Kind::Command => Action::Command,
        Kind::Arb => Action::GiveUp,
        Kind::CsrWrite => match op.x as u16 {
            csr::ACTIVE_LM_ADDR_0 | csr::ACTIVE_LM_ADDR_1 => Action::PointerWrite,
            _ => Action::CsrWrite,
        },
        Kind::CsrRead if op.marks & Op::POLLS == 0 => {
            let clock = op.x as u16 == csr::TIMESTAMP_LOW;
            if clock && next.is_some_and(Op::only_loads) {
                Action::Clock
            } else {
                Action::CsrRead
            }
        }
        _ if op.marks & Op::POLLS != 0 => Action::Poll,
        _ => Action::Stop,
    }
}

/// The action of a quick operation and the next as one, where the next takes as its B
/// operand what the first leaves, and neither is the last that is quick.
fn joined_at(ops: &[Op], forms: &[Form], at: usize, first: Action) -> Option<Action> {
    let (op, next) = (&ops[at], ops.get(at + 1)?);
    let joins = forms[at + 1] == Form::Quick(FromHand::B)
        && next.is_plain()
        && ops.get(at + 2).is_some_and(Op::is_plain);
    joins
        .then(|| Action::joined(first, next.kind, next.a == op.b))
        .flatten()
}

/// The action of an operation and the branch behind it as one.
fn decided_at(ops: &[Op], at: usize) -> Option<Action> {
    let next = ops.get(at + 1)?;
    let alone = next.marks & Op::ATTENTION == 0;
    alone
        .then(|| Action::decided(ops[at].kind, next.kind))
        .flatten()
}
