//! The Quick-Start module of the feedback coprocessor: the registers of each group of
//! ports, and the computation of grants.

use npsim_chip::Cycle;
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::{GrantPool, rate_units};
use crate::feedback::clock::Module;
use crate::feedback::{GROUPS, QUICK_START_WORDS};

/// The registers of a group: limit, phase, the grants in windows of phase 0, an
/// unused one (a lock if groups are in memory), and the grants in windows of phase 8.
type QuickStartRegisters = [u32; QUICK_START_WORDS];

/// Counters of the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartCounts {
    /// Requests answered.
    pub requests: u64,
    /// Requests granted in full.
    pub granted: u64,
    /// Requests granted in part.
    pub reduced: u64,
    /// Requests denied.
    pub denied: u64,
    /// Sum of all grants in units of 40 kbit/s.
    pub granted_units: u64,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grant {
    /// The granted rate code, 0 if denied.
    code: u8,
    /// The rate in units of 40 kbit/s.
    units: u32,
}

/// Grants what the current window has left and records it; connects the registers to
/// the reference model.
fn grant(registers: &mut QuickStartRegisters, code: u8) -> Grant {
    let [limit, phase, granted @ ..] = registers;
    let granted = &mut granted[(*phase & 8) as usize / 4];
    let mut pool = GrantPool {
        limit: *limit as i32,
        granted: *granted as i32,
    };
    let code = pool.grant(code);
    *granted = pool.granted as u32;
    Grant {
        code,
        units: rate_units(code) as u32,
    }
}

/// The module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QuickStartModule {
    pub(crate) module: Module,
    groups: [QuickStartRegisters; GROUPS as usize],
    /// Counters of the module.
    pub counts: QuickStartCounts,
}

impl QuickStartModule {
    /// Creates a module with all registers zero, which grants nothing, and with a
    /// clock of this period for microengines of this frequency.
    #[must_use]
    pub fn new(picoseconds: u64, mhz: u64) -> Self {
        Self {
            module: Module::new(picoseconds, mhz),
            groups: Default::default(),
            counts: QuickStartCounts::default(),
        }
    }

    /// A register, mutable; there are five in each group.
    pub(crate) fn register(&mut self, group: usize, word: usize) -> &mut u32 {
        &mut self.groups[group][word]
    }

    /// The value of a register.
    pub(crate) const fn read(&self, group: usize, word: usize) -> u32 {
        self.groups[group][word]
    }

    /// Answers a request that is handed over now and has been waiting `since`:
    /// returns the granted rate code, and the cycle at which it is available.
    pub fn request(&mut self, now: Cycle, since: Cycle, group: u8, code: u8) -> (u32, Cycle) {
        let answered = self.module.take(now, since);
        let Some(registers) = self.groups.get_mut(usize::from(group)) else {
            return (0, answered);
        };
        let grant = grant(registers, code);
        let counts = &mut self.counts;
        counts.requests += 1;
        counts.granted_units += u64::from(grant.units);
        match grant.code {
            0 => counts.denied += 1,
            given if given == code => counts.granted += 1,
            _ => counts.reduced += 1,
        }
        (u32::from(grant.code), answered)
    }

    /// Hands the module a request of group 0 whenever it can take one, as on a test
    /// bench without channel and bus. Returns the number of requests answered within
    /// this many cycles.
    pub fn drive(&mut self, cycles: Cycle, code: u8) -> u64 {
        let mut answers = 0;
        loop {
            let now = self.module.free_at();
            let (_, answered) = self.request(now, now, 0, code);
            if answered > cycles {
                return answers;
            }
            answers += 1;
        }
    }

    /// Statistics of the module.
    pub(crate) fn row(&self, cycles: Cycle) -> Row {
        let counts = &self.counts;
        Row::default()
            .with("requests", counts.requests)
            .with("granted", counts.granted)
            .with("reduced", counts.reduced)
            .with("denied", counts.denied)
            .with("granted_units", counts.granted_units)
            .and(self.module.row(counts.requests, cycles))
    }
}
