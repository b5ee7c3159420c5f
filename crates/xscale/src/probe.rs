//! What a debugger looks for within the jobs of the processor.
//!
//! A job makes up to 512 core cycles of instructions in one cycle of the chip, and only between two jobs is the chip
//! in a state that a run goes on from. Shorter jobs would be another run: interrupts and other tasks would get their turn
//! earlier, and the times of instructions would be rounded more often. So the run of a debugger has the jobs of every
//! other run, and what it wants to know of the middle of one it finds in copies of the chip:
//!
//! - A probe *notes* at which instructions of which jobs something is that is looked for. The instructions are then made one
//!   by one, which gives the same state as all at once ([`Probe::run`]).
//! - A probe *cuts* the job of a copy before an instruction. That copy shows registers and memory as they are there;
//!   it is looked at and thrown away, since the run goes on from the state before the job.
//!
//! Instructions have numbers, counted from the beginning of the run: [`Cpu::instructions`] is that of the next. Laps of a
//! loop that are counted and not simulated have none.

use std::ops::Range;

use npsim_arm::{Cpu, RunEnd};
use npsim_chip::Cycle;
use npsim_chip::gpp::Access;

use crate::board::{Board, Refusal};
use crate::calls::Calls;
use crate::frame::{Before, Frame};
use crate::map::{self, Target};

/// What a probe noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The cycle of the job.
    pub cycle: Cycle,
    /// The instruction that is made next then.
    pub number: u64,
    /// Stack pointer, link register and status there.
    pub frame: Frame,
    /// What is there.
    pub what: Noted,
}

/// What an instruction was noted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// It stands at this address, and is about to be made.
    Instruction(u32),
    /// Before it a longword changed; if the probe looks [backward](Probe::backward) the change is by it, or by others
    /// before it is made.
    Change {
        /// The longword's address.
        address: u32,
        /// What was there.
        before: u32,
        /// What is there now.
        now: u32,
    },
}

/// What is looked for, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// The numbers that are noted.
    pub numbers: Range<u64>,
    /// Every instruction is noted, and not only those at [`Self::addresses`].
    pub every: bool,
    /// Addresses of instructions, in rising order.
    pub addresses: Vec<u32>,
    /// Longwords of memories whose changes are noted, with what stands there.
    pub words: Vec<(u32, Option<u32>)>,
    /// A change is noted before the instruction that makes it, as a search backward meets it, and not behind it.
    pub backward: bool,
    /// The cycle at which the words were looked at last.
    pub looked: Cycle,
    /// The job is cut before the instruction of this number.
    pub until: Option<u64>,
    /// What was noted, in order.
    pub passes: Vec<Pass>,
}

impl Probe {
    const fn notes(&self) -> bool {
        self.every || !self.addresses.is_empty() || !self.words.is_empty()
    }

    /// Whether the job ends before the instruction that is next; an interrupt comes before that.
    pub(crate) fn cuts(&self, cpu: &Cpu) -> bool {
        self.until == Some(cpu.instructions()) && cpu.interrupt_due().is_none()
    }

    /// Makes instructions as [`Cpu::run`] does, and what that gives; one by one where something is looked for or the call
    /// stack is kept.
    pub(crate) fn run(
        &mut self,
        cpu: &mut Cpu,
        board: &mut Board<'_, '_>,
        cycles: u64,
        calls: &mut Calls,
    ) -> (u64, RunEnd<Refusal>) {
        if !self.notes() && self.until.is_none() && !calls.is_on() {
            return cpu.run(board, cycles);
        }
        let mut spent = 0;
        while !self.cuts(cpu) {
            let before = Before::of(cpu);
            // An instruction takes a cycle at least.
            let (more, ended) = cpu.run(board, 1);
            spent += more;
            let event = match &ended {
                RunEnd::Event(event) => Some(event),
                _ => None,
            };
            calls.made(&before, cpu, &board.setup.program, more, event);
            self.made(before, cpu, board.access);
            if !matches!(ended, RunEnd::Spent) || spent >= cycles {
                return (spent, ended);
            }
        }
        (spent, RunEnd::Spent)
    }

    /// A job begins: others may have changed memory since the one before.
    pub(crate) fn begins(&mut self, cpu: &Cpu, access: &Access<'_>) {
        let word = |address| word(address, access);
        self.looked_at(access.now(), cpu, word);
    }

    /// What others changed since the words were looked at; the job that is next will not see it as a change.
    pub fn looked_at(&mut self, now: Cycle, cpu: &Cpu, word: impl Fn(u32) -> Option<u32>) {
        let cycle = if self.backward { self.looked } else { now };
        self.look((cycle, cpu.instructions()), Frame::of(cpu), word);
        self.looked = now;
    }

    /// The instruction of an address and a number was to be made; it was not if the bus refused it or an interrupt came
    /// before it.
    pub(crate) fn made(&mut self, before: Before, cpu: &Cpu, access: &Access<'_>) {
        let Before {
            address,
            number,
            frame,
        } = before;
        if cpu.instructions() == number || !self.notes() {
            return;
        }
        let wanted = self.every || self.addresses.binary_search(&address).is_ok();
        if wanted {
            self.note((access.now(), number), frame, Noted::Instruction(address));
        }
        let number = number + u64::from(!self.backward);
        let word = |address| word(address, access);
        self.look((access.now(), number), Frame::of(cpu), word);
        self.looked = access.now();
    }

    fn note(&mut self, (cycle, number): (Cycle, u64), frame: Frame, what: Noted) {
        if self.numbers.contains(&number) {
            self.passes.push(Pass {
                cycle,
                number,
                frame,
                what,
            });
        }
    }

    fn look(&mut self, when: (Cycle, u64), frame: Frame, word: impl Fn(u32) -> Option<u32>) {
        for at in 0..self.words.len() {
            let (address, before) = self.words[at];
            let now = word(address);
            self.words[at].1 = now;
            if let (Some(before), Some(now)) = (before, now)
                && before != now
            {
                let what = Noted::Change {
                    address,
                    before,
                    now,
                };
                self.note(when, frame, what);
            }
        }
    }
}

/// The longword at an address, as a load reads it without the effects of one.
fn word(address: u32, access: &Access<'_>) -> Option<u32> {
    match map::target(address) {
        Target::Dram => access.dram_word(address),
        Target::Memory(place, _) => access.peek(place),
        _ => None,
    }
}
