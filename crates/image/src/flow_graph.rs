//! The control flow of a program: the successors of each instruction, the defer slots an address
//! lies in, the addresses a context can still reach, and the loop around an address.
//!
//! Anything not known statically counts as possible: a conditional branch may go either way, a
//! computed jump (`jump`, `rtn`) may go anywhere.

use std::mem;
use std::ops::RangeInclusive;

use npsim_isa::{CtxArb, FlowClass, Instruction};

use crate::Image;

/// Largest number of defer slots of an instruction.
const MAX_DEFER: u16 = 3;

/// A decoded program with the successors of each instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowGraph {
    instructions: Vec<Option<Instruction>>,
}

/// Where control continues after an instruction and its defer slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successors {
    /// At one of these addresses; at none if the context exits or stops.
    Known([Option<u16>; 2]),
    /// At a computed address.
    Computed,
}

impl Successors {
    /// Returns the addresses that are known.
    pub fn addresses(self) -> impl Iterator<Item = u16> {
        let known = match self {
            Self::Known(addresses) => addresses,
            Self::Computed => [None; 2],
        };
        known.into_iter().flatten()
    }
}

/// The instruction whose defer slots an address lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeferSlot {
    /// Address of the instruction that takes effect after its defer slots.
    pub owner: u16,
    /// Number of the slot that the address lies in, from 1.
    pub slot: u8,
}

impl FlowGraph {
    /// Builds the control flow of an image, according to its context mode.
    #[must_use]
    pub fn of(image: &Image) -> Self {
        let all = 0..image.words.len() as u16;
        Self {
            instructions: all.map(|at| image.instruction(at)).collect(),
        }
    }

    /// Returns the instruction at an address; `None` past the end of the program or if the word is
    /// not a valid instruction.
    #[must_use]
    pub fn instruction(&self, at: u16) -> Option<&Instruction> {
        self.instructions.get(usize::from(at))?.as_ref()
    }

    /// Returns all addresses of the program, ascending.
    pub fn addresses(&self) -> impl Iterator<Item = u16> + use<> {
        0..self.instructions.len() as u16
    }

    /// Returns the nearest preceding instruction that has the address among its defer slots.
    #[must_use]
    pub fn defer_slot(&self, at: u16) -> Option<DeferSlot> {
        (1..=MAX_DEFER.min(at)).find_map(|back| {
            let owner = at - back;
            let slots = u16::from(self.instruction(owner)?.defer());
            (slots >= back).then_some(DeferSlot {
                owner,
                slot: back as u8,
            })
        })
    }

    /// Returns where control continues after an instruction, executed by a given context or by any
    /// of them; the context decides `br=ctx`.
    #[must_use]
    pub fn successors(&self, at: u16, context: Option<u8>) -> Successors {
        let Some(instruction) = self.instruction(at) else {
            return Successors::Known([None; 2]);
        };
        let next = Some(at + 1);
        let target = instruction.target();
        Successors::Known(match (instruction.form().flow, *instruction) {
            (FlowClass::Jump, _) => return Successors::Computed,
            (FlowClass::Next | FlowClass::Command, _) => [next, None],
            (FlowClass::Branch, _) => [target, None],
            (FlowClass::Arbitration, Instruction::CtxArb(arb)) if arb.breakpoint || exits(&arb) => {
                [None; 2]
            }
            (FlowClass::Arbitration, _) => {
                let fall_through = at + 1 + u16::from(instruction.defer());
                [target.or(Some(fall_through)), None]
            }
            (
                FlowClass::State,
                Instruction::BranchCtx {
                    equal,
                    context: number,
                    ..
                },
            ) if context.is_some() => {
                let taken = equal == (context == Some(number));
                [if taken { target } else { next }, None]
            }
            (FlowClass::Codes | FlowClass::Bit | FlowClass::State, _) => [next, target],
        })
    }

    /// Returns the addresses that a context may execute when it starts at any of `from`, ascending.
    #[must_use]
    pub fn reachable(&self, context: u8, from: impl IntoIterator<Item = u16>) -> Vec<u16> {
        self.reachable_through(context, from, |_| true)
    }

    /// Returns the addresses that a context may execute when it starts at any of `from` and stops
    /// before each instruction that does not pass, ascending.
    pub fn reachable_through(
        &self,
        context: u8,
        from: impl IntoIterator<Item = u16>,
        passes: impl Fn(&Instruction) -> bool,
    ) -> Vec<u16> {
        let passes_at = |at: &u16| self.instruction(*at).is_some_and(&passes);
        let mut seen = vec![false; self.instructions.len()];
        // Defer slots run with the instruction before them and have no successors of their own.
        let mut slots = Vec::new();
        let mut open: Vec<u16> = from.into_iter().collect();
        while let Some(at) = open.pop() {
            let Some(instruction) = self.instruction(at) else {
                continue;
            };
            if !passes(instruction) || mem::replace(&mut seen[usize::from(at)], true) {
                continue;
            }
            let successors = self.successors(at, Some(context));
            if successors == Successors::Computed {
                return self.addresses().filter(passes_at).collect();
            }
            let next = at + 1;
            if successors.addresses().all(|to| to != next) {
                slots.extend(next..next + u16::from(instruction.defer()));
            }
            open.extend(successors.addresses());
        }
        for at in slots {
            if let Some(seen) = seen.get_mut(usize::from(at)) {
                *seen = true;
            }
        }
        let all = self.addresses();
        all.filter(|at| seen[usize::from(*at)]).collect()
    }

    /// Returns the first and last address of the loop around an address in which a context stays as
    /// long as it executes only instructions that pass; just the address itself if it is in no such
    /// loop.
    pub fn enclosing_loop(
        &self,
        context: u8,
        pc: u16,
        passes: impl Fn(&Instruction) -> bool,
    ) -> RangeInclusive<u16> {
        let from = |at: u16| self.reachable_through(context, [at], &passes);
        let back = |at: &u16| *at != pc && from(*at).contains(&pc);
        let (mut first, mut last) = (pc, pc);
        for at in from(pc).into_iter().filter(back) {
            (first, last) = (first.min(at), last.max(at));
        }
        first..=last
    }
}

/// Whether a `ctx_arb` ends its context permanently (`ctx_arb[kill]`).
fn exits(arb: &CtxArb) -> bool {
    arb.any && arb.mask == 0 && !arb.keep_mask
}

#[cfg(test)]
mod tests {
    use npsim_isa::{Condition, encode};

    use super::*;

    const KILL: Instruction = Instruction::CtxArb(CtxArb {
        mask: 0,
        any: true,
        keep_mask: false,
        breakpoint: false,
        resume: None,
        defer: 0,
    });

    fn graph(program: &[Instruction]) -> FlowGraph {
        let words = program.iter().map(|it| encode(it).unwrap()).collect();
        FlowGraph::of(&Image::from_words("test", words))
    }

    fn branch(condition: Condition, target: u16, defer: u8) -> Instruction {
        Instruction::Branch {
            condition,
            target,
            defer,
        }
    }

    #[test]
    fn defer_slots_belong_to_the_branch_before_them() {
        let graph = graph(&[
            Instruction::Nop,
            branch(Condition::Always, 0, 2),
            Instruction::Nop,
            Instruction::Nop,
            Instruction::Nop,
        ]);
        let slots: Vec<_> = graph.addresses().map(|at| graph.defer_slot(at)).collect();
        let of = |slot| Some(DeferSlot { owner: 1, slot });
        assert_eq!(slots, [None, None, of(1), of(2), None]);
    }

    #[test]
    fn reachability_includes_defer_slots_and_stops_at_kill() {
        let graph = graph(&[
            branch(Condition::Always, 3, 1),
            Instruction::Nop,
            Instruction::Nop,
            KILL,
            Instruction::Nop,
        ]);
        assert_eq!(graph.reachable(0, [0]), [0, 1, 3]);
        assert_eq!(graph.successors(3, None), Successors::Known([None; 2]));
    }

    #[test]
    fn context_branch_has_one_successor_per_context() {
        let test = Instruction::BranchCtx {
            equal: true,
            context: 2,
            target: 3,
            defer: 0,
        };
        let graph = graph(&[test, KILL, KILL, KILL]);
        assert_eq!(graph.reachable(2, [0]), [0, 3]);
        assert_eq!(graph.reachable(1, [0]), [0, 1]);
        let either: Vec<_> = graph.successors(0, None).addresses().collect();
        assert_eq!(either, [1, 3]);
    }

    #[test]
    fn enclosing_loop_spans_all_paths_back() {
        let graph = graph(&[
            Instruction::Nop,
            Instruction::Nop,
            branch(Condition::Eq, 1, 0),
            branch(Condition::Always, 0, 0),
            KILL,
        ]);
        let all = |_: &Instruction| true;
        assert_eq!(graph.enclosing_loop(0, 1, all), 0..=3);
        let no_branch_back = |it: &Instruction| *it != branch(Condition::Always, 0, 0);
        assert_eq!(graph.enclosing_loop(0, 1, no_branch_back), 1..=2);
        assert_eq!(graph.enclosing_loop(0, 4, all), 4..=4);
    }
}
