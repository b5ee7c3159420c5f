//! The stateful devices around the processor: caches, interrupt controller, timers and UART, along with what is
//! known about memory and their counters.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, CacheMode, LINE};
use crate::interrupts::{self, InterruptController, ThreadStatus};
use crate::setup::Setup;
use crate::timers::{TimerClock, Timers};
use crate::uart::Uart;

/// Counts of the program's time and activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Core cycles spent on instructions.
    pub core_cycles: u64,
    /// ME cycles of accesses outside the program's own memory.
    pub outside_cycles: Cycle,
    /// ME cycles spent on cache lines, or on memory if there is no cache.
    pub memory_cycles: Cycle,
    /// Instruction lines that were found.
    pub code_hits: u64,
    /// Instruction lines that came from memory.
    pub code_misses: u64,
    /// Accesses to the program's memory that hit their line.
    pub data_hits: u64,
    /// Accesses to the program's memory that missed.
    pub data_misses: u64,
    /// Accesses outside the program's memory.
    pub outside: u64,
    /// Interrupts taken.
    pub interrupts: u64,
    /// Polls that were counted rather than simulated.
    pub polls: u64,
    /// Number of times that the program slept.
    pub sleeps: u64,
}

/// Effects of the last job that determine whether it may repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// Whether something changed, or something was read that can change without a wake-up.
    pub changed: bool,
    /// Scratch rings that were found empty, one bit each.
    pub rings: u16,
    /// Whether the interrupt controller, timers or UART were read.
    pub looked: bool,
}

/// Device state that changes by itself and that the program can read, or that interrupts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceSignals {
    /// Interrupt lines of timers and UART.
    lines: u32,
    /// Threads that raised an interrupt.
    threads: ThreadStatus,
    /// Whether a byte can be read from the UART.
    received: bool,
}

/// All devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Devices {
    pub interrupts: InterruptController,
    pub timers: Timers,
    pub uart: Uart,
    pub code: Cache,
    pub data: Cache,
    /// The two lines through which instructions are fetched if there is no cache.
    pub fetched: [u32; 2],
    /// Longwords that were written in memory covered by neither the file nor the project, one bit each.
    pub written: BTreeMap<u32, u64>,
    pub counts: Counts,
    /// Packets that ended at the program, by reason.
    pub by_reason: BTreeMap<u8, u64>,
    /// Number of packets that it sent.
    pub made: u64,
    pub footprint: Footprint,
    /// The state of interrupts and the UART at the beginning of the last job.
    pub signs: DeviceSignals,
    /// Whether a division by zero was found and allowed.
    pub divided: bool,
    /// Whether the job moved something beyond the program.
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
            signs: DeviceSignals::default(),
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

    /// The observable device state at a cycle.
    pub fn signs(&self, now: Cycle, setup: &Setup) -> DeviceSignals {
        DeviceSignals {
            lines: self.lines(now, setup),
            threads: self.interrupts.threads(),
            received: self.uart.has_received(now, &setup.input),
        }
    }

    /// The cycle of the next activity of a timer or the UART: any activity if `all`, otherwise only one that leads
    /// to an interrupt.
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

    /// Notes that a longword outside the file's memory was written.
    pub fn note_written(&mut self, address: u32) {
        *self.written.entry(address / 256).or_default() |= 1 << (address / 4 % 64);
    }

    /// Whether a longword outside the file's memory was written.
    pub fn was_written(&self, address: u32) -> bool {
        let bits = self.written.get(&(address / 256));
        bits.is_some_and(|bits| bits >> (address / 4 % 64) & 1 != 0)
    }

    /// Enters an instruction line. Returns whether it has to come from memory.
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
