//! A program as one context runs it: its operands resolved to the context's own
//! registers, and what the interpreter's loop does at each address.

use std::ops::Range;
use std::sync::Arc;

use super::action::Action;
use super::ahead::Thrown;
use super::datapath::Datapath;
use super::form::{Form, action_at};
use super::line::Line;
use super::operation::Op;
use super::predecoded::Predecoded;
use super::registers::{RELATIVE, resolve};
use super::rounds::{Round, Rounds};
use super::template::Order;
use crate::Cycle;

/// The operations of one context.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// Shared between copies of the chip until one of them changes it.
    ops: Arc<[Op]>,
    forms: Arc<[Form]>,
    /// Its commands, as [`Op::x`] numbers them.
    orders: Arc<[Order]>,
    /// The lines that go round, by their first address: nothing in them needs attention.
    rounds: Arc<Vec<Rounds>>,
}

impl Lane {
    /// A program's operations for a context of a microengine.
    pub fn new(program: &Predecoded, (me, context): (u8, u8)) -> Self {
        let base = u16::from(context) * 16;
        let own = |slot: u16| {
            if slot & RELATIVE == 0 {
                slot
            } else {
                resolve(slot, base) as u16
            }
        };
        let mut ops: Arc<[Op]> = program
            .ops
            .iter()
            .map(|&op| Op {
                d: own(op.d),
                a: own(op.a),
                b: own(op.b),
                y: own(op.y),
                ..op
            })
            .collect();
        let forms = Arc::clone(&program.forms);
        let all = Arc::make_mut(&mut ops);
        for at in 0..all.len() {
            all[at].action = action_at(all, &forms, at);
        }
        let orders = program.templates.iter().map(|it| it.order(me, context));
        let mut lane = Self {
            ops,
            forms,
            orders: orders.collect(),
            rounds: Arc::default(),
        };
        for &round in program.rounds.iter() {
            lane.try_round(round);
        }
        lane
    }

    /// A line goes round from now on, if nothing in it needs attention.
    fn try_round(&mut self, round: Round) {
        let Err(place) = self.place(round.first) else {
            return;
        };
        let plain = round.is_plain(&self.ops);
        let Some(rounds) = plain.then(|| Rounds::new(round, &self.ops)).flatten() else {
            return;
        };
        Arc::make_mut(&mut self.rounds).insert(place, rounds);
        let ops = Arc::make_mut(&mut self.ops);
        let around = round.first..round.first + 2;
        choose(ops, &self.forms, &self.rounds, around);
    }

    /// Where the line that goes round from an address stands among them, or would stand.
    fn place(&self, first: usize) -> Result<usize, usize> {
        self.rounds
            .binary_search_by_key(&first, |rounds| rounds.round.first)
    }

    /// Goes round from an address, with account of the slots that are thrown away and how many
    /// there are; gives the address at which that ended, or nothing if no line goes round from
    /// there.
    pub fn go_round(
        &self,
        at: usize,
        datapath: &mut Datapath,
        line: &mut Line,
        account: (&mut Thrown, &mut Cycle),
        calm: Cycle,
    ) -> Option<usize> {
        let place = self.place(at).ok()?;
        Some(self.rounds[place].run(datapath, line, account, calm))
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// A command, by its number in the program.
    #[inline]
    pub fn order(&self, number: u32) -> &Order {
        &self.orders[number as usize]
    }

    #[inline]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The marks of what stands at an address; `None` beyond the program.
    #[inline]
    pub fn marks(&self, at: u16) -> Option<u8> {
        self.ops.get(usize::from(at)).map(|op| op.marks)
    }

    /// The operation of a program needs no attention from now on.
    pub fn relieve(&mut self, at: usize, program: &Predecoded) {
        if self.ops[at].marks & Op::WATCHED == 0 {
            return;
        }
        let ops = Arc::make_mut(&mut self.ops);
        ops[at].marks &= !Op::WATCHED;
        // The one before may now run into it.
        let around = at.saturating_sub(1)..at + 1;
        choose(ops, &self.forms, &self.rounds, around);
        for &round in program.rounds.iter().filter(|round| round.contains(at)) {
            self.try_round(round);
        }
    }

    /// Which operations need attention, bit `at % 8` of byte `at / 8`; nothing
    /// when the lane is not open.
    pub fn watched(&self) -> Vec<u8> {
        let mut bits = vec![0; self.ops.len().div_ceil(8)];
        for (at, op) in self.ops.iter().enumerate() {
            if op.marks & Op::WATCHED != 0 {
                bits[at / 8] |= 1 << (at % 8);
            }
        }
        bits
    }

    /// Relieves what was relieved in the lane that gave `watched`.
    pub fn relieve_as(&mut self, watched: &[u8], program: &Predecoded) {
        for at in 0..self.ops.len() {
            let kept = watched
                .get(at / 8)
                .is_some_and(|byte| byte & 1 << (at % 8) != 0);
            if !kept && self.ops[at].marks & Op::WATCHED != 0 {
                self.relieve(at, program);
            }
        }
    }
}

/// Finds the actions of some operations anew.
fn choose(ops: &mut [Op], forms: &[Form], rounds: &[Rounds], range: Range<usize>) {
    for at in range {
        let goes_round = rounds.iter().any(|rounds| rounds.round.first == at);
        ops[at].action = if goes_round {
            Action::Rounds
        } else {
            action_at(ops, forms, at)
        };
    }
}
