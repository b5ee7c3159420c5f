//! A program as one context runs it: its operands resolved to the context's own
//! registers, and what the dispatch loop does at each address.

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
    /// The commands, as [`Op::x`] numbers them.
    commands: Arc<[BoundCommand]>,
}

impl BoundProgram {
    /// A program's operations for a context of a microengine.
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

    /// A command, by its number in the program.
    #[inline]
    pub fn command(&self, number: u32) -> &BoundCommand {
        &self.commands[number as usize]
    }

    #[inline]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The marks of what stands at an address; `None` beyond the program.
    #[inline]
    pub fn flags(&self, at: u16) -> Option<u8> {
        self.ops.get(usize::from(at)).map(|op| op.flags)
    }

    /// The operation at an address is verified: it needs no more checks.
    pub fn clear_checks(&mut self, at: usize) {
        if self.ops[at].flags & Op::UNVERIFIED == 0 {
            return;
        }
        let ops = Arc::make_mut(&mut self.ops);
        ops[at].flags &= !Op::UNVERIFIED;
        // The one before may now run into it.
        for at in at.saturating_sub(1)..=at {
            ops[at].handler = handler_at(ops, &self.side_effects, at);
        }
    }

    /// Which operations are unverified, bit `at % 8` of byte `at / 8`; nothing
    /// where the program is not bound.
    pub fn unverified(&self) -> Vec<u8> {
        let mut bits = vec![0; self.ops.len().div_ceil(8)];
        for (at, op) in self.ops.iter().enumerate() {
            if op.flags & Op::UNVERIFIED != 0 {
                bits[at / 8] |= 1 << (at % 8);
            }
        }
        bits
    }

    /// Clears the checks that were cleared where `unverified` comes from.
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
