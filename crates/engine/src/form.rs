//! Which form of each operation the interpreter's loop runs: found once for a program, as far
//! as it shows in the program, and then for each context by what needs attention.

use npsim_isa::{Instruction, Leaves, csr};

use crate::action::Action;
use crate::operation::{Kind, Op, Side};
use crate::sender::only_sends;

/// What an operation leaves behind and what it reads of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trace {
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
pub(crate) enum Form {
    /// All of it.
    Whole,
    /// Its quick form.
    Quick,
}

/// Finds the forms of a program's operations.
pub(crate) fn find_forms(ops: &[Op], sides: &[Side]) -> Vec<Form> {
    let form = |at: usize| {
        let next = sides.get(at + 1).map_or(Trace::Other, |next| next.trace);
        let unread = match sides[at].trace {
            Trace::All => next == Trace::All,
            Trace::Operands => next != Trace::Other,
            Trace::Other => false,
        };
        if unread && Action::has_quick(ops[at].kind) {
            Form::Quick
        } else {
            Form::Whole
        }
    };
    (0..ops.len()).map(form).collect()
}

/// The action of the operation at an address, from it and the next.
pub(crate) fn action_at(ops: &[Op], forms: &[Form], at: usize) -> Action {
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
        Form::Quick if goes_on => Action::quick(op.kind),
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
            csr if only_sends(csr) => Action::CsrSend,
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

/// The action of an operation and the branch behind it as one.
fn decided_at(ops: &[Op], at: usize) -> Option<Action> {
    let next = ops.get(at + 1)?;
    let alone = next.marks & Op::ATTENTION == 0;
    alone
        .then(|| Action::decided(ops[at].kind, next.kind))
        .flatten()
}
