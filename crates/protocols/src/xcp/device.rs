//! The XCP module of the feedback coprocessor: the registers of each group of ports,
//! a mailbox per thread, and the computation of feedback.

use npsim_chip::Cycle;
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::{Factor, FeedbackPools};
use crate::feedback::clock::Module;
use crate::feedback::{GROUPS, REQUEST_WORDS, XCP_WORDS};

/// The registers of a group: both residues, both mantissas, both shifts.
type XcpRegisters = [u32; XCP_WORDS];

/// Bits of a shift that the module uses.
const SHIFT: u32 = 63;

/// Counters of the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpCounts {
    /// Requests answered.
    pub requests: u64,
    /// Requests answered with an unchanged Delta.
    pub passed: u64,
    /// Requests answered with a smaller Delta.
    pub reduced: u64,
}

/// Computes the Delta with which a packet leaves and takes its feedback from the
/// pools; connects the registers to the reference model. A negative pool counts as
/// empty.
fn depart(registers: &mut XcpRegisters, x: u32, size: u16, delta: i32) -> i32 {
    let [residue_pos, residue_neg, cp, cn, shifts] = registers;
    let residue = |word: u32| (word as i32).max(0) as u32;
    let scale = |mantissa, shift| Factor {
        mantissa,
        shift: (shift & SHIFT) as u8,
    };
    let mut pools = FeedbackPools {
        residue_pos: residue(*residue_pos),
        residue_neg: residue(*residue_neg),
        cp: scale(*cp, *shifts),
        cn: scale(*cn, *shifts >> 8),
    };
    let departed = pools.depart(x, size, delta);
    *residue_pos = pools.residue_pos;
    *residue_neg = pools.residue_neg;
    *cp = pools.cp.mantissa;
    *cn = pools.cn.mantissa;
    *shifts = u32::from(pools.cn.shift) << 8 | u32::from(pools.cp.shift);
    departed.delta
}

/// A thread's mailbox, for its request and the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Mailbox {
    /// Whether a request was ever written.
    asked: bool,
    /// The answer to the last request.
    delta: u32,
    /// The cycle at which that answer is available.
    answered: Cycle,
}

/// The module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct XcpModule {
    pub(crate) module: Module,
    groups: [XcpRegisters; GROUPS as usize],
    mailboxes: Vec<Mailbox>,
    /// Counters of the module.
    pub counts: XcpCounts,
}

impl XcpModule {
    /// Creates a module with all registers zero, this number of mailboxes, and a
    /// clock of this period for microengines of this frequency.
    #[must_use]
    pub fn new(picoseconds: u64, mhz: u64, mailboxes: usize) -> Self {
        Self {
            module: Module::new(picoseconds, mhz),
            groups: Default::default(),
            mailboxes: vec![Mailbox::default(); mailboxes],
            counts: XcpCounts::default(),
        }
    }

    /// The number of mailboxes.
    pub(crate) fn mailboxes(&self) -> u32 {
        self.mailboxes.len() as u32
    }

    /// A register, mutable; there are five in each group.
    pub(crate) fn register(&mut self, group: usize, word: usize) -> &mut u32 {
        &mut self.groups[group][word]
    }

    /// The value of a register.
    pub(crate) const fn read(&self, group: usize, word: usize) -> u32 {
        self.groups[group][word]
    }

    /// Takes a request (group, X, size, Delta) that is handed over now and has been
    /// waiting `since`; returns the cycle at which its answer is available. Only the
    /// low 16 bits of the size, an IP total length, are used.
    ///
    /// # Errors
    /// Returns that there is no such group, worded to follow the command.
    pub fn request(
        &mut self,
        now: Cycle,
        since: Cycle,
        mailbox: u8,
        [group, x, size, delta]: [u32; REQUEST_WORDS as usize],
    ) -> Result<Cycle, String> {
        let Some(registers) = self.groups.get_mut(group as usize) else {
            return Err(format!(
                "the request is for group {group}; there are groups 0 to {}",
                GROUPS - 1
            ));
        };
        let answered = self.module.take(now, since);
        let out = depart(registers, x, size as u16, delta as i32);
        let counts = &mut self.counts;
        counts.requests += 1;
        if out == delta as i32 {
            counts.passed += 1;
        } else {
            counts.reduced += 1;
        }
        if let Some(mailbox) = self.mailboxes.get_mut(usize::from(mailbox)) {
            *mailbox = Mailbox {
                asked: true,
                delta: out as u32,
                answered,
            };
        }
        Ok(answered)
    }

    /// Returns the answer in a mailbox.
    ///
    /// # Errors
    /// Returns that no request was ever written there, worded to follow the command.
    pub fn answer(&self, mailbox: u8) -> Result<u32, String> {
        self.mailboxes
            .get(usize::from(mailbox))
            .filter(|mailbox| mailbox.asked)
            .map(|mailbox| mailbox.delta)
            .ok_or_else(|| format!("no request was ever written to mailbox {mailbox}"))
    }

    /// The cycle at which the answer in a mailbox is available.
    pub(crate) fn answered(&self, mailbox: u8) -> Cycle {
        let mailbox = self.mailboxes.get(usize::from(mailbox));
        mailbox.map_or(0, |mailbox| mailbox.answered)
    }

    /// Hands the module a request of group 0 whenever it can take one, as on a test
    /// bench without channel and bus. Returns the number of requests answered within
    /// this many cycles.
    pub fn drive(&mut self, cycles: Cycle, x: u32, size: u32, delta: i32) -> u64 {
        let mut answers = 0;
        loop {
            let now = self.module.free_at();
            match self.request(now, now, 0, [0, x, size, delta as u32]) {
                Ok(answered) if answered <= cycles => answers += 1,
                _ => return answers,
            }
        }
    }

    /// Statistics of the module.
    pub(crate) fn row(&self, cycles: Cycle) -> Row {
        let counts = &self.counts;
        Row::default()
            .with("requests", counts.requests)
            .with("passed", counts.passed)
            .with("reduced", counts.reduced)
            .and(self.module.row(counts.requests, cycles))
    }
}
