//! A program as one context runs it: its operands resolved to the context's own
//! registers, and what the interpreter's loop does at each address.

use std::sync::Arc;

use crate::form::{Form, action_at};
use crate::operation::Op;
use crate::predecoded::Predecoded;
use crate::registers::{RELATIVE, resolve};
use crate::template::Order;

/// The operations of one context.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    /// Shared between copies of the chip until one of them changes it.
    ops: Arc<[Op]>,
    forms: Arc<[Form]>,
    /// Its commands, as [`Op::x`] numbers them.
    orders: Arc<[Order]>,
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
        Self {
            ops,
            forms,
            orders: orders.collect(),
        }
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
    pub fn relieve(&mut self, at: usize) {
        if self.ops[at].marks & Op::WATCHED == 0 {
            return;
        }
        let ops = Arc::make_mut(&mut self.ops);
        ops[at].marks &= !Op::WATCHED;
        // The one before may now run into it.
        for at in at.saturating_sub(1)..=at {
            ops[at].action = action_at(ops, &self.forms, at);
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
    pub fn relieve_as(&mut self, watched: &[u8]) {
        for at in 0..self.ops.len() {
            let kept = watched
                .get(at / 8)
                .is_some_and(|byte| byte & 1 << (at % 8) != 0);
            if !kept && self.ops[at].marks & Op::WATCHED != 0 {
                self.relieve(at);
            }
        }
    }
}
