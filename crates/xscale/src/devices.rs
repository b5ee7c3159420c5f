//! What surrounds the processor and has a state: caches, interrupt controller, timers, UART, and what is
//! known of memory; with what they counted.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, CacheMode, LINE};
use crate::interrupts::{self, InterruptController, ThreadStatus};
use crate::setup::Setup;
use crate::timers::{TimerClock, Timers};
use crate::uart::Uart;

/// Where the program's time went and what it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Core cycles of instructions.
    pub core_cycles: u64,
    /// ME cycles of accesses outside of the program's own memory.
    pub outside_cycles: Cycle,
    /// ME cycles of lines of the caches, or of memory where there is no cache.
    pub memory_cycles: Cycle,
    /// Lines of instructions found, and not found.
    pub code_hits: u64,
    /// Lines of instructions that came from memory.
    pub code_misses: u64,
    /// Accesses to the program's memory that found their line.
    pub data_hits: u64,
    /// Accesses to the program's memory that did not.
    pub data_misses: u64,
    /// Accesses outside of it.
    pub outside: u64,
    /// Interrupts taken.
    pub interrupts: u64,
    /// Polls that were counted and not simulated.
    pub polls: u64,
    /// Times that the program slept.
    pub sleeps: u64,
}

/// What the last job did that bears on whether it repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// Something changed, or was read that can change without anyone telling.
    pub changed: bool,
    /// Scratch rings that were found empty, one bit each.
    pub rings: u16,
    /// The interrupt controller, timers or UART were looked at.
    pub looked: bool,
}

/// What changes by itself and can be looked at, or interrupts the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Signs {
    /// Lines of timers and UART.
    lines: u32,
    /// Threads that raised an interrupt.
    threads: ThreadStatus,
    /// A byte can be read from the UART.
    received: bool,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Devices {
    pub interrupts: InterruptController,
    pub timers: Timers,
    pub uart: Uart,
    pub code: Cache,
    pub data: Cache,
    /// The two lines that instructions are fetched through where there is no cache.
    pub fetched: [u32; 2],
    /// Longwords that were written in memory that neither the file nor the project has, a bit each.
    pub written: BTreeMap<u32, u64>,
    pub counts: Counts,
    /// Packets that ended at the program, by reason.
    pub by_reason: BTreeMap<u8, u64>,
    /// Packets that it sent.
    pub made: u64,
    pub footprint: Footprint,
    /// What interrupts and the UART showed at the beginning of the last job.
    pub signs: Signs,
    /// A division by zero was found and allowed.
    pub divided: bool,
    /// The job moved something beyond the program.
    pub active: bool,
}

impl Devices {
    pub fn new(cache_bytes: u32, cache_ways: u32) -> Self {
        Self {
            interrupts: InterruptController::default(),
            timers: Timers::default(),
            uart: Uart::default(),
            code: Cache::new(cache_bytes, cache_ways),
            data: Cache::new(cache_bytes, cache_ways),
            fetched: [u32::MAX; 2],
            written: BTreeMap::new(),
            counts: Counts::default(),
            by_reason: BTreeMap::new(),
            made: 0,
            footprint: Footprint::default(),
            signs: Signs::default(),
            divided: false,
            active: false,
        }
    }

    /// The interrupt lines of timers and UART.
    pub fn lines(&self, now: Cycle, setup: &Setup) -> u32 {
        let uart = self.uart.raised(now, &setup.input);
        self.timers.lines() | if uart { interrupts::UART } else { 0 }
    }

    /// The lines that reach the processor at a cycle.
    pub fn raised(&self, now: Cycle, setup: &Setup) -> u32 {
        self.interrupts.lines(self.lines(now, setup)) & self.interrupts.enabled()
    }

    /// What can be seen of devices at a cycle.
    pub fn signs(&self, now: Cycle, setup: &Setup) -> Signs {
        Signs {
            lines: self.lines(now, setup),
            threads: self.interrupts.threads(),
            received: self.uart.has_received(now, &setup.input),
        }
    }

    /// When a timer or the UART does something next, as far as `all` or only what leads to an interrupt.
    pub fn next(&self, now: Cycle, all: bool, setup: &Setup, clock: TimerClock) -> Option<Cycle> {
        let lines = if all {
            u32::MAX
        } else {
            self.interrupts.enabled()
        };
        let uart = self.uart.next(now, &setup.input);
        let uart = uart.filter(|_| lines & interrupts::UART != 0);
        let timer = self.timers.next(lines, clock);
        uart.into_iter().chain(timer).min()
    }

    /// Notes that a longword beyond the file's memory was written.
    pub fn note_written(&mut self, address: u32) {
        *self.written.entry(address / 256).or_default() |= 1 << (address / 4 % 64);
    }

    /// Whether a longword beyond the file's memory was written.
    pub fn was_written(&self, address: u32) -> bool {
        let bits = self.written.get(&(address / 256));
        bits.is_some_and(|bits| bits >> (address / 4 % 64) & 1 != 0)
    }

    /// An instruction line is entered; whether it comes from memory.
    pub fn fetch(&mut self, address: u32, mode: CacheMode) -> bool {
        let line = address / LINE;
        let missed = match mode {
            CacheMode::Perfect => false,
            CacheMode::Model => {
                let hit = self.code.hit(address, false);
                if !hit {
                    self.code.fill(address, false);
                }
                !hit
            }
            CacheMode::None => {
                let missed = !self.fetched.contains(&line);
                if missed {
                    self.fetched = [line, self.fetched[0]];
                }
                missed
            }
        };
        if missed {
            self.counts.code_misses += 1;
        } else {
            self.counts.code_hits += 1;
        }
        missed
    }
}
