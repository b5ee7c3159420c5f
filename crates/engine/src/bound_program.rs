//! A program as one context executes it: its operands resolved to the context's own registers, and
//! the handler for each address.

use std::sync::Arc;

use npsim_isa::Context;

use crate::block::{SideEffects, handler_at};
use crate::operation::Op;
use crate::predecoded_program::Predecoded;
use crate::registers::{RELATIVE, resolve};
use crate::template::BoundCommand;

/// The operations of one context.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundProgram {
    /// Shared between copies of the chip until one of them changes it.
    ops: Arc<[Op]>,
    side_effects: Arc<[SideEffects]>,
    /// The commands, indexed by [`Op::x`].
    commands: Arc<[BoundCommand]>,
}

impl BoundProgram {
    /// Binds a program's operations to a context of a microengine.
    pub fn new(program: &Predecoded, (me, context): (u8, Context)) -> Self {
        let base = u16::from(context.register_base());
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
        let side_effects = Arc::clone(&program.side_effects);
        let all = Arc::make_mut(&mut ops);
        for at in 0..all.len() {
            all[at].handler = handler_at(all, &side_effects, at);
        }
        let commands = program.templates.iter().map(|it| it.bind(me, context));
        Self {
            ops,
            side_effects,
            commands: commands.collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// A command, by its index in the program.
    #[inline]
    pub fn command(&self, number: u32) -> &BoundCommand {
        &self.commands[number as usize]
    }

    #[inline]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The flags of the operation at an address; `None` beyond the program.
    #[inline]
    pub fn flags(&self, at: u16) -> Option<u8> {
        self.ops.get(usize::from(at)).map(|op| op.flags)
    }

    /// Marks the operation at an address as verified: it needs no more checks.
    pub fn clear_checks(&mut self, at: usize) {
        if self.ops[at].flags & Op::UNVERIFIED == 0 {
            return;
        }
        let ops = Arc::make_mut(&mut self.ops);
        ops[at].flags &= !Op::UNVERIFIED;
        // The preceding operation may now be combined with it.
        for at in at.saturating_sub(1)..=at {
            ops[at].handler = handler_at(ops, &self.side_effects, at);
        }
    }

    /// A bitmap of unverified operations, bit `at % 8` of byte `at / 8`; empty if the program is
    /// not bound.
    pub fn unverified(&self) -> Vec<u8> {
        let mut bits = vec![0; self.ops.len().div_ceil(8)];
        for (at, op) in self.ops.iter().enumerate() {
            if op.flags & Op::UNVERIFIED != 0 {
                bits[at / 8] |= 1 << (at % 8);
            }
        }
        bits
    }

    /// Clears the checks that had been cleared when the bitmap `unverified` was made.
    pub fn clear_checks_as(&mut self, unverified: &[u8]) {
        for at in 0..self.ops.len() {
            let kept = unverified
                .get(at / 8)
                .is_some_and(|byte| byte & 1 << (at % 8) != 0);
            if !kept && self.ops[at].flags & Op::UNVERIFIED != 0 {
                self.clear_checks(at);
            }
        }
    }
}
