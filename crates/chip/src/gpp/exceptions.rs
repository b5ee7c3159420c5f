//! The slow path: takes exception packets off a scratch ring, reads them, counts their reasons and
//! offers them to the other tasks. The buffer of a packet that no task takes is freed.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::access::Access;
use super::boot::ExceptionsSetup;
use super::exception::DESCRIPTOR_WORDS;
pub use super::exception::{Exception, HEADER_BYTES};
use super::load_error::LoadError;
use super::packets::{DRAM_ACCESS_BYTES, raise, reason};
use super::task::{NextAction, Start, Task};
use crate::Cycle;
use crate::kernel::fabric::Fabric;
use crate::kernel::trace_event::TraceEvent;
use crate::units::scratch::Scratch;

/// The next access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ExceptionStep {
    Poll,
    ReadDescriptor,
    ReadHeader,
    Free,
}

/// An exception task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exceptions {
    setup: ExceptionsSetup,
    step: ExceptionStep,
    current: Exception,
    by_reason: BTreeMap<u8, u64>,
    packets: u64,
}

impl Exceptions {
    /// A task that has not taken any packets yet.
    #[must_use]
    pub fn new(setup: ExceptionsSetup) -> Self {
        Self {
            setup,
            step: ExceptionStep::Poll,
            current: Exception {
                cycle: 0,
                reason: 0,
                buffer: 0,
                descriptor: [0; DESCRIPTOR_WORDS as usize],
                header: vec![0; HEADER_BYTES as usize],
            },
            by_reason: BTreeMap::new(),
            packets: 0,
        }
    }

    /// The ring that packets come from, and how often the task polls it.
    #[must_use]
    pub const fn setup(&self) -> &ExceptionsSetup {
        &self.setup
    }

    /// The purpose of its next access.
    const fn doing(&self) -> &'static str {
        match self.step {
            ExceptionStep::Poll => "poll the ring",
            ExceptionStep::ReadDescriptor => "read the descriptor",
            ExceptionStep::ReadHeader => "read and handle the header",
            ExceptionStep::Free => "free the buffer",
        }
    }

    /// Number of packets taken off the ring.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// The last packet that was handled, if any.
    #[must_use]
    pub fn last(&self) -> Option<&Exception> {
        (self.packets > 0).then_some(&self.current)
    }

    /// Packets by reason, named if its code has a name.
    pub fn by_reason(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let named = move |(code, count): (&u8, &u64)| (self.setup.reason(*code), *count);
        self.by_reason.iter().map(named)
    }

    /// Polls the ring. Returns true if it was empty.
    fn poll(&mut self, scratch: &mut Scratch, fabric: &mut Fabric) -> bool {
        let entry = scratch.ring_get(self.setup.ring, fabric);
        if entry == 0 {
            return true;
        }
        self.current.cycle = fabric.now;
        self.current.reason = (entry >> 24) as u8;
        self.current.buffer = entry & 0x00ff_ffff;
        self.packets += 1;
        *self.by_reason.entry(self.current.reason).or_default() += 1;
        let (handle, reason) = (self.current.buffer, self.current.reason);
        fabric
            .trace
            .record(fabric.now, || TraceEvent::Exception { handle, reason });
        let buffers = self.setup.buffers;
        let offset = self.current.buffer.wrapping_sub(buffers.first_descriptor);
        let stride = buffers.descriptor_longwords.max(1);
        if !offset.is_multiple_of(stride) || offset / stride >= buffers.count {
            self.fault(fabric, "it is not the address of a buffer descriptor");
        } else if self.current.reason >= reason::FIRST {
            self.fault(fabric, "that is a reason code of the core's own");
        }
        self.step = ExceptionStep::ReadDescriptor;
        false
    }

    fn fault(&self, fabric: &mut Fabric, what: &str) {
        let message = format!(
            "the core took 0x{:02x}{:06x} off scratch ring {}: {what}",
            self.current.reason, self.current.buffer, self.setup.ring
        );
        let help =
            "put the reason code in bits 31-24 and the descriptor's longword address in 23-0";
        raise(fabric, message, Some(help.to_owned()));
    }
}

impl Task for Exceptions {
    fn name(&self) -> &'static str {
        "exceptions"
    }

    fn prepare(&mut self, _start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        Ok(Some(self.setup.period))
    }

    fn is_timer(&self) -> bool {
        false
    }

    fn has_work(&self, scratch: &Scratch) -> bool {
        !scratch.ring(self.setup.ring).is_empty()
    }

    fn packets(&self) -> Vec<(String, u64)> {
        self.by_reason().collect()
    }

    /// Each access takes its share of the buses and of the unit, and lasts longer by the time it
    /// waits there.
    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let doing = self.doing();
        let now = access.now();
        let buffers = self.setup.buffers;
        let channel = u32::from(buffers.channel) << 30;
        let costs = access.costs;
        let cost = match self.step {
            ExceptionStep::Poll => {
                // The handler acknowledges all threads with its first access.
                access.acknowledge();
                let empty = self.poll(access.scratch, access.fabric);
                let cost = costs.ring + access.scratch.core_read(1, access.fabric);
                if empty {
                    let (interval, poll) = (costs.ring.max(self.setup.period), costs.ring);
                    let next = NextAction::Idle {
                        cost,
                        interval,
                        poll,
                    };
                    return (doing, next);
                }
                cost
            }
            ExceptionStep::ReadDescriptor => {
                for (i, word) in (0..).zip(&mut self.current.descriptor) {
                    let address =
                        channel | (self.current.buffer.wrapping_add(i) << 2 & 0x3fff_ffff);
                    *word = access.sram.read_word(address).unwrap_or_default();
                }
                self.step = ExceptionStep::ReadHeader;
                let words = DESCRIPTOR_WORDS as u8;
                let waited = access.sram.core_read(buffers.channel, words, access.fabric);
                u64::from(DESCRIPTOR_WORDS) * costs.sram + waited
            }
            ExceptionStep::ReadHeader => {
                let address = buffers.data(self.current.buffer);
                match access.dram.read_bytes(address, HEADER_BYTES as usize) {
                    Some(bytes) => self.current.header = bytes,
                    None => self.fault(
                        access.fabric,
                        &format!("its buffer at DRAM address 0x{address:x} is not populated"),
                    ),
                }
                let taken = access.offer(&self.current);
                self.step = if taken {
                    ExceptionStep::Poll
                } else {
                    ExceptionStep::Free
                };
                let accesses = HEADER_BYTES / DRAM_ACCESS_BYTES;
                let waited = access.dram.core_read(address, HEADER_BYTES, access.fabric);
                u64::from(accesses) * costs.dram + costs.work + waited
            }
            ExceptionStep::Free => {
                let buffer = self.current.buffer;
                if !access.enqueue(buffers.channel, buffers.entry, buffer) {
                    let text = format!(
                        "the free list of channel {} entry {} cannot take it",
                        buffers.channel, buffers.entry
                    );
                    self.fault(access.fabric, &text);
                }
                self.step = ExceptionStep::Poll;
                costs.sram + access.sram.core_enqueue(buffers.channel, access.fabric)
            }
        };
        let next = if self.step == ExceptionStep::Poll {
            // The next poll follows immediately, as the next job.
            let due = now + cost;
            NextAction::Done { cost, due }
        } else {
            NextAction::After(cost)
        };
        (doing, next)
    }
}
