//! Parameters of the model, with their defaults and sources.

use std::str::FromStr;

use crate::net::{Service, TokenChoice};

/// Allocation of places in TBUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotPolicy {
    /// Each context has its own; those of a microengine are adjacent.
    Contiguous,
    /// Each context has its own; adjacent ones belong to different microengines.
    Strided,
    /// Each microengine has its own; a context that takes a packet holds the microengine's mutex until the packet is
    /// in TBUF.
    Local,
    /// In turn, under a single mutex in scratch that is held while the packet is copied to TBUF.
    Global,
}

/// When a context with a place of its own is free for the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextRelease {
    /// When its packet is in TBUF; the next packet waits for the place once it gets that far.
    Filled,
    /// When its packet has been sent from TBUF.
    Sent,
}

/// What TBUF does at a place whose packet has not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// TBUF waits for the packet: places are sent strictly in order.
    Waits,
    /// TBUF continues with the next full place.
    SkipsEmpty,
}

/// Which requester a resource serves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// Each waiting microengine with equal probability; within one, each context.
    Equal,
    /// The token that has waited longest.
    Oldest,
}

impl Arbitration {
    pub(crate) const fn among_contexts(self) -> TokenChoice {
        match self {
            Self::Equal => TokenChoice::EqualTokens,
            Self::Oldest => TokenChoice::Oldest,
        }
    }

    pub(crate) const fn among_microengines(self) -> TokenChoice {
        match self {
            Self::Equal => TokenChoice::EqualColours,
            Self::Oldest => TokenChoice::Oldest,
        }
    }
}

/// A router and its load. Times are in cycles of a microengine, at 600 MHz.
///
/// The paper gives no firing times. Idle latencies are those of the chip profile `ixp2400-sdk`, which is not fitted
/// to anything; instructions are those that the microcode of `microcode/ordering/contiguous.toml` executes for a
/// packet of 64 bytes under overload. One number is calibrated: the time in which the DRAM serves a byte.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Allocation of places in TBUF.
    pub slots: SlotPolicy,
    /// When a context with a place of its own is free again.
    pub freed: ContextRelease,
    /// What TBUF does at a place whose packet has not arrived yet.
    pub drain: Drain,
    /// Which requester resources serve first.
    pub arbitration: Arbitration,
    /// Distribution of the time for which a resource is busy.
    pub service: Service,
    /// Distribution of the latency for which only the context waits.
    pub delay: Service,
    /// Number of microengines that take packets.
    pub microengines: usize,
    /// Contexts per microengine.
    pub contexts: usize,
    /// Bytes per packet.
    pub bytes: u64,
    /// Load offered to the first router, in Mb/s of packets.
    pub offered_mbps: u64,
    /// Number of packets offered.
    pub packets: u64,
    /// Number of these that are not counted at the beginning.
    pub warm_up: u64,
    /// Number of concurrent flows.
    pub flows: u64,
    /// Packets per flow, before another one takes its place.
    pub flow_packets: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Space in bytes for packets that no context has taken: RFIFO and what the MAC buffers before it.
    pub receive_bytes: u64,
    /// Bytes of TBUF.
    pub tbuf_bytes: u64,
    /// Entries in a microengine's command queue.
    pub command_queue: usize,
    /// Cycles of instructions per packet, divided evenly among its visits to the microengine.
    pub instructions: u64,
    /// Cycles for which the command bus carries a command.
    pub command_bus: u64,
    /// Thousandths of a cycle in which the DRAM serves a byte. Calibrated: for 64 bytes, which go in and out, and
    /// their header of 8 bytes, which is read and written, 721 gives a packet every 103.8 cycles, the 2.96 Gb/s at
    /// which the paper's DRAM saturates.
    pub dram_byte_milli: u64,
    /// Idle latency of a transfer from RFIFO to DRAM, including its service.
    pub dram_from_rfifo: u64,
    /// Idle latency of a read of the header.
    pub dram_read: u64,
    /// Idle latency of a write of the header.
    pub dram_write: u64,
    /// Idle latency of a transfer from DRAM to TBUF.
    pub dram_to_tbuf: u64,
    /// Idle latency of a lookup read in SRAM.
    pub sram_read: u64,
    /// Cycles in which the SRAM serves such a read.
    pub sram_service: u64,
    /// Number of reads per lookup.
    pub lookups: usize,
    /// Idle latency of the test-and-set of the global mutex in scratch.
    pub scratch_atomic: u64,
    /// Rate at which TBUF is drained, in Mb/s.
    pub drain_mbps: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            slots: SlotPolicy::Contiguous,
            freed: ContextRelease::Filled,
            drain: Drain::Waits,
            arbitration: Arbitration::Equal,
            service: Service::Exponential,
            delay: Service::Deterministic,
            microengines: 8,
            contexts: 8,
            bytes: 64,
            offered_mbps: 3000,
            packets: 100_000,
            warm_up: 20_000,
            flows: 10,
            flow_packets: 100,
            seed: 1,
            receive_bytes: 8192 + 4096,
            tbuf_bytes: 8192,
            command_queue: 4,
            instructions: 170,
            command_bus: 2,
            dram_byte_milli: 721,
            dram_from_rfifo: 135,
            dram_read: 120,
            dram_write: 55,
            dram_to_tbuf: 165,
            sram_read: 90,
            sram_service: 3,
            lookups: 2,
            scratch_atomic: 68,
            drain_mbps: 4000,
        }
    }
}

impl Parameters {
    /// Names of the parameters that can be set.
    pub const NAMES: &[&str] = &[
        "slots",
        "freed",
        "drain",
        "arbitration",
        "service",
        "delay",
        "microengines",
        "contexts",
        "bytes",
        "offered_mbps",
        "packets",
        "warm_up",
        "flows",
        "flow_packets",
        "seed",
        "receive_bytes",
        "tbuf_bytes",
        "command_queue",
        "instructions",
        "command_bus",
        "dram_byte_milli",
        "dram_from_rfifo",
        "dram_read",
        "dram_write",
        "dram_to_tbuf",
        "sram_read",
        "sram_service",
        "lookups",
        "scratch_atomic",
        "drain_mbps",
    ];

    /// Sets a parameter.
    ///
    /// # Errors
    /// Returns a message if there is no parameter of that name, or the value is invalid.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "slots" => {
                self.slots = match value {
                    "contiguous" => SlotPolicy::Contiguous,
                    "strided" => SlotPolicy::Strided,
                    "local" => SlotPolicy::Local,
                    "global" => SlotPolicy::Global,
                    _ => return Err(one_of(value, "contiguous, strided, local or global")),
                }
            }
            "freed" => {
                self.freed = match value {
                    "filled" => ContextRelease::Filled,
                    "sent" => ContextRelease::Sent,
                    _ => return Err(one_of(value, "filled or sent")),
                }
            }
            "drain" => {
                self.drain = match value {
                    "waits" => Drain::Waits,
                    "skips" => Drain::SkipsEmpty,
                    _ => return Err(one_of(value, "waits or skips")),
                }
            }
            "arbitration" => {
                self.arbitration = match value {
                    "equal" => Arbitration::Equal,
                    "oldest" => Arbitration::Oldest,
                    _ => return Err(one_of(value, "equal or oldest")),
                }
            }
            "service" => self.service = distribution(value)?,
            "delay" => self.delay = distribution(value)?,
            "microengines" => self.microengines = number(value, 1, 64)?,
            "contexts" => self.contexts = number(value, 1, 64)?,
            "bytes" => self.bytes = number(value, 64, 9000)?,
            "offered_mbps" => self.offered_mbps = number(value, 1, 100_000)?,
            "packets" => self.packets = number(value, 1, 10_000_000)?,
            "warm_up" => self.warm_up = number(value, 0, 10_000_000)?,
            "flows" => self.flows = number(value, 1, 100_000)?,
            "flow_packets" => self.flow_packets = number(value, 1, 10_000_000)?,
            "seed" => self.seed = number(value, 0, u64::MAX)?,
            "receive_bytes" => self.receive_bytes = number(value, 64, 1 << 24)?,
            "tbuf_bytes" => self.tbuf_bytes = number(value, 64, 1 << 24)?,
            "command_queue" => self.command_queue = number(value, 1, 1024)?,
            "instructions" => self.instructions = number(value, 0, 1_000_000)?,
            "command_bus" => self.command_bus = number(value, 0, 1_000_000)?,
            "dram_byte_milli" => self.dram_byte_milli = number(value, 0, 1_000_000)?,
            "dram_from_rfifo" => self.dram_from_rfifo = number(value, 0, 1_000_000)?,
            "dram_read" => self.dram_read = number(value, 0, 1_000_000)?,
            "dram_write" => self.dram_write = number(value, 0, 1_000_000)?,
            "dram_to_tbuf" => self.dram_to_tbuf = number(value, 0, 1_000_000)?,
            "sram_read" => self.sram_read = number(value, 0, 1_000_000)?,
            "sram_service" => self.sram_service = number(value, 0, 1_000_000)?,
            "lookups" => self.lookups = number(value, 0, 64)?,
            "scratch_atomic" => self.scratch_atomic = number(value, 0, 1_000_000)?,
            "drain_mbps" => self.drain_mbps = number(value, 1, 100_000)?,
            _ => {
                return Err(format!(
                    "there is no `{name}`; a net has {}",
                    Self::NAMES.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// Checks that the parameters are consistent.
    ///
    /// # Errors
    /// Returns a message if there is no room for a packet, or nothing is counted.
    pub fn check(&self) -> Result<(), String> {
        if self.receive_bytes < self.bytes || self.tbuf_bytes < self.bytes {
            return Err("there is no room for a packet".into());
        }
        if self.warm_up >= self.packets {
            return Err("the warm-up takes all packets".into());
        }
        Ok(())
    }

    /// Returns the number of places in TBUF.
    #[must_use]
    pub fn places(&self) -> usize {
        (self.tbuf_bytes / self.bytes) as usize
    }

    /// Returns the number of contexts per microengine that take part: if each needs a place of its own, no more than
    /// TBUF has places.
    #[must_use]
    pub fn active_contexts(&self) -> usize {
        let places = self.places() / self.microengines;
        self.contexts.min(places.max(1))
    }
}

fn one_of(value: &str, known: &str) -> String {
    format!("`{value}` is not {known}")
}

fn distribution(value: &str) -> Result<Service, String> {
    match value {
        "deterministic" => Ok(Service::Deterministic),
        "exponential" => Ok(Service::Exponential),
        _ => Err(one_of(value, "deterministic or exponential")),
    }
}

fn number<T>(value: &str, least: u64, most: u64) -> Result<T, String>
where
    T: FromStr + TryFrom<u64>,
{
    let parsed = value.parse::<u64>().ok();
    let fits = parsed.filter(|number| (least..=most).contains(number));
    let number = fits.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("`{value}` is not a whole number from {least} to {most}"))
}
