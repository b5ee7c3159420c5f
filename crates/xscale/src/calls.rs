//! The call stack of a program, kept while a run is observed.
//!
//! The kind of a jump is determined from registers, however the compiler translated the function. A *call* leaves
//! the address after it in the link register; in Thumb, where compilers use BL for far jumps within a function, it
//! must also lead out of the function or to its beginning. A *return* leads to the address after the call, with the
//! stack pointer and mode of that time. An *exception* leads to a vector, and ends when the earlier mode and stack
//! pointer are back. Any other jump out of a function is a tail call, which replaces it by another.

use std::ops::Range;

use npsim_arm::status::{MODE, T};
use npsim_arm::{Cpu, Event, Mode};
use npsim_chip::Cycle;
use npsim_chip::gpp::Access;
use npsim_chip::kernel::trace_event::ProgramState;

use crate::clocks::Clocks;
use crate::elf::Program;
use crate::frame::Before;

/// Bytes occupied by the vectors.
const VECTORS: u32 = 0x20;
/// An exception returns to its instruction or at most this many bytes after it.
const RETURN_SLACK: u32 = 8;
/// Largest depth of calls that is tracked.
const MAX_DEPTH: usize = u16::MAX as usize;

/// A function that has not returned.
#[derive(Clone, Debug)]
struct Frame {
    function: u32,
    /// Where it returns to, and how many bytes after that at most.
    returns: (u32, u32),
    /// The stack pointer and mode before it was called.
    stack: u32,
    mode: u32,
}

impl Frame {
    /// Whether a jump to an address, with a stack pointer in a mode, returns from it.
    fn is_over(&self, pc: u32, of: (u32, u32)) -> bool {
        (self.stack, self.mode) == of && pc.wrapping_sub(self.returns.0) <= self.returns.1
    }
}

/// The call stack, and its changes in the current job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    is_on: bool,
    frames: Vec<Frame>,
    /// The instructions of the innermost function.
    span: Range<u32>,
    /// Core cycles of the job so far.
    core: u64,
    /// The innermost function at the beginning of the job, and each later one with the core cycle of the job from
    /// which it ran.
    moves: Vec<(u64, u16, u32)>,
}

impl Calls {
    /// Whether the stack is being tracked.
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Starts a job.
    pub fn begins(&mut self, cpu: &Cpu, program: &Program, is_observed: bool) {
        self.is_on = is_observed;
        if !is_observed {
            self.frames.clear();
            return;
        }
        if self.frames.is_empty() {
            self.enter(cpu.pc(), (0, 0), (0, 0), program);
        }
        self.core = 0;
        self.moves.clear();
        self.note();
    }

    /// Records an executed instruction, an exception, or both, which took `cycles` core cycles.
    #[inline]
    pub fn note_executed(
        &mut self,
        before: &Before,
        cpu: &Cpu,
        program: &Program,
        cycles: u64,
        event: Option<&Event>,
    ) {
        if self.is_on {
            self.core += cycles;
            let pc = cpu.pc();
            if pc.wrapping_sub(before.address) > 4 || !self.span.contains(&pc) {
                self.jumped(before, cpu, program, event);
            }
        }
    }

    fn jumped(&mut self, before: &Before, cpu: &Cpu, program: &Program, event: Option<&Event>) {
        let (at, pc) = (before.address, cpu.pc());
        let is_vector = |address: u32| address.wrapping_sub(cpu.vectors()) < VECTORS;
        if !is_vector(pc) || is_vector(at) {
            self.track_transfer(before, pc, (cpu, cpu.mode()), program);
            return;
        }
        let mut from = (at, before.frame.stack, before.frame.status & MODE);
        if let Some(Event::Exception { address, .. }) = event
            && cpu.instructions() != before.number
            && *address != at
            && let Some(mode) = cpu.spsr().and_then(Mode::from_bits)
        {
            // The instruction was executed, and an interrupt was taken before the next.
            self.track_transfer(before, *address, (cpu, mode), program);
            from = (*address, cpu.banked_register(mode, 13), mode.bits());
        }
        let (at, stack, mode) = from;
        self.enter(pc, (at, RETURN_SLACK), (stack, mode), program);
        self.note();
    }

    /// Handles an instruction that led to an address, in a mode.
    fn track_transfer(
        &mut self,
        before: &Before,
        pc: u32,
        (cpu, mode): (&Cpu, Mode),
        program: &Program,
    ) {
        let at = before.address;
        let (stack, link) = (cpu.banked_register(mode, 13), cpu.banked_register(mode, 14));
        let called = if before.frame.status & T == 0 {
            link == at.wrapping_add(4)
        } else {
            link == at.wrapping_add(3) && !self.is_inside(pc)
        };
        let falls_through = pc.wrapping_sub(at) <= 4;
        // The switch helpers of Thumb compilers leave the link register pointing at a case in their caller. If the
        // instruction before that case is a return, it looks like a call.
        let inner = self.frames.len() - 1;
        let leaves = inner > 0 && self.frames[inner].is_over(pc, (stack, mode.bits()));
        if called && !falls_through && !leaves {
            self.enter(pc, (link & !1, 0), (stack, mode.bits()), program);
        } else if let Some(over) = self.returned(pc, (stack, mode.bits())) {
            self.frames.truncate(over);
            self.arrive(pc, program);
        } else if self.span.contains(&pc) {
            return;
        } else {
            // A jump into the middle of an unfinished function, as by `longjmp`: the functions that it called are
            // finished.
            let span = program.span(pc);
            let outer = self.frames.iter().rposition(|it| it.function == span.start);
            if let Some(outer) = outer.filter(|_| pc != span.start) {
                self.frames.truncate(outer + 1);
            }
            self.arrive(pc, program);
        }
        self.note();
    }

    /// Whether an address lies in the innermost function, other than at its beginning.
    fn is_inside(&self, pc: u32) -> bool {
        let function = self.frames.last().map_or(0, |it| it.function);
        self.span.start == function && self.span.contains(&pc) && pc != function
    }

    /// The frame that a jump returns from.
    fn returned(&self, pc: u32, of: (u32, u32)) -> Option<usize> {
        let inner = self.frames.len() - 1;
        if inner > 0 && self.frames[inner].is_over(pc, of) {
            return Some(inner);
        }
        // Within the function, only a call of itself could end.
        if self.span.contains(&pc) {
            return None;
        }
        (1..inner).rev().find(|at| self.frames[*at].is_over(pc, of))
    }

    fn enter(
        &mut self,
        pc: u32,
        returns: (u32, u32),
        (stack, mode): (u32, u32),
        program: &Program,
    ) {
        if self.frames.len() < MAX_DEPTH {
            self.frames.push(Frame {
                function: pc,
                returns,
                stack,
                mode,
            });
        }
        self.arrive(pc, program);
    }

    /// Makes the function at an address the innermost one.
    fn arrive(&mut self, pc: u32, program: &Program) {
        self.span = program.span(pc);
        if let Some(frame) = self.frames.last_mut() {
            frame.function = name_address(pc, program);
        }
    }

    fn innermost(&self) -> (u16, u32) {
        let depth = self.frames.len().saturating_sub(1) as u16;
        (depth, self.frames.last().map_or(0, |it| it.function))
    }

    fn note(&mut self) {
        let (depth, function) = self.innermost();
        self.moves.push((self.core, depth, function));
    }

    /// The functions that have not returned, outermost first; the one at `pc` if the stack is not tracked.
    pub fn stack(&self, pc: u32, program: &Program) -> Vec<u32> {
        if self.frames.is_empty() {
            return vec![name_address(pc, program)];
        }
        self.frames.iter().map(|it| it.function).collect()
    }

    /// Reports to observers the job that began now: the accesses at its beginning, which took `spent` ME cycles,
    /// and what ran after them.
    pub fn trace_job(&self, access: &mut Access<'_>, spent: Cycle, clocks: &Clocks) {
        if !self.is_on {
            return;
        }
        let now = access.now();
        if let (Some((_, depth, function)), true) = (self.moves.first(), spent > 0) {
            access.trace_function(now, ProgramState::Accesses, *depth, *function);
        }
        for (core, depth, function) in &self.moves {
            let at = now + spent + clocks.passes(*core);
            access.trace_function(at, ProgramState::Runs, *depth, *function);
        }
    }

    /// Reports to observers the program's activity from a cycle on.
    pub fn trace_activity(&self, access: &mut Access<'_>, at: Cycle, doing: ProgramState) {
        if self.is_on {
            let (depth, function) = self.innermost();
            access.trace_function(at, doing, depth, function);
        }
    }
}

/// The address by which observers identify the function of an instruction; the instruction's own if no function is
/// known.
fn name_address(pc: u32, program: &Program) -> u32 {
    program.beginning(pc).unwrap_or(pc)
}
