//! The slow path: takes exception packets off a scratch ring, reads them,
//! counts their reason and gives the buffer back.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::Costs;
use super::boot::ExceptionsSetup;
use crate::Cycle;
use crate::check::Fault;
use crate::dram::Dram;
use crate::fabric::Fabric;
use crate::scratch::Scratch;
use crate::sram::Sram;
use crate::unit_counters::Way;

/// Longwords of a buffer descriptor that the core reads.
const DESCRIPTOR_WORDS: u32 = 4;
/// Bytes of a packet that the core reads.
const HEADER_BYTES: u32 = 64;
/// Bytes of one DRAM access of the core.
const DRAM_ACCESS_BYTES: u32 = 32;

/// What a task has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionCounts {
    /// Looks at the ring.
    pub polls: u64,
    /// Packets taken off it.
    pub packets: u64,
    /// Cycles spent on accesses and work.
    pub busy: Cycle,
}

impl std::iter::Sum for ExceptionCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |a, b| Self {
            polls: a.polls + b.polls,
            packets: a.packets + b.packets,
            busy: a.busy + b.busy,
        })
    }
}

/// A packet that ended at the core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// When it was taken off the ring.
    pub cycle: Cycle,
    /// Reason code.
    pub reason: u8,
    /// Longword address of its buffer descriptor.
    pub buffer: u32,
    /// The descriptor.
    pub descriptor: [u32; DESCRIPTOR_WORDS as usize],
    /// The first bytes of its buffer.
    pub header: Vec<u8>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    Poll,
    ReadDescriptor,
    ReadHeader,
    Free,
}

/// An exception task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exceptions {
    setup: ExceptionsSetup,
    step: Step,
    due: Cycle,
    /// Waits for its period and not for an access.
    idle: bool,
    /// No event is posted: looks at an empty ring are only counted, so that an
    /// idle core costs the simulation nothing. `due` is the next of them.
    dozing: bool,
    last_activity: Cycle,
    current: Exception,
    by_reason: BTreeMap<u8, u64>,
    counts: ExceptionCounts,
}

impl Exceptions {
    pub(super) fn new(setup: ExceptionsSetup) -> Self {
        Self {
            setup,
            step: Step::Poll,
            due: 0,
            idle: true,
            dozing: false,
            last_activity: 0,
            current: Exception {
                cycle: 0,
                reason: 0,
                buffer: 0,
                descriptor: [0; DESCRIPTOR_WORDS as usize],
                header: vec![0; HEADER_BYTES as usize],
            },
            by_reason: BTreeMap::new(),
            counts: ExceptionCounts::default(),
        }
    }

    pub(super) fn start(&mut self, now: Cycle) -> Cycle {
        self.due = now + self.setup.period.max(1);
        self.due
    }

    /// An interrupt at `now` calls for a look at `at`; `None` when one is
    /// posted that comes sooner.
    pub(super) fn wake(&mut self, now: Cycle, at: Cycle, costs: &Costs) -> Option<Cycle> {
        self.catch_up(now, costs);
        if !self.idle || (self.due <= at && !self.dozing) {
            return None;
        }
        self.dozing = false;
        self.due = self.due.min(at);
        Some(self.due)
    }

    /// Something may have come onto the ring: the next look, if it must be
    /// posted now.
    pub(super) fn stir(&mut self, scratch: &Scratch, now: Cycle, costs: &Costs) -> Option<Cycle> {
        if !self.dozing || scratch.ring(self.setup.ring).is_empty() {
            return None;
        }
        self.catch_up(now, costs);
        self.dozing = false;
        Some(self.due)
    }

    /// Counts the looks that a dozing task has made before `now`.
    fn catch_up(&mut self, now: Cycle, costs: &Costs) {
        let looks = self.looks_before(now, costs);
        self.counts.polls += looks;
        self.counts.busy += looks * costs.ring;
        self.due += looks * self.interval(costs);
    }

    fn looks_before(&self, now: Cycle, costs: &Costs) -> u64 {
        if !self.dozing || now <= self.due {
            return 0;
        }
        (now - self.due).div_ceil(self.interval(costs))
    }

    /// Cycles between two looks at an empty ring.
    fn interval(&self, costs: &Costs) -> Cycle {
        costs.ring.max(self.setup.period).max(1)
    }

    /// What it has done before `now`.
    pub(super) fn counts_at(&self, now: Cycle, costs: &Costs) -> ExceptionCounts {
        let looks = self.looks_before(now, costs);
        let ExceptionCounts {
            polls,
            packets,
            busy,
        } = self.counts;
        ExceptionCounts {
            polls: polls + looks,
            packets,
            busy: busy + looks * costs.ring,
        }
    }

    /// Whether the event at `now` is the one the task waits for.
    pub(super) const fn is_due(&self, now: Cycle) -> bool {
        self.due == now
    }

    pub(super) fn is_polling(&self) -> bool {
        self.step == Step::Poll
    }

    /// What its next access is for.
    pub(super) const fn doing(&self) -> &'static str {
        match self.step {
            Step::Poll => "look at the ring",
            Step::ReadDescriptor => "read the descriptor",
            Step::ReadHeader => "read and handle the header",
            Step::Free => "free the buffer",
        }
    }

    /// The end of the access made at `now`.
    pub(super) fn busy_until(&self, now: Cycle, costs: &Costs) -> Cycle {
        if self.idle {
            now + costs.ring
        } else {
            self.due.max(now)
        }
    }

    /// When it last did more than look at an empty ring.
    pub(super) fn last_activity(&self) -> Cycle {
        self.last_activity
    }

    /// The packet that was handled last, if any was.
    #[must_use]
    pub fn last(&self) -> Option<&Exception> {
        (self.counts.packets > 0).then_some(&self.current)
    }

    /// Packets by reason: the name where the code has one.
    pub fn by_reason(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.by_reason.iter().map(|(&code, &count)| {
            let name = self
                .setup
                .reasons
                .get(code as usize)
                .filter(|name| !name.is_empty());
            (
                name.cloned().unwrap_or_else(|| format!("reason {code}")),
                count,
            )
        })
    }

    /// Makes the access that is due and gives the time of the next, if it must
    /// be posted.
    pub(super) fn step(
        &mut self,
        costs: &Costs,
        fabric: &mut Fabric,
        scratch: &mut Scratch,
        sram: &mut Sram,
        dram: &mut Dram,
    ) -> Option<Cycle> {
        let now = fabric.now;
        let buffers = self.setup.buffers;
        let channel = u32::from(buffers.channel) << 30;
        self.idle = false;
        // Each access takes its share of the buses and of the unit, and lasts
        // longer by what it waits there.
        let cost = match self.step {
            Step::Poll => {
                self.counts.polls += 1;
                self.poll(scratch, fabric);
                costs.ring + scratch.core_access(Way::Read, fabric)
            }
            Step::ReadDescriptor => {
                for (i, word) in (0..).zip(&mut self.current.descriptor) {
                    let address =
                        channel | (self.current.buffer.wrapping_add(i) << 2 & 0x3fff_ffff);
                    *word = sram.read_word(address).unwrap_or_default();
                }
                self.step = Step::ReadHeader;
                let waited =
                    sram.core_access(buffers.channel, Way::Read, DESCRIPTOR_WORDS as u8, fabric);
                u64::from(DESCRIPTOR_WORDS) * costs.sram + waited
            }
            Step::ReadHeader => {
                let address = buffers.data(self.current.buffer);
                match dram.read_bytes(address, HEADER_BYTES as usize) {
                    Some(bytes) => self.current.header = bytes,
                    None => self.fault(
                        fabric,
                        &format!("its buffer at DRAM address 0x{address:x} is not populated"),
                    ),
                }
                self.step = Step::Free;
                let accesses = HEADER_BYTES / DRAM_ACCESS_BYTES;
                let waited = dram.core_read(address, HEADER_BYTES, fabric);
                u64::from(accesses) * costs.dram + costs.work + waited
            }
            Step::Free => {
                if !sram.enqueue(buffers.channel, buffers.entry, self.current.buffer) {
                    let text = format!(
                        "the free list of channel {} entry {} cannot take it",
                        buffers.channel, buffers.entry
                    );
                    self.fault(fabric, &text);
                }
                self.step = Step::Poll;
                costs.sram + sram.core_access(buffers.channel, Way::Write, 1, fabric)
            }
        };
        self.counts.busy += cost;
        let wait = if self.idle {
            self.interval(costs)
        } else {
            cost.max(1)
        };
        self.due = now + wait;
        self.dozing = self.idle;
        if !self.idle {
            self.last_activity = now;
        }
        (!self.dozing).then_some(self.due)
    }

    fn poll(&mut self, scratch: &mut Scratch, fabric: &mut Fabric) {
        let entry = scratch.ring_get(self.setup.ring, fabric);
        if entry == 0 {
            self.idle = true;
            return;
        }
        self.current.cycle = fabric.now;
        self.current.reason = (entry >> 24) as u8;
        self.current.buffer = entry & 0x00ff_ffff;
        self.counts.packets += 1;
        *self.by_reason.entry(self.current.reason).or_default() += 1;
        let buffers = self.setup.buffers;
        let offset = self.current.buffer.wrapping_sub(buffers.first_descriptor);
        let stride = buffers.descriptor_longwords.max(1);
        if !offset.is_multiple_of(stride) || offset / stride >= buffers.count {
            self.fault(fabric, "it is the address of no buffer descriptor");
        }
        self.step = Step::ReadDescriptor;
    }

    fn fault(&self, fabric: &mut Fabric, what: &str) {
        let message = format!(
            "the core took 0x{:02x}{:06x} off scratch ring {}: {what}",
            self.current.reason, self.current.buffer, self.setup.ring
        );
        fabric.checks.raise(Fault {
            check: None,
            cycle: fabric.now,
            me: None,
            context: None,
            pc: None,
            message,
            notes: Vec::new(),
            help: Some(
                "put the reason code in bits 31-24 and the descriptor's longword address in 23-0"
                    .to_owned(),
            ),
        });
    }
}
