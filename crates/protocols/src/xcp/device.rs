//! The XCP module of the feedback coprocessor: registers of each group of ports, a
//! mailbox for each thread, and the feedback that a packet leaves with.

use npsim_chip::Cycle;
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::{Factor, FeedbackPools};
use crate::feedback::clock::Module;
use crate::feedback::{GROUPS, REQUEST_WORDS, XCP_WORDS};

/// The registers of a group: both residues, both mantissas, both shifts.
type XcpRegisters = [u32; XCP_WORDS];

/// Bits of a shift that the module looks at.
const SHIFT: u32 = 63;

/// What the module has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpCounts {
    /// Requests answered.
    pub requests: u64,
    /// Of these, with the Delta that they came with.
    pub passed: u64,
    /// With a smaller one.
    pub reduced: u64,
}

/// The Delta with which a packet leaves; its feedback is taken from the pools. A pool
/// that is below zero counts as empty. It is the reference model between registers
/// and answer.
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

/// The place of a thread's request and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Mailbox {
    /// Whether a request was ever written to it.
    asked: bool,
    /// The answer to the last one.
    delta: u32,
    /// When that is there.
    answered: Cycle,
}

/// The module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct XcpModule {
    pub(crate) module: Module,
    groups: [XcpRegisters; GROUPS as usize],
    mailboxes: Vec<Mailbox>,
    /// What it has done.
    pub counts: XcpCounts,
}

impl XcpModule {
    /// A module with all registers zero and so many mailboxes, and a clock of so many
    /// picoseconds beside microengines of so many megahertz.
    #[must_use]
    pub fn new(picoseconds: u64, mhz: u64, mailboxes: usize) -> Self {
        Self {
            module: Module::new(picoseconds, mhz),
            groups: Default::default(),
            mailboxes: vec![Mailbox::default(); mailboxes],
            counts: XcpCounts::default(),
        }
    }

    /// How many mailboxes it has.
    pub(crate) fn mailboxes(&self) -> u32 {
        self.mailboxes.len() as u32
    }

    /// A register; there are five in each group.
    pub(crate) fn register(&mut self, group: usize, word: usize) -> &mut u32 {
        &mut self.groups[group][word]
    }

    /// What is in it.
    pub(crate) const fn read(&self, group: usize, word: usize) -> u32 {
        self.groups[group][word]
    }

    /// Takes a request (group, X, size, Delta) that is handed over now and has been
    /// there `since`; gives the cycle at which its answer is there. Of the size, an
    /// IP total length, 16 bits count.
    ///
    /// # Errors
    /// There is no such group; says so, to follow the command.
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

    /// The answer in a mailbox.
    ///
    /// # Errors
    /// Nothing was ever asked there; says so, to follow the command.
    pub fn answer(&self, mailbox: u8) -> Result<u32, String> {
        self.mailboxes
            .get(usize::from(mailbox))
            .filter(|mailbox| mailbox.asked)
            .map(|mailbox| mailbox.delta)
            .ok_or_else(|| format!("no request was ever written to mailbox {mailbox}"))
    }

    /// The cycle at which the answer in a mailbox is there.
    pub(crate) fn answered(&self, mailbox: u8) -> Cycle {
        let mailbox = self.mailboxes.get(usize::from(mailbox));
        mailbox.map_or(0, |mailbox| mailbox.answered)
    }

    /// Hands the module a request of group 0 whenever it can take one, as a bench
    /// does that has it alone: no channel, no bus. Gives how many are answered in so
    /// many cycles.
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

    /// What statistics show of it.
    pub(crate) fn row(&self, cycles: Cycle) -> Row {
        let counts = &self.counts;
        Row::default()
            .with("requests", counts.requests)
            .with("passed", counts.passed)
            .with("reduced", counts.reduced)
            .and(self.module.row(counts.requests, cycles))
    }
}
