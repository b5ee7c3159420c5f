//! One job of the processor: it runs instructions until one needs an access beyond the program's memory, or for a
//! quantum.

use std::sync::Arc;

use npsim_arm::status::{F, I};
use npsim_arm::{Event, Exception, Line, Mode, RunEnd, Unpredictable};
use npsim_chip::Cycle;
use npsim_chip::gpp::task::NextAction;
use npsim_chip::gpp::{Access, IdlePoll};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::trace_event::ProgramState;

use crate::board::{Board, Refusal};
use crate::devices::Footprint;
use crate::frame::Before;
use crate::interrupts;
use crate::problem::Problem;
use crate::processor::{Processor, Rest};
use crate::setup::Setup;
use crate::watch::{Key, Lap, Verdict};

/// Core cycles of a job that does nothing beyond the program's memory. Interrupts are taken between two jobs.
const QUANTUM: u64 = 512;
/// Largest loop, in instructions, that is searched for after a job that did nothing beyond the processor.
const SHORT_LOOP: u32 = 64;
/// Functions in which a program has ended.
const ENDS: [&str; 4] = ["halt", "_halt", "exit", "_exit"];

/// How the instructions of a job ended.
enum End {
    /// The next job continues.
    GoesOn,
    /// The processor is waiting for an interrupt.
    Waits,
    /// The processor is repeating a loop of instructions.
    Loops(Lap),
    /// The chip stops.
    Stops,
}

impl Processor {
    fn key(&self) -> Key {
        std::array::from_fn(|at| match at {
            16 => self.cpu.cpsr(),
            number => self.cpu.register(number),
        })
    }

    /// Runs the instructions of a job.
    pub(crate) fn job(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let Some(setup) = self.setup.clone() else {
            return ("nothing", NextAction::Exit(0));
        };
        let now = access.now();
        self.devices.active = false;
        self.wakes(now);
        self.set_lines(now, &setup);
        if let Rest::Waits { since } = self.rest {
            self.cpu.idle(self.clocks.idle(now - since));
            self.rest = Rest::Waits { since: now };
            if !self.cpu.interrupt_asserted() {
                return self.sleep(0, None, access, &setup);
            }
            self.rest = Rest::None;
        }
        self.note_arrivals(now, access, &setup);
        let is_observed = access.traces_functions();
        self.calls.begins(&self.cpu, &setup.program, is_observed);
        let footprint = self.devices.footprint;
        let instructions = self.cpu.instructions();
        match self
            .watch
            .begins(&self.key(), now, instructions, footprint.changed)
        {
            Verdict::Keep => {}
            Verdict::Forget => self.devices.footprint = Footprint::default(),
            Verdict::Loop(lap) => return self.sleep(0, Some(lap), access, &setup),
        }
        let (cost, end) = self.run(access, &setup);
        match end {
            End::GoesOn => {
                let due = now + cost;
                self.calls.trace_activity(access, due, ProgramState::Held);
                ("run", NextAction::Done { cost, due })
            }
            End::Waits => {
                self.rest = Rest::Waits { since: now + cost };
                self.set_lines(now, &setup);
                if self.cpu.interrupt_asserted() {
                    let due = now + cost;
                    self.calls.trace_activity(access, due, ProgramState::Held);
                    return ("run", NextAction::Done { cost, due });
                }
                self.sleep(cost, None, access, &setup)
            }
            End::Loops(lap) => self.sleep(cost, Some(lap), access, &setup),
            End::Stops => {
                self.rest = Rest::Ended;
                self.calls
                    .trace_activity(access, now + cost, ProgramState::Ended);
                ("stop", NextAction::Exit(cost))
            }
        }
    }

    /// Makes up for laps that were not simulated.
    fn wakes(&mut self, now: Cycle) {
        if let Rest::Loops { since, lap } = self.rest {
            let laps = (now - since) / lap.cycles;
            self.devices.counts.polls += laps;
            self.skipped += laps * lap.instructions;
            self.cpu.idle(self.clocks.idle(now - since));
            self.rest = Rest::None;
            self.polled = 0;
            self.watch.reset();
            self.devices.footprint = Footprint {
                changed: true,
                ..Footprint::default()
            };
        }
    }

    /// Takes note of arrivals since the last job: they end a loop that reads them or that an interrupt leaves, so
    /// the laps so far do not predict the next one.
    fn note_arrivals(&mut self, now: Cycle, access: &Access<'_>, setup: &Setup) {
        let signs = self.devices.signs(now, setup);
        let came = signs != std::mem::replace(&mut self.devices.signs, signs);
        let Footprint { rings, .. } = self.devices.footprint;
        let filled = (0..16).any(|ring| rings >> ring & 1 != 0 && !access.ring_is_empty(ring));
        self.devices.footprint.changed |= came || filled;
    }

    /// Sets the processor's interrupt lines to the devices' state at a cycle.
    fn set_lines(&mut self, now: Cycle, setup: &Setup) {
        self.devices.timers.advance(now, self.clocks.timers());
        let lines = self.devices.lines(now, setup);
        let (irq, fiq) = self.devices.interrupts.raised(lines);
        self.cpu.interrupt(Line::Irq, irq);
        self.cpu.interrupt(Line::Fiq, fiq);
    }

    /// Puts the processor to sleep: it does nothing that matters until something wakes it.
    fn sleep(
        &mut self,
        cost: Cycle,
        lap: Option<Lap>,
        access: &mut Access<'_>,
        setup: &Setup,
    ) -> (&'static str, NextAction) {
        let now = access.now();
        let unmasked = self.cpu.cpsr() & (I | F) != I | F;
        let Footprint { rings, looked, .. } = self.devices.footprint;
        let looked = looked && lap.is_some();
        let heeds = lap.is_none() || unmasked || looked;
        let next = self.devices.next(now, looked, setup, self.clocks.timers());
        let due = next.filter(|_| heeds);
        let threads = heeds && (looked || self.devices.interrupts.awaits_thread_interrupts());
        let polled = if lap.is_some() { rings } else { 0 };
        if due.is_none() && !threads && polled == 0 {
            if self.has_reached_end(setup) {
                self.rest = Rest::Ended;
                self.calls
                    .trace_activity(access, now + cost, ProgramState::Ended);
                return ("end", NextAction::Exit(cost));
            }
            let problem = self.endless_wait(lap.is_some(), now, setup);
            if self.stops(&problem, self.cpu.pc(), access, setup) {
                self.rest = Rest::Ended;
                self.calls
                    .trace_activity(access, now + cost, ProgramState::Ended);
                return ("stop", NextAction::Exit(cost));
            }
        }
        self.polled = polled;
        self.devices.counts.sleeps += 1;
        let doing = if lap.is_some() {
            ProgramState::Polls
        } else {
            ProgramState::Waits
        };
        self.calls.trace_activity(access, now + cost, doing);
        let Some(lap) = lap else {
            let next = NextAction::Sleep {
                cost,
                polls: None,
                due,
            };
            return ("wait", next);
        };
        self.rest = Rest::Loops {
            since: now + cost,
            lap,
        };
        let polls = IdlePoll {
            interval: lap.cycles,
            poll: lap.cycles,
        };
        let next = NextAction::Sleep {
            cost,
            polls: Some(polls),
            due,
        };
        ("poll", next)
    }

    /// The problem to report for a wait that nothing can end.
    fn endless_wait(&self, is_loop: bool, now: Cycle, setup: &Setup) -> Problem {
        let handles = matches!(self.cpu.mode(), Mode::Irq | Mode::Fiq);
        let (what, help) = if !is_loop {
            (
                "waits for an interrupt, and none is enabled that could come".to_owned(),
                "enable an interrupt in the controller before the wait; a program that has nothing more to do returns from main",
            )
        } else if self.cpu.interrupt_asserted() && (handles || self.cpu.interrupt_due().is_some()) {
            let names = interrupts::names(self.devices.raised(now, setup));
            (
                format!(
                    "takes the same interrupt again and again: no handler acknowledges it ({names})"
                ),
                "clear the interrupt at its source in the handler: write a 1 to 0x30 of a timer, clear the threads' bits in the raw status, read what the UART received; or disable it in the controller",
            )
        } else {
            (
                "repeats a loop in which nothing changes, and nothing can end it".to_owned(),
                "let the loop look at a ring, a device or memory of a [[memory]] section, or let an interrupt end it; a program that has nothing more to do returns from main",
            )
        };
        Problem::checked(Check::CoreEndlessWait, what, help)
    }

    fn has_reached_end(&self, setup: &Setup) -> bool {
        let function = setup.program.function(self.cpu.pc());
        function.is_some_and(|name| ENDS.contains(&name))
    }

    /// Runs instructions. Returns the ME cycles that they take and how they ended.
    fn run(&mut self, access: &mut Access<'_>, setup: &Arc<Setup>) -> (Cycle, End) {
        let now = access.now();
        let (mut core, mut spent) = (0, 0);
        let (mut tolerant, mut open) = (false, true);
        let mut budget = QUANTUM;
        self.probe.begins(&self.cpu, access);
        let end = loop {
            if self.probe.cuts(&self.cpu) {
                break End::GoesOn;
            }
            let pc = self.cpu.pc();
            let before = Before::of(&self.cpu);
            let mut board = Board::new(access, &mut self.devices, setup, &self.clocks);
            (board.open, board.tolerant) = (open, tolerant);
            let (mut event, mut refusal, mut is_over) = (None, None, false);
            if open || tolerant {
                match self.cpu.step(&mut board) {
                    Ok(step) => {
                        let cycles = u64::from(step.cycles);
                        core += cycles;
                        let happened = step.event.as_ref();
                        self.calls.note_executed(
                            &before,
                            &self.cpu,
                            &setup.program,
                            cycles,
                            happened,
                        );
                        event = step.event;
                    }
                    Err(refused) => refusal = Some(refused),
                }
                self.probe.note_executed(before, &self.cpu, board.access);
            } else {
                let cycles = budget.saturating_sub(core).max(1);
                let (cycles, ended) =
                    self.probe
                        .run(&mut self.cpu, &mut board, cycles, &mut self.calls);
                core += cycles;
                match ended {
                    RunEnd::CyclesSpent => is_over = true,
                    RunEnd::Bus => is_over = core >= budget,
                    RunEnd::AccessRefused(refused) => refusal = Some(refused),
                    RunEnd::Event(happened) => event = Some(happened),
                }
            }
            spent += board.spent;
            let (late, code_written) = (board.late.take(), board.code_written);
            let below_stack = board.below_stack;
            if code_written {
                self.cpu.forget_code();
            }
            if below_stack && self.leaves_stack(access, setup) {
                break End::Stops;
            }
            let was_open = open;
            (open, tolerant) = (false, false);
            if let Some(problem) = late
                && self.stops(&problem, pc, access, setup)
            {
                break End::Stops;
            }
            match refusal {
                Some(Refusal::Later) => break End::GoesOn,
                Some(Refusal::Stop(problem)) => {
                    let pc = self.cpu.pc();
                    if self.stops(&problem, pc, access, setup) {
                        break End::Stops;
                    }
                    (open, tolerant) = (was_open, true);
                    continue;
                }
                None => {}
            }
            match event {
                Some(Event::WaitForInterrupt) => break End::Waits,
                Some(event) if self.heeds(event, access, setup) => break End::Stops,
                Some(_) | None => {}
            }
            if is_over {
                let (cycles, end) = self.detect_loop(access, setup);
                core += cycles;
                break end;
            }
            if was_open {
                // The access may have been to a device.
                self.set_lines(now, setup);
                budget = self.budget(now, setup);
            } else if core >= budget {
                // Exceptions may follow one another without an instruction that ends the quantum.
                break End::GoesOn;
            }
        };
        self.devices.counts.core_cycles += core;
        self.cpu.idle(self.clocks.idle(spent));
        self.calls.trace_job(access, spent, &self.clocks);
        let cost = self.clocks.pass(core, spent);
        let end = match end {
            End::GoesOn | End::Waits if self.leaves_stack(access, setup) => End::Stops,
            end => end,
        };
        (cost, end)
    }

    /// Core cycles of a job, limited so that it does not run past the next interrupt of a timer or the UART.
    fn budget(&self, now: Cycle, setup: &Setup) -> u64 {
        let next = self.devices.next(now, false, setup, self.clocks.timers());
        let left = next.map_or(QUANTUM, |next| self.clocks.core_cycles(next - now));
        left.min(QUANTUM)
    }

    /// Whether the chip stops for an event.
    fn heeds(&mut self, event: Event, access: &mut Access<'_>, setup: &Setup) -> bool {
        match event {
            Event::WaitForInterrupt => false,
            Event::Exception {
                kind,
                address,
                word,
            } => {
                if matches!(kind, Exception::Irq | Exception::Fiq) {
                    self.devices.counts.interrupts += 1;
                }
                let vector = self.cpu.vectors().wrapping_add(kind.vector());
                if access.dram_word(vector).is_some_and(|handler| handler != 0) {
                    return false;
                }
                let what = match kind {
                    Exception::Undefined => {
                        format!("runs 0x{word:08x}, which is not an instruction of the processor")
                    }
                    Exception::SoftwareInterrupt => "makes a software interrupt".to_owned(),
                    Exception::PrefetchAbort => "runs a breakpoint".to_owned(),
                    Exception::DataAbort => "makes an access that is aborted".to_owned(),
                    Exception::Irq => "takes an interrupt".to_owned(),
                    Exception::Fiq => "takes a fast interrupt".to_owned(),
                };
                let problem = Problem::fatal(
                    format!("{what}, and nothing handles that: its vector at 0x{vector:08x} is 0"),
                    "put a branch to a handler there, or find out why this happens",
                );
                // The registers of the instruction, not those banked in by the exception.
                let mode = self.cpu.spsr().and_then(Mode::from_bits);
                let mode = mode.unwrap_or(self.cpu.mode());
                self.stops_in(mode, &problem, address, access, setup)
            }
            Event::Unpredictable { why, address } => {
                let problem = Problem::checked(
                    Check::CoreUnpredictable,
                    format!("does what the architecture leaves open: {why}"),
                    remedy(why),
                );
                self.stops(&problem, address, access, setup)
            }
        }
    }

    /// After a job without an access beyond the processor: continues a little and determines whether the
    /// instructions form a loop that changes nothing. Returns the core cycles as well.
    fn detect_loop(&mut self, access: &mut Access<'_>, setup: &Arc<Setup>) -> (u64, End) {
        let mut core = 0;
        if self.devices.footprint != Footprint::default() {
            return (core, End::GoesOn);
        }
        let (key, instructions) = (self.key(), self.cpu.instructions());
        for _ in 0..SHORT_LOOP {
            if self.probe.cuts(&self.cpu) {
                break;
            }
            let before = Before::of(&self.cpu);
            let mut board = Board::new(access, &mut self.devices, setup, &self.clocks);
            board.open = false;
            // Whatever is refused here is refused again by the next job, at its own cycle.
            let Ok(step) = self.cpu.step(&mut board) else {
                break;
            };
            debug_assert!(board.late.is_none(), "a block with a problem begins a job");
            let code_written = board.code_written;
            self.probe.note_executed(before, &self.cpu, board.access);
            let cycles = u64::from(step.cycles);
            core += cycles;
            let happened = step.event.as_ref();
            self.calls
                .note_executed(&before, &self.cpu, &setup.program, cycles, happened);
            match step.event {
                Some(Event::WaitForInterrupt) => return (core, End::Waits),
                Some(event) if self.heeds(event, access, setup) => return (core, End::Stops),
                _ => {}
            }
            if code_written {
                self.cpu.forget_code();
            }
            if self.devices.footprint.changed || step.event.is_some() {
                break;
            }
            if self.key() == key {
                let lap = Lap {
                    cycles: self.clocks.clone().pass(core, 0),
                    instructions: self.cpu.instructions() - instructions,
                };
                return (core, End::Loops(lap));
            }
        }
        (core, End::GoesOn)
    }

    /// Whether the chip stops because the stack pointer has left the stack.
    fn leaves_stack(&mut self, access: &mut Access<'_>, setup: &Setup) -> bool {
        let program = &setup.program;
        let (which, stack) = match self.cpu.mode() {
            Mode::Supervisor => (0, &program.stack),
            Mode::User | Mode::System => (1, &program.stack),
            Mode::Irq => (2, &program.irq_stack),
            Mode::Fiq => (3, &program.fiq_stack),
            _ => return false,
        };
        let Some(stack) = stack else {
            return false;
        };
        let pointer = self.cpu.register(13);
        if stack.contains(&pointer) || pointer == stack.end {
            self.armed[which] = true;
            return false;
        }
        if !self.armed[which] {
            return false;
        }
        self.armed[which] = false;
        let problem = Problem::checked(
            Check::CoreStack,
            format!(
                "has its stack pointer at 0x{pointer:08x}: the stack{} is 0x{:08x} to 0x{:08x}",
                [
                    " of supervisor mode",
                    "",
                    " of interrupts",
                    " of fast interrupts"
                ][which],
                stack.start,
                stack.end
            ),
            "give the stack more room in the linker script, or look for a recursion without an end",
        );
        self.stops(&problem, self.cpu.pc(), access, setup)
    }

    /// Reports a problem to the chip. Returns whether the chip stops.
    fn stops(&self, problem: &Problem, pc: u32, access: &mut Access<'_>, setup: &Setup) -> bool {
        self.stops_in(self.cpu.mode(), problem, pc, access, setup)
    }

    /// Reports to the chip a problem with an instruction in a mode. Returns whether the chip stops.
    fn stops_in(
        &self,
        mode: Mode,
        problem: &Problem,
        pc: u32,
        access: &mut Access<'_>,
        setup: &Setup,
    ) -> bool {
        let register = |number| match number {
            15 => pc,
            _ => self.cpu.banked_register(mode, number),
        };
        let program = &setup.program;
        let message = format!(
            "{}: at {} the program {}",
            setup.name,
            program.place(pc),
            problem.what
        );
        // The calling instruction; for a Thumb BL, its second half.
        let caller = match register(14) {
            link if link & 1 == 1 => link.wrapping_sub(3),
            link => link.wrapping_sub(4),
        };
        let mut notes = Vec::new();
        if program.is_code(caller) {
            notes.push(format!(
                "the link register leads back to {}",
                program.place(caller)
            ));
        }
        for first in (0..16).step_by(8) {
            let registers =
                (first..first + 8).map(|number| format!("r{number} {:08x}", register(number)));
            notes.push(registers.collect::<Vec<_>>().join("  "));
        }
        access.stop(problem.check, message, notes, &problem.help)
    }
}

/// The remedy for unpredictable behaviour.
const fn remedy(why: Unpredictable) -> &'static str {
    match why {
        Unpredictable::UnalignedHalf | Unpredictable::UnalignedDouble => {
            "align the address to the size of the access; a field of a packet at another address is read byte by byte"
        }
        Unpredictable::UnalignedBlock => "let the base register hold a multiple of 4",
        Unpredictable::UnalignedJump => {
            "look for a pointer to a function, or a return address on the stack, that was overwritten; Thumb code is reached by BX or BLX with bit 0 set"
        }
        Unpredictable::Registers => {
            "use registers that the instruction allows; code of a compiler that comes here was overwritten, or is data"
        }
        Unpredictable::Mode => {
            "write an existing mode, and use SPSR only in the mode of an exception"
        }
        Unpredictable::MemoryManagement => {
            "leave the memory management unit off: addresses are those of the chip"
        }
    }
}
