//! The processor as a task of the general-purpose core.

use std::ops::Range;
use std::sync::Arc;

use npsim_arm::{Cpu, Timing};
use npsim_chip::Cycle;
use npsim_chip::gpp::task::{NextAction, Start, Task};
use npsim_chip::gpp::{Access, Costs, InterruptLine, LoadError, Memories, ProgramView};
use npsim_chip::kernel::row::Row;
use npsim_chip::kernel::trace_event::ProgramState;
use npsim_chip::units::scratch::Scratch;
use serde::{Deserialize, Serialize};

use crate::cache::CacheMode;
use crate::calls::Calls;
use crate::clocks::Clocks;
use crate::devices::{Counts, Devices};
use crate::pipeline;
use crate::probe::Probe;
use crate::setup::Setup;
use crate::uart::Uart;
use crate::watch::{Lap, LoopWatch};

/// Number of lines of the UART's text that a summary shows.
const SUMMARY_LINES: usize = 20;

/// The processor's activity between two jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Rest {
    /// It continues with the next.
    None,
    /// It has been waiting for an interrupt since a cycle.
    Waits { since: Cycle },
    /// It has been repeating a loop since a cycle.
    Loops { since: Cycle, lap: Lap },
    /// Its program has ended, or it has stopped the chip.
    Ended,
}

/// A processor that runs a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Processor {
    #[serde(skip)]
    pub(crate) setup: Option<Arc<Setup>>,
    /// The identity of the setup.
    identity: u64,
    pub(crate) cpu: Cpu,
    pub(crate) devices: Devices,
    pub(crate) clocks: Clocks,
    pub(crate) watch: LoopWatch,
    pub(crate) rest: Rest,
    /// Scratch rings that the loop found empty, while it loops.
    pub(crate) polled: u16,
    /// Instructions of laps that were counted rather than simulated.
    pub(crate) skipped: u64,
    /// Whether the stack pointers of supervisor mode, user and system mode, IRQ and FIQ have been within their
    /// stacks.
    pub(crate) armed: [bool; 4],
    interrupt_delay: Cycle,
    /// The debugger's search; not part of the state.
    #[serde(skip)]
    pub(crate) probe: Probe,
    /// The call stack, for observers; not part of the state.
    #[serde(skip)]
    pub(crate) calls: Calls,
}

impl Processor {
    /// A processor that will run a program.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let program = &setup.program;
        let mut cpu = Cpu::new(program.entry, program.order, Timing::XSCALE);
        cpu.set_vectors(program.vectors.unwrap_or(0));
        Self {
            identity: setup.identity,
            cpu,
            devices: Devices::new(crate::cache::LINE, 1),
            clocks: Clocks::default(),
            watch: LoopWatch::default(),
            rest: Rest::None,
            polled: 0,
            skipped: 0,
            armed: [false; 4],
            interrupt_delay: 1,
            probe: Probe::default(),
            calls: Calls::default(),
            setup: Some(Arc::new(setup)),
        }
    }

    /// The setup of the program; `None` for a state that was read from a file and not completed.
    #[must_use]
    pub const fn setup(&self) -> Option<&Arc<Setup>> {
        self.setup.as_ref()
    }

    /// The processor itself.
    #[must_use]
    pub const fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// The processor itself, for changes from outside between two steps of a run.
    pub const fn cpu_mut(&mut self) -> &mut Cpu {
        &mut self.cpu
    }

    /// The search within its jobs.
    #[must_use]
    pub const fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Sets the search within its jobs, which affects none of them except one that the probe cuts. Returns the
    /// previous search.
    pub fn set_probe(&mut self, probe: Probe) -> Probe {
        std::mem::replace(&mut self.probe, probe)
    }

    /// A description of its current activity.
    #[must_use]
    pub const fn doing(&self) -> &'static str {
        match self.rest {
            Rest::None => "running",
            Rest::Waits { .. } => "waiting for an interrupt",
            Rest::Loops { .. } => "repeating a loop in which nothing changes",
            Rest::Ended => "ended",
        }
    }

    /// Its counters.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.devices.counts
    }

    /// Number of instructions, including those of laps that were counted rather than simulated.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.cpu.instructions() + self.skipped
    }

    /// The UART.
    #[must_use]
    pub const fn uart(&self) -> &Uart {
        &self.devices.uart
    }

    /// The text sent by the UART.
    #[must_use]
    pub fn text(&self) -> String {
        self.devices.uart.text()
    }

    /// Whether the program has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.rest == Rest::Ended
    }

    fn load(&mut self, start: &mut Start<'_>) -> Result<(), LoadError> {
        let Some(setup) = self.setup.clone() else {
            return Ok(());
        };
        for segment in &setup.program.segments {
            start.write_dram(segment.address, &segment.words)?;
        }
        for (address, value) in &setup.imports {
            start.write_dram(setup.program.loaded_at(*address), &[*value])?;
        }
        for table in &setup.tables {
            let address = setup.program.loaded_at(table.address);
            start.write_dram(address, &table.words(start.node()))?;
        }
        for (name, table) in setup.program.tables.iter().map(|it| (&it.name, it)) {
            if name == crate::imports::CLOCKS {
                let [core, timers, microengines] = self.clocks.hertz();
                let address = setup.program.loaded_at(table.address);
                start.write_dram(address, &[1, core, timers, microengines])?;
            }
        }
        Ok(())
    }
}

impl Task for Processor {
    fn name(&self) -> &'static str {
        "program"
    }

    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        let profile = start.profile();
        self.clocks = Clocks::new(
            profile.xscale_core_mhz(),
            profile.me_mhz(),
            profile.xscale_timer_mhz(),
        );
        self.devices = Devices::new(profile.xscale_cache_bytes(), profile.xscale_cache_ways());
        self.interrupt_delay = profile.xscale_interrupt_delay();
        self.cpu.set_timing(pipeline::timing(profile));
        self.load(start)?;
        Ok(Some(1))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        self.job(access)
    }

    fn is_timer(&self) -> bool {
        false
    }

    fn polls(&self) -> bool {
        false
    }

    fn is_active(&self) -> bool {
        self.devices.active
    }

    fn signals_threads(&self) -> bool {
        !self.has_ended()
    }

    fn interrupted(&mut self, line: InterruptLine, thread: u8, _costs: &Costs) -> Cycle {
        self.devices.interrupts.raise(line, thread);
        self.interrupt_delay
    }

    fn made(&self) -> u64 {
        self.devices.made
    }

    fn packets(&self) -> Vec<(String, u64)> {
        let exceptions = self.setup().and_then(|setup| setup.exceptions.as_ref());
        let named = |(code, count): (&u8, &u64)| {
            let name = exceptions.map_or_else(|| format!("reason {code}"), |it| it.reason(*code));
            (name, *count)
        };
        self.devices.by_reason.iter().map(named).collect()
    }

    /// Any value in a register may be a handle.
    fn held_buffers(&self) -> Vec<u32> {
        (0..15).map(|number| self.cpu.register(number)).collect()
    }

    fn program(&self) -> Option<ProgramView> {
        let setup = self.setup()?;
        let vectors = (0..8).map(|number| self.cpu.vectors() + 4 * number);
        let vectors = vectors.map(|at| (at, "exception vector".to_owned()));
        let mut functions = setup.program.functions();
        functions.extend(vectors);
        // Functions come before vectors at the same address.
        functions.sort_by_key(|it| it.0);
        functions.dedup_by_key(|it| it.0);
        Some(ProgramView {
            name: setup.name.clone(),
            functions,
            doing: match self.rest {
                // Its first job is still to come.
                Rest::None if self.cpu.instructions() == 0 => ProgramState::Held,
                Rest::None => ProgramState::Runs,
                Rest::Waits { .. } => ProgramState::Waits,
                Rest::Loops { .. } => ProgramState::Polls,
                Rest::Ended => ProgramState::Ended,
            },
            stack: self.calls.stack(self.cpu.pc(), &setup.program),
        })
    }

    fn memory(&self) -> &[Range<u32>] {
        self.setup().map_or(&[], |setup| &setup.program.memory)
    }

    fn has_work(&self, scratch: &Scratch) -> bool {
        (0..16).any(|ring| self.polled >> ring & 1 != 0 && !scratch.ring(ring).is_empty())
    }

    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        let counts = self.counts();
        let row = Row::default()
            .with("instructions", self.instructions())
            .with("core_cycles", counts.core_cycles)
            .with("memory_cycles", counts.memory_cycles)
            .with("outside_cycles", counts.outside_cycles)
            .with("outside", counts.outside)
            .with("code_hits", counts.code_hits)
            .with("code_misses", counts.code_misses)
            .with("data_hits", counts.data_hits)
            .with("data_misses", counts.data_misses)
            .with("interrupts", counts.interrupts)
            .with("polls", counts.polls)
            .with("sleeps", counts.sleeps);
        vec![row]
    }

    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        let Some(setup) = self.setup() else {
            return Vec::new();
        };
        let counts = self.counts();
        let state = match self.rest {
            Rest::Ended => ", ended",
            _ => "",
        };
        let mut lines = vec![format!(
            "{}: {} instructions, {} accesses outside its memory, {} interrupts{state}",
            setup.name,
            self.instructions(),
            counts.outside,
            counts.interrupts,
        )];
        if setup.cache == CacheMode::Model {
            lines.push(format!(
                "caches: {} of {} lines of code and {} of {} accesses to data came from memory",
                counts.code_misses,
                counts.code_misses + counts.code_hits,
                counts.data_misses,
                counts.data_misses + counts.data_hits,
            ));
        }
        let text = self.text();
        let all: Vec<&str> = text.lines().collect();
        let first = all.len().saturating_sub(SUMMARY_LINES);
        if first > 0 {
            lines.push(format!("uart: {first} lines before these"));
        }
        lines.extend(all[first..].iter().map(|line| format!("uart: {line}")));
        if self.devices.uart.lost() > 0 {
            lines.push(format!(
                "uart: {} more bytes are not kept",
                self.devices.uart.lost()
            ));
        }
        lines
    }

    fn is_compatible_with(&self, saved: &Self) -> bool {
        self.identity == saved.identity
    }

    fn complete(&mut self, loaded: &Self) {
        self.setup.clone_from(&loaded.setup);
        self.probe.clone_from(&loaded.probe);
    }
}
