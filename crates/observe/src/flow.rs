//! The flow of work: which microengine takes work from which ring, queue or buffer, and which
//! passes it on. It is derived from the commands of a run, since microcode computes its ring
//! numbers.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::counts_over_time::CountsOverTime;
use crate::series::{OccupancyProbe, ProbeKind};
use npsim_chip::Cycle;
use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, LockStep, TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;
use npsim_isa::{CommandOp, Unit, msf_csr};
use npsim_project::layout::MemoryLayout;

/// Addresses of the RBUF (read) and TBUF (write) elements in the address space
/// of the media interface.
const ELEMENTS: std::ops::Range<u32> = 0x2000..0x4000;

/// A source or destination of a microengine's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkEndpoint {
    /// A scratch ring.
    Ring(u8),
    /// A Q-array entry: channel and number.
    Queue(u8, u8),
    /// The receiving ports.
    Receive,
    /// The transmitting ports.
    Transmit,
}

impl WorkEndpoint {
    /// Whether work that waits at this end is counted by a probe.
    #[must_use]
    pub fn is_counted_by(self, place: &OccupancyProbe) -> bool {
        match place.kind {
            ProbeKind::Ring { number } => self == Self::Ring(number),
            ProbeKind::Queue { channel, entry } => self == Self::Queue(channel, entry),
            ProbeKind::Rbuf | ProbeKind::FullList | ProbeKind::ReceiveFifo { .. } => {
                self == Self::Receive
            }
            ProbeKind::Tbuf | ProbeKind::Transmit { .. } => self == Self::Transmit,
            ProbeKind::Freelist | ProbeKind::Buffers { .. } => false,
        }
    }
}

/// What a microengine does at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkDirection {
    /// The microengine takes work from there.
    Takes,
    /// The microengine puts work there.
    Puts,
}

/// How a microengine accesses a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryAccess {
    /// The microengine reads the region.
    Reads,
    /// The microengine writes the region.
    Writes,
}

/// A `[[memory]]` of the project in scratch or SRAM.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedMemory {
    name: String,
    unit: Unit,
    /// In the address space of commands, including the SRAM channel.
    addresses: Range<u64>,
}

/// The commands of a run, by microengine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficFlow {
    ends: BTreeMap<(u8, WorkDirection, WorkEndpoint), u64>,
    puts: CountsOverTime<(u8, WorkEndpoint)>,
    units: BTreeMap<(u8, &'static str, Option<u8>), u64>,
    memories: Vec<NamedMemory>,
    /// Commands by microengine and index of the memory.
    accesses: BTreeMap<(u8, usize, MemoryAccess), u64>,
    /// How often a lock was taken, by its index and holder: a microengine, or
    /// `None` for the general-purpose core.
    taken: BTreeMap<(u16, Option<u8>), u64>,
}

impl TrafficFlow {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty record that also tracks readers and writers of the `[[memory]]`s in these spaces,
    /// and of the devices beside SRAM.
    #[must_use]
    pub fn over(spaces: &[MemoryLayout]) -> Self {
        let mut memories = Vec::new();
        for space in spaces {
            let channel = space.name.strip_prefix("sram").map(str::parse::<u64>);
            let (unit, base) = match (space.name.as_str(), channel) {
                ("scratch", _) => (Unit::Scratch, 0),
                (_, Some(Ok(channel))) => (Unit::Sram, channel << 30),
                _ => continue,
            };
            memories.extend(space.regions().iter().filter_map(|region| {
                // The windows of devices lie beyond the memory.
                let (kind, name) = region.name.strip_suffix('`')?.split_once(" `")?;
                if kind != "memory" && region.start < space.size {
                    return None;
                }
                Some(NamedMemory {
                    name: name.to_owned(),
                    unit,
                    addresses: base + region.start..base + region.end,
                })
            }));
        }
        Self {
            memories,
            ..Self::default()
        }
    }

    /// The names of the memories, by index.
    pub fn memories(&self) -> impl Iterator<Item = &str> {
        self.memories.iter().map(|memory| memory.name.as_str())
    }

    /// The name of the scratch or SRAM memory that contains a command address.
    #[must_use]
    pub fn memory_at(&self, sram: bool, address: u32) -> Option<&str> {
        let unit = if sram { Unit::Sram } else { Unit::Scratch };
        let has = |it: &&NamedMemory| it.unit == unit && it.addresses.contains(&u64::from(address));
        { self.memories.iter().find(has) }.map(|memory| memory.name.as_str())
    }

    /// The number of commands with which a microengine read or wrote a memory.
    #[must_use]
    pub fn accesses(&self, me: u8, memory: usize, access: MemoryAccess) -> u64 {
        let found = self.accesses.get(&(me, memory, access));
        found.copied().unwrap_or_default()
    }

    /// Records commands to a memory in scratch, which is created if it is new.
    pub fn note_accesses(&mut self, me: u8, memory: &str, access: MemoryAccess, count: u64) {
        let known = self.memories().position(|name| name == memory);
        let index = known.unwrap_or_else(|| {
            self.memories.push(NamedMemory {
                name: memory.to_owned(),
                unit: Unit::Scratch,
                addresses: 0..0,
            });
            self.memories.len() - 1
        });
        *self.accesses.entry((me, index, access)).or_default() += count;
    }

    /// Records that a microengine took or gave work at an end.
    pub fn note(&mut self, me: u8, direction: WorkDirection, end: WorkEndpoint) {
        *self.ends.entry((me, direction, end)).or_default() += 1;
    }

    /// Records commands to a unit; for SRAM, the address gives the channel.
    pub fn note_commands(&mut self, me: u8, unit: &'static str, channel: Option<u8>, count: u64) {
        *self.units.entry((me, unit, channel)).or_default() += count;
    }

    /// Records that a microengine, or the general-purpose core if `None`, took a lock.
    pub fn note_taken(&mut self, lock: u16, by: Option<u8>, count: u64) {
        *self.taken.entry((lock, by)).or_default() += count;
    }

    /// How often a microengine, or the general-purpose core if `None`, took the
    /// lock with this index in the project.
    #[must_use]
    pub fn taken(&self, lock: u16, by: Option<u8>) -> u64 {
        self.taken.get(&(lock, by)).copied().unwrap_or_default()
    }

    /// The ends where a microengine takes or gives work, with the number of times.
    pub fn ends(
        &self,
        me: u8,
        direction: WorkDirection,
    ) -> impl Iterator<Item = (WorkEndpoint, u64)> + '_ {
        self.ends
            .iter()
            .filter(move |((who, how, _), _)| (*who, *how) == (me, direction))
            .map(|((_, _, end), count)| (*end, *count))
    }

    /// Records that a microengine put work to an end `count` times at a cycle. Calls must be in
    /// order of time.
    pub fn note_puts(&mut self, at: Cycle, me: u8, end: WorkEndpoint, count: u64) {
        self.puts.add(at, (me, end), count);
        *self.ends.entry((me, WorkDirection::Puts, end)).or_default() += count;
    }

    /// How often each microengine put work to each end before a cycle, to the resolution of the
    /// notes: their interval is at most about 1/256 of a long run.
    pub fn puts_before(&self, cycle: Cycle) -> impl Iterator<Item = (u8, WorkEndpoint, u64)> + '_ {
        let counts = self.puts.before(cycle).iter();
        counts.map(|((me, end), count)| (*me, *end, *count))
    }

    /// The number of commands that a microengine sent to the unit with this
    /// name in the statistics. The DRAM channel of a command is the
    /// controller's choice, so all DRAM commands count for each channel.
    #[must_use]
    pub fn commands_to(&self, me: u8, name: &str) -> u64 {
        self.units
            .iter()
            .filter(|((who, unit, channel), _)| {
                *who == me
                    && match channel {
                        Some(channel) => name.strip_prefix(unit) == Some(&channel.to_string()),
                        None => name.trim_end_matches(|c: char| c.is_ascii_digit()) == *unit,
                    }
            })
            .map(|(_, count)| count)
            .sum()
    }
}

impl Sampler for TrafficFlow {}

impl Observer for TrafficFlow {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Command, TraceEventKind::Lock])
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.puts.visit_state(at, state);
        let maps = [self.ends.len(), self.units.len(), self.accesses.len()];
        for len in maps {
            state.value(len as u64);
        }
        let counts = { self.ends.values_mut() }
            .chain(self.units.values_mut())
            .chain(self.accesses.values_mut())
            .chain(self.taken.values_mut());
        counts.for_each(|it| state.count(it));
        true
    }

    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        match what {
            TraceEvent::Command { command, .. } => self.command(at, command),
            TraceEvent::Lock {
                lock,
                step: LockStep::Taken { by, .. },
            } => self.note_taken(*lock, by.map(|(me, _)| me), 1),
            _ => {}
        }
    }
}

impl TrafficFlow {
    fn command(&mut self, at: Cycle, command: &BusCommand) {
        use CommandOp as Op;
        let (me, address) = (command.me, command.address);
        let info = command.op.info();
        let channel = (info.unit == Unit::Sram).then_some((address >> 30) as u8);
        self.note_commands(me, info.unit.info().name, channel, 1);
        let access = match command.op {
            Op::ScratchRead | Op::SramRead => Some(MemoryAccess::Reads),
            Op::ScratchWrite | Op::SramWrite => Some(MemoryAccess::Writes),
            _ => None,
        };
        if let Some(access) = access {
            let memory = self.memories.iter().position(|memory| {
                memory.unit == info.unit && memory.addresses.contains(&u64::from(address))
            });
            if let Some(memory) = memory {
                *self.accesses.entry((me, memory, access)).or_default() += 1;
            }
        }
        let ring = WorkEndpoint::Ring((address >> 2 & 15) as u8);
        let queue = WorkEndpoint::Queue((address >> 30) as u8, (address >> 24 & 63) as u8);
        let (direction, end) = match command.op {
            Op::ScratchGet => (WorkDirection::Takes, ring),
            Op::ScratchPut => (WorkDirection::Puts, ring),
            Op::SramDequeue | Op::SramGet => (WorkDirection::Takes, queue),
            Op::SramEnqueue | Op::SramPut | Op::SramJournal | Op::SramFastJournal => {
                (WorkDirection::Puts, queue)
            }
            Op::DramRbufRd => (WorkDirection::Takes, WorkEndpoint::Receive),
            Op::DramTbufWr => (WorkDirection::Puts, WorkEndpoint::Transmit),
            Op::MsfRead if ELEMENTS.contains(&address) => {
                (WorkDirection::Takes, WorkEndpoint::Receive)
            }
            Op::MsfWrite if ELEMENTS.contains(&address) => {
                (WorkDirection::Puts, WorkEndpoint::Transmit)
            }
            Op::MsfWrite | Op::MsfFastWr if address == u32::from(msf_csr::RX_THREAD_FREELIST_0) => {
                (WorkDirection::Takes, WorkEndpoint::Receive)
            }
            _ => return,
        };
        match direction {
            WorkDirection::Takes => self.note(me, direction, end),
            WorkDirection::Puts => self.note_puts(at, me, end, 1),
        }
    }
}
