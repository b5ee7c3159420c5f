//! The gdb target: the core's program, run by the time-travel debugger.

use gdbstub::common::Signal;
use gdbstub::stub::SingleThreadStopReason;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep,
    SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint, SwBreakpointOps,
    WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use npsim_debug::breakpoints::{Breakpoint, BreakpointHit, BreakpointKind};
use npsim_debug::console::execute;
use npsim_debug::view::{self, StopReason};
use npsim_debug::{DebugError, Debugger, Direction, Step, StopCause, Thread};

use super::arch::{CoreRegisters, XScale};
use crate::output;

/// Returns the text of a file, if it can be read.
pub type Source = dyn Fn(&str) -> Option<String>;

/// How the run resumes.
#[derive(Clone, Copy, Debug)]
enum Resumption {
    Continue(Direction),
    Step(Direction),
}

impl Resumption {
    const fn direction(self) -> Direction {
        match self {
            Self::Continue(direction) | Self::Step(direction) => direction,
        }
    }
}

/// A breakpoint or watchpoint set by gdb, and the numbers of the debugger's breakpoints that implement it.
#[derive(Debug)]
struct GdbPoint {
    address: u32,
    /// The watched longwords; empty for a breakpoint.
    words: Vec<u32>,
    numbers: Vec<u32>,
}

/// The core's program, as a target for gdb.
///
/// When a program stops, it is in the middle of a job of the core, in a copy of the chip that the run does not continue
/// from (`npsim_debug::core`). Registers and memory of that copy cannot be written.
pub struct CoreTarget {
    debugger: Debugger,
    sources: Box<Source>,
    points: Vec<GdbPoint>,
    resumption: Resumption,
}

impl CoreTarget {
    /// A program at the start of its run.
    pub fn new(mut debugger: Debugger, sources: Box<Source>) -> Result<Self, DebugError> {
        debugger.select(Thread::CORE)?;
        Ok(Self {
            debugger,
            sources,
            points: Vec::new(),
            resumption: Resumption::Continue(Direction::Forward),
        })
    }

    /// Resumes as requested by gdb, until the run stops; `None` if it was interrupted.
    pub fn run_until_stop(&mut self) -> Option<SingleThreadStopReason<u32>> {
        let before = self.watched_values();
        let stop = match self.resumption {
            Resumption::Continue(direction) => self.debugger.run(direction),
            Resumption::Step(direction) => self.debugger.step(Step::Instruction, direction),
        };
        let reason = match &stop.reason {
            StopCause::Interrupted => None,
            StopCause::Entry | StopCause::Goto | StopCause::Step => {
                let now = self.watched_values();
                let changed = before.iter().zip(&now).position(|it| it.0 != it.1);
                Some(match changed {
                    Some(at) => self.stop_at_point(at),
                    None => SingleThreadStopReason::DoneStep,
                })
            }
            StopCause::Breakpoint(hits) => Some(self.hit(hits)),
            StopCause::Fault(_) => Some(SingleThreadStopReason::Signal(Signal::SIGABRT)),
            StopCause::End(_) => Some(SingleThreadStopReason::ReplayLog {
                tid: None,
                pos: ReplayLogPosition::End,
            }),
            StopCause::Beginning => Some(SingleThreadStopReason::ReplayLog {
                tid: None,
                pos: ReplayLogPosition::Begin,
            }),
        };
        match view::reason(&self.debugger, &stop.reason) {
            StopReason::Fault { name, message, .. } => output::line(&format!("{name}: {message}")),
            StopReason::End { text } => output::line(&text),
            _ => {}
        }
        self.select_core();
        reason
    }

    /// Selects the core, since a context's breakpoint may have selected that context.
    fn select_core(&mut self) {
        // This cannot fail: the core has a program for as long as the run lasts.
        let _ = self.debugger.select(Thread::CORE);
    }

    /// The contents of the watched longwords, by watchpoint.
    fn watched_values(&self) -> Vec<Vec<Option<u32>>> {
        let Some(core) = self.debugger.core() else {
            return Vec::new();
        };
        let points = self.points.iter();
        points
            .map(|it| it.words.iter().map(|word| core.word(*word)).collect())
            .collect()
    }

    fn hit(&mut self, hits: &[BreakpointHit]) -> SingleThreadStopReason<u32> {
        let met = |it: &GdbPoint| { hits.iter() }.any(|hit| it.numbers.contains(&hit.number));
        match self.points.iter().position(met) {
            Some(at) => self.stop_at_point(at),
            None => SingleThreadStopReason::Signal(Signal::SIGTRAP),
        }
    }

    /// The stop at a breakpoint or watchpoint. An ARM processor stops for a watchpoint before the access, and gdb then
    /// executes the instruction itself to see the change, in either direction. Therefore the instruction is undone.
    fn stop_at_point(&mut self, at: usize) -> SingleThreadStopReason<u32> {
        let GdbPoint { address, words, .. } = &self.points[at];
        let addr = *address;
        if words.is_empty() {
            return SingleThreadStopReason::SwBreak(());
        }
        let back = self.resumption.direction().reverse();
        self.select_core();
        self.debugger.step(Step::Instruction, back);
        SingleThreadStopReason::Watch {
            tid: (),
            kind: WatchKind::Write,
            addr,
        }
    }

    fn add(&mut self, address: u32, words: Vec<u32>) -> bool {
        let whats = if words.is_empty() {
            vec![BreakpointKind::Core(vec![address])]
        } else {
            words
                .iter()
                .copied()
                .map(BreakpointKind::CoreWord)
                .collect()
        };
        let title = format!("0x{address:08x} of gdb");
        let added = whats
            .into_iter()
            .map(|what| self.debugger.add(Breakpoint::new(title.clone(), what)));
        let Ok(numbers) = added.collect::<Result<Vec<_>, _>>() else {
            return false;
        };
        self.points.push(GdbPoint {
            address,
            words,
            numbers,
        });
        true
    }

    fn remove(&mut self, address: u32, words: &[u32]) -> bool {
        let same = |it: &GdbPoint| it.address == address && it.words == words;
        let Some(at) = self.points.iter().position(same) else {
            return false;
        };
        let numbers = self.points.remove(at).numbers;
        numbers
            .into_iter()
            .all(|it| self.debugger.remove(it).is_ok())
    }
}

impl Target for CoreTarget {
    type Arch = XScale;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, XScale, Self::Error> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadBase for CoreTarget {
    fn read_registers(&mut self, registers: &mut CoreRegisters) -> TargetResult<(), Self> {
        let core = self.debugger.core().ok_or(TargetError::NonFatal)?;
        let cpu = core.cpu();
        registers.is_big_endian = core.is_big_endian();
        registers.values = std::array::from_fn(|number| match number {
            16 => cpu.cpsr(),
            number => cpu.register(number),
        });
        Ok(())
    }

    fn write_registers(&mut self, _registers: &CoreRegisters) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn read_addrs(&mut self, start: u32, data: &mut [u8]) -> TargetResult<usize, Self> {
        let core = self.debugger.core().ok_or(TargetError::NonFatal)?;
        let mut count = 0;
        for (place, byte) in data.iter_mut().zip(core.bytes(start)) {
            *place = byte;
            count += 1;
        }
        if count == 0 {
            return Err(TargetError::NonFatal);
        }
        Ok(count)
    }

    fn write_addrs(&mut self, _start: u32, _data: &[u8]) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadResume for CoreTarget {
    fn resume(&mut self, _signal: Option<Signal>) -> Result<(), Self::Error> {
        self.resumption = Resumption::Continue(Direction::Forward);
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, (), Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, (), Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for CoreTarget {
    fn step(&mut self, _signal: Option<Signal>) -> Result<(), Self::Error> {
        self.resumption = Resumption::Step(Direction::Forward);
        Ok(())
    }
}

impl ReverseCont<()> for CoreTarget {
    fn reverse_cont(&mut self) -> Result<(), Self::Error> {
        self.resumption = Resumption::Continue(Direction::Back);
        Ok(())
    }
}

impl ReverseStep<()> for CoreTarget {
    fn reverse_step(&mut self, _tid: ()) -> Result<(), Self::Error> {
        self.resumption = Resumption::Step(Direction::Back);
        Ok(())
    }
}

impl Breakpoints for CoreTarget {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for CoreTarget {
    fn add_sw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.add(address, Vec::new()))
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _kind: usize) -> TargetResult<bool, Self> {
        Ok(self.remove(address, &[]))
    }
}

impl HwWatchpoint for CoreTarget {
    /// Only writes are watched, not reads.
    fn add_hw_watchpoint(
        &mut self,
        address: u32,
        bytes: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let Some(core) = self.debugger.core().filter(|_| kind == WatchKind::Write) else {
            return Ok(false);
        };
        let words = words_of(address, bytes);
        if words.iter().any(|it| core.word(*it).is_none()) {
            return Ok(false);
        }
        Ok(self.add(address, words))
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u32,
        bytes: u32,
        _kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        Ok(self.remove(address, &words_of(address, bytes)))
    }
}

/// The longwords that contain a range of bytes; at least one.
fn words_of(address: u32, bytes: u32) -> Vec<u32> {
    let last = address.saturating_add(bytes.saturating_sub(1));
    (address & !3..=last).step_by(4).collect()
}

impl MonitorCmd for CoreTarget {
    /// Runs a command of the console.
    fn handle_monitor_cmd(
        &mut self,
        command: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), Self::Error> {
        let command = String::from_utf8_lossy(command);
        let lines = match execute(&mut self.debugger, &*self.sources, &command) {
            Ok(reply) => reply.lines,
            Err(complaint) => vec![complaint.to_string()],
        };
        for line in lines {
            gdbstub::outputln!(out, "{line}");
        }
        self.select_core();
        Ok(())
    }
}
