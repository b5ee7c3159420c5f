//! A debugger's search within the jobs of the processor.
//!
//! A job runs up to 512 core cycles of instructions in one cycle of the chip, and a run can only continue from the
//! state between two jobs. Shorter jobs would make a different run: interrupts and other tasks would get their turn
//! earlier, and instruction times would be rounded more often. A debugger's run therefore has the same jobs as any
//! other run, and the middle of a job is examined in copies of the chip:
//!
//! - A probe *notes* the instructions and jobs at which something it searches for occurs. The instructions are then
//!   executed one by one, which gives the same state as executing them all at once ([`Probe::run`]).
//! - A probe *cuts* the job of a copy before an instruction. That copy shows registers and memory at that point; it
//!   is examined and discarded, since the run continues from the state before the job.
//!
//! Instructions are numbered from the beginning of the run: [`Cpu::instructions`] is the number of the next. Laps
//! of a loop that are counted rather than simulated have none.

use std::ops::Range;

use npsim_arm::{Cpu, RunEnd};
use npsim_chip::Cycle;
use npsim_chip::gpp::Access;

use crate::board::{Board, Refusal};
use crate::calls::Calls;
use crate::frame::{Before, Frame};
use crate::map::{self, Target};

/// Something that a probe noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeHit {
    /// The cycle of the job.
    pub cycle: Cycle,
    /// The number of the next instruction at that point.
    pub number: u64,
    /// Stack pointer, link register and status at that point.
    pub frame: Frame,
    /// What was noted.
    pub what: ProbeEvent,
}

/// Why an instruction was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeEvent {
    /// It is at this address and about to be executed.
    Instruction(u32),
    /// A longword changed before it; if the probe searches [backward](Probe::backward), the change is made by it,
    /// or by others before it is executed.
    Change {
        /// The longword's address.
        address: u32,
        /// The previous value.
        before: u32,
        /// The current value.
        now: u32,
    },
}

/// What to search for, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// The range of instruction numbers that are noted.
    pub numbers: Range<u64>,
    /// Whether every instruction is noted, rather than only those at [`Self::addresses`].
    pub every: bool,
    /// Addresses of instructions, in ascending order.
    pub addresses: Vec<u32>,
    /// Longwords of memory whose changes are noted, with their current values.
    pub words: Vec<(u32, Option<u32>)>,
    /// Whether a change is noted before the instruction that makes it, as a backward search meets it, rather than
    /// after.
    pub backward: bool,
    /// The cycle at which the words were last examined.
    pub last_examined: Cycle,
    /// The number of the instruction before which the job is cut.
    pub until: Option<u64>,
    /// What was noted, in order.
    pub probe_hits: Vec<ProbeHit>,
}

impl Probe {
    const fn notes(&self) -> bool {
        self.every || !self.addresses.is_empty() || !self.words.is_empty()
    }

    /// Whether the job ends before the next instruction; a pending interrupt comes first.
    pub(crate) fn cuts(&self, cpu: &Cpu) -> bool {
        self.until == Some(cpu.instructions()) && cpu.interrupt_due().is_none()
    }

    /// Runs instructions as [`Cpu::run`] does, with the same result; one by one if there is a search or the call
    /// stack is tracked.
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
            // An instruction takes at least one cycle.
            let (more, ended) = cpu.run(board, 1);
            spent += more;
            let event = match &ended {
                RunEnd::Event(event) => Some(event),
                _ => None,
            };
            calls.note_executed(&before, cpu, &board.setup.program, more, event);
            self.note_executed(before, cpu, board.access);
            if !matches!(ended, RunEnd::CyclesSpent) || spent >= cycles {
                return (spent, ended);
            }
        }
        (spent, RunEnd::CyclesSpent)
    }

    /// Starts a job: others may have changed memory since the previous one.
    pub(crate) fn begins(&mut self, cpu: &Cpu, access: &Access<'_>) {
        let word = |address| word(address, access);
        self.note_poll(access.now(), cpu, word);
    }

    /// Notes what others changed since the words were last examined, so that the next job does not take it for its
    /// own change.
    pub fn note_poll(&mut self, now: Cycle, cpu: &Cpu, word: impl Fn(u32) -> Option<u32>) {
        let cycle = if self.backward {
            self.last_examined
        } else {
            now
        };
        self.look((cycle, cpu.instructions()), Frame::of(cpu), word);
        self.last_examined = now;
    }

    /// Notes an instruction that was to be executed. It was not if the bus refused it or an interrupt came first.
    pub(crate) fn note_executed(&mut self, before: Before, cpu: &Cpu, access: &Access<'_>) {
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
            self.note(
                (access.now(), number),
                frame,
                ProbeEvent::Instruction(address),
            );
        }
        let number = number + u64::from(!self.backward);
        let word = |address| word(address, access);
        self.look((access.now(), number), Frame::of(cpu), word);
        self.last_examined = access.now();
    }

    fn note(&mut self, (cycle, number): (Cycle, u64), frame: Frame, what: ProbeEvent) {
        if self.numbers.contains(&number) {
            self.probe_hits.push(ProbeHit {
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
                let what = ProbeEvent::Change {
                    address,
                    before,
                    now,
                };
                self.note(when, frame, what);
            }
        }
    }
}

/// The longword at an address, as a load would read it but without side effects.
fn word(address: u32, access: &Access<'_>) -> Option<u32> {
    match map::target(address) {
        Target::Dram => access.dram_word(address),
        Target::Memory(place, _) => access.peek(place),
        _ => None,
    }
}
