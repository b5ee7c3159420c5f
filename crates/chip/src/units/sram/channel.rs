//! One SRAM channel: when commands start.
//!
//! Commands come from the inlet in order into a FIFO of those that read and one
//! of those that write; the first that finds its FIFO full stays in the inlet
//! with all behind it ([`arrival`]). Writes ask for their data when they enter
//! their FIFO. A command starts as soon as its data is there, its port is free,
//! and no earlier waiting command concerns the same address or Q-array entry, so
//! writes, reads and atomic operations of one address keep their order while
//! others pass. What a command does to memory it does when it starts
//! ([`execute`]).

mod arrival;
mod core_access;
mod execute;
mod queued_command;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use npsim_isa::CommandOp;

use super::device::Device;
use super::device_command::{AccessError, DeviceCommand};
use super::flags::CommandFlags;
use super::op_traits::{OpTraits, Pulls};
use super::qarray::QueueEntry;
use super::{Leads, Sram, uses_entry};
use crate::Cycle;
use crate::kernel::event::Event;
use crate::kernel::fabric::{BusCommand, CommandId, Fabric};
use crate::kernel::lock::Locks;
use crate::kernel::memory::Paged;
use crate::kernel::queue::{references, take_out};
use crate::kernel::target::CommandTarget;
use crate::kernel::unit::{HasTarget, Unit};
use crate::kernel::unit_counters::{PathDirection, UnitCounters};
use npsim_profile::Profile;
pub(super) use queued_command::{AddressRange, QueuedCommand};

const ADDRESS_HELP: &str = "check the address operands: bits 31-30 are the channel, below them a byte address, or a Q-array entry and a longword address";

/// One channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Channel {
    pub number: u8,
    #[serde(skip)]
    pub memory: Paged<u32>,
    pub entries: Vec<QueueEntry>,
    entry_free: Vec<Cycle>,
    registers: BTreeMap<u32, u32>,
    read_free: Cycle,
    write_free: Cycle,
    /// Addresses whose atomic operation has not written yet, and until when, in the order in
    /// which they write.
    atomics: Vec<(u32, Cycle)>,
    /// In order of arrival.
    waiting: Vec<QueuedCommand>,
    /// The commands among them that have left the inlet, readers and writers.
    in_fifo: [usize; 2],
    fifo_depth: usize,
    /// The windows of those that wait for devices.
    pub windows: Vec<(CommandId, DeviceCommand)>,
    /// The earliest pending [`Event::Turn`]; `Cycle::MAX` for none.
    turn_at: Cycle,
    pub locks: Locks,
    pub counters: UnitCounters,
    /// What is attached beside the memory. Their state is saved beside the chip's: of
    /// what type it is only the boot plan knows.
    #[serde(skip)]
    pub devices: Vec<Box<dyn Device>>,
    /// Commands that were handed to devices.
    #[serde(skip)]
    pub handovers: u64,
}

impl Channel {
    pub fn new(number: u8, profile: &Profile) -> Self {
        let entries = profile.queue_entries() as usize;
        Self {
            number,
            memory: Paged::new(profile.sram_channel_bytes() as usize / 4),
            entries: vec![QueueEntry::default(); entries],
            entry_free: vec![0; entries],
            registers: BTreeMap::new(),
            read_free: 0,
            write_free: 0,
            atomics: Vec::new(),
            waiting: Vec::new(),
            windows: Vec::new(),
            in_fifo: [0; 2],
            fifo_depth: profile.sram_fifo_depth() as usize,
            turn_at: Cycle::MAX,
            locks: Locks::default(),
            counters: UnitCounters::default(),
            devices: Vec::new(),
            handovers: 0,
        }
    }

    /// The channel's inlet.
    #[inline]
    fn target(&self) -> CommandTarget {
        Sram::target(self.number % Sram::CHANNELS)
    }

    /// Whether a saved channel has as many Q-array entries as this one and none but these
    /// are waited for, and has in its FIFOs, which are as deep, what it says.
    pub fn is_like(&self, own: &Self) -> bool {
        let count = own.entries.len();
        let waited_for = self.waiting.iter().filter_map(|it| it.concern.entry());
        self.entries.len() == count
            && self.entry_free.len() == count
            && waited_for.max().is_none_or(|last| last < count)
            && self.fifo_depth == own.fifo_depth
            && self.fifos_are_counted()
    }

    /// Whether the first commands that wait are in the FIFOs as they are counted.
    fn fifos_are_counted(&self) -> bool {
        let [reads, writes] = self.in_fifo;
        let Some(taken) = reads.checked_add(writes) else {
            return false;
        };
        let in_fifo = |fifo| {
            let taken = self.waiting.iter().take(taken);
            taken.filter(|it| it.fifo() == fifo).count()
        };
        self.in_fifo == [in_fifo(0), in_fifo(1)] && reads.max(writes) <= self.fifo_depth
    }

    /// The commands that start before one that waits: those before it in its FIFO, those
    /// of the other FIFO that it must not overtake, and in the inlet all before it.
    pub fn ahead_of(&self, slot: CommandId) -> Option<Vec<CommandId>> {
        let at = self.waiting.iter().position(|it| it.slot == slot)?;
        let taken = self.in_fifo[0] + self.in_fifo[1];
        let own = &self.waiting[at];
        let earlier = self.waiting[..at].iter().enumerate();
        let ahead = earlier.filter(|(other, it)| {
            it.fifo() == own.fifo() || it.conflicts(*own) || (at >= taken && *other >= taken)
        });
        Some(ahead.map(|(_, it)| it.slot).collect())
    }

    /// Lets commands out of the inlet, in order, as long as their FIFO has room.
    #[inline]
    fn take(&mut self, fabric: &mut Fabric, leads: &Leads) {
        // One FIFO was full if others are in the inlet.
        if self.waiting.len() >= self.fifo_depth {
            self.take_now(fabric, leads);
        }
    }

    #[inline(never)]
    fn take_now(&mut self, fabric: &mut Fabric, leads: &Leads) {
        let taken = self.in_fifo[0] + self.in_fifo[1];
        // The inlet is in order, so those that have left it stand before the rest.
        for waiting in &mut self.waiting[taken..] {
            let fifo = &mut self.in_fifo[waiting.fifo()];
            if *fifo >= self.fifo_depth {
                return;
            }
            // The place at the inlet is free when a command enters its FIFO, not when it is
            // served. Data is asked for at once, so that it comes while those ahead are
            // served.
            *fifo += 1;
            let command = &fabric.flight(waiting.slot).command;
            let pulled = pulled_words(command, OpTraits::of(command.op).pulls);
            waiting.marks = waiting.marks.with(CommandFlags::READY, pulled == 0);
            if pulled > 0 {
                fabric.pull(waiting.slot, pulled, fabric.now + leads.write);
            }
            let target = Sram::target(self.number);
            fabric.release(target);
        }
    }

    /// The data of a command has come.
    pub fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric, leads: &Leads) {
        let now = fabric.now;
        fabric.flight_mut(slot).unit_scratch = now;
        let mut all = self.waiting.iter_mut().enumerate();
        let Some((at, waiting)) = all.find(|(_, it)| it.slot == slot) else {
            return;
        };
        waiting.marks = waiting.marks.with(CommandFlags::READY, true);
        let waiting = *waiting;
        if self.turn_at <= now {
            return self.advance(0, fabric, leads);
        }
        let free = self.free_at(waiting, fabric);
        if at != 0 && self.is_held_back(at) {
            return;
        }
        if free > now {
            return self.turn_not_after(free, fabric);
        }
        // Before the turn that is booked no other can start than those that waited for this
        // one, and those that come into its FIFO instead.
        let others = self.in_fifo[0] + self.in_fifo[1] < self.waiting.len()
            || waiting.marks.has(CommandFlags::BLOCKS_YOUNGER);
        self.start_at(at, fabric, leads);
        if others {
            self.advance(at, fabric, leads);
        }
    }

    /// Whether one before the command at a place of the queue holds it back. That none does
    /// is true for good, so it is looked for until it is so and no more.
    #[inline]
    fn is_held_back(&mut self, at: usize) -> bool {
        let Some((own, before)) = self.waiting.get_mut(..=at).and_then(<[_]>::split_last_mut)
        else {
            return false;
        };
        if before.iter().any(|other| other.conflicts(*own)) {
            mark_blocking(before, own.concern);
            return true;
        }
        own.marks = own.marks.with(CommandFlags::NO_OLDER_CONFLICT, true);
        false
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the event loop.
    pub fn turn(&mut self, fabric: &mut Fabric, leads: &Leads) {
        if self.turn_at <= fabric.now {
            self.turn_at = Cycle::MAX;
        }
        self.advance(0, fabric, leads);
    }

    /// Whether everything that the command names by itself is there, and what
    /// it is for if that is a device; else what is wrong, and what to do.
    #[cold]
    #[inline(never)]
    fn check(&self, command: &BusCommand) -> Result<Option<DeviceCommand>, AccessError> {
        let name = command.op.info().name;
        if uses_entry(command.op) {
            let entry = entry_number(command.address) as usize;
            if entry >= self.entries.len() {
                let count = self.entries.len();
                let message = format!(
                    "sram[{name}] of Q-array entry {entry}: channel {} has {count}",
                    self.number
                );
                return Err((message, ADDRESS_HELP.to_owned()));
            }
            return self.check_links(command).map(|()| None);
        }
        if matches!(command.op, CommandOp::SramCsrRd | CommandOp::SramCsrWr) {
            return Ok(None);
        }
        let count = match command.op {
            CommandOp::SramRead | CommandOp::SramWrite => words(command),
            _ => 1,
        };
        let end = longword(command.address) as usize + count as usize;
        if end > self.memory.len() {
            if let Some(window) = self.check_window(command, count) {
                return window.map(Some);
            }
            let message = format!(
                "sram[{name}] of {count} longword(s) at address {:#x}: the memory of channel {} ends at byte {:#x}",
                command.address,
                self.number,
                self.memory.len() * 4
            );
            return Err((message, ADDRESS_HELP.to_owned()));
        }
        Ok(None)
    }

    /// Something about the command at a place in the queue is new. Before the
    /// turn that is booked none ahead of it can start: ports and buses are never
    /// free sooner than they said, and a conflict ends only with a start.
    fn advance_from(&mut self, at: usize, fabric: &mut Fabric, leads: &Leads) {
        let first = if self.turn_at > fabric.now { at } else { 0 };
        self.advance(first, fabric, leads);
    }

    /// Starts what can start of the queue from a place on, and books a turn for
    /// the next that could.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is all that its callers come to.
    fn advance(&mut self, first: usize, fabric: &mut Fabric, leads: &Leads) {
        let now = fabric.now;
        let mut earliest = Cycle::MAX;
        let mut at = first;
        while let Some(candidate) = self.waiting.get(at) {
            // Behind one that is free no later a busy one decides nothing, so all else about
            // it need not be known; those that can start now are free before any such.
            if candidate.is_ready() && self.pins_free_at(candidate.marks) < earliest {
                let candidate = *candidate;
                let free = self.free_at(candidate, fabric);
                // A command that another one holds back books no turn: it cannot start before that other
                let leads_all = at == 0 || candidate.marks.has(CommandFlags::NO_OLDER_CONFLICT);
                if free < earliest && (leads_all || !self.is_held_back(at)) {
                    if free <= now {
                        // Only commands after this one can have waited for it, so the scan
                        // goes on where it is.
                        self.start_at(at, fabric, leads);
                        continue;
                    }
                    earliest = free;
                }
            }
            at += 1;
        }
        self.turn_not_after(earliest, fabric);
    }

    /// Starts the command at a place, which goes out of its FIFO and lets others in.
    #[inline(never)]
    fn start_at(&mut self, at: usize, fabric: &mut Fabric, leads: &Leads) {
        let Some(waiting) = take_out(&mut self.waiting, at) else {
            return;
        };
        self.in_fifo[waiting.fifo()] -= 1;
        self.counters.went(fabric.now);
        self.take(fabric, leads);
        let waited = fabric.now - fabric.flight(waiting.slot).unit_scratch;
        self.start(waiting, waited, fabric, leads);
    }

    /// Starts a command that has just come.
    #[inline(never)]
    fn start_apart(&mut self, waiting: QueuedCommand, fabric: &mut Fabric, leads: &Leads) {
        self.start(waiting, 0, fabric, leads);
    }

    /// Books a turn for a cycle, if none is booked before it.
    #[inline]
    fn turn_not_after(&mut self, at: Cycle, fabric: &mut Fabric) {
        if at < self.turn_at {
            self.turn_at = at;
            fabric.events.post(at, Event::Turn(self.target()));
        }
    }

    /// From when on the pins that a command needs are free.
    #[inline]
    const fn pins_free_at(&self, marks: CommandFlags) -> Cycle {
        if marks.has(CommandFlags::READS) {
            self.read_free
        } else if marks.has(CommandFlags::WRITES) {
            self.write_free
        } else {
            0
        }
    }

    /// From when on a command can start, but for those before it: pins, push bus and
    /// what else it names are free then.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is asked for each command twice.
    fn free_at(&self, waiting: QueuedCommand, fabric: &Fabric) -> Cycle {
        let marks = waiting.marks;
        let mut free = self.pins_free_at(marks);
        // Memory changes when a command starts, so plain reads and writes need only keep their
        // order. What takes longer is the write half of an atomic operation, and the
        // descriptor of a Q-array entry: until then the next of the same kind there waits.
        if marks.has(CommandFlags::ATOMIC) {
            free = free.max(self.written_at(waiting.concern.first, fabric.now));
        } else if marks.has(CommandFlags::SPECIAL) {
            free = free.max(self.ended_at(waiting));
        }
        if marks.has(CommandFlags::PUSHES) {
            free = free.max(fabric.push_ready(waiting.slot));
        }
        free
    }

    /// When the last atomic operation writes that has read a longword.
    #[inline]
    fn written_at(&self, longword: u32, now: Cycle) -> Cycle {
        // Atomic operations write in the order in which they read, so the last ones come last.
        let mut busy = self.atomics.iter().rev().take_while(|busy| busy.1 > now);
        let own = busy.find(|busy| busy.0 == longword);
        own.map_or(0, |busy| busy.1)
    }

    /// When the Q-array entry or the device of a command can be used again.
    #[inline]
    fn ended_at(&self, waiting: QueuedCommand) -> Cycle {
        match waiting.concern.entry() {
            Some(entry) => self.entry_free[entry],
            None => self.device_free_at(waiting.slot),
        }
    }

    /// An atomic operation reads a longword and writes it later.
    #[inline]
    fn note_atomic(&mut self, longword: u32, writes_at: Cycle, now: Cycle) {
        let all = &mut self.atomics;
        // Mostly all have written, or none has.
        if all.last().is_none_or(|last| last.1 <= now) {
            all.clear();
        } else if all.first().is_some_and(|first| first.1 <= now) {
            forget_written(all, now);
        }
        all.push((longword, writes_at));
    }

    pub(super) fn use_read(&mut self, now: Cycle, words: u32, leads: &Leads) {
        let busy = Cycle::from(words) * leads.longword;
        self.read_free = self.read_free.max(now) + busy;
        self.counters.used(PathDirection::Read, busy);
    }

    pub(super) fn use_write(&mut self, now: Cycle, words: u32, leads: &Leads) {
        let busy = Cycle::from(words) * leads.longword;
        self.write_free = self.write_free.max(now) + busy;
        self.counters.used(PathDirection::Write, busy);
    }
}

/// Marks those before a command whose addresses meet its own: a younger one waits for them.
#[cold]
#[inline(never)]
fn mark_blocking(before: &mut [QueuedCommand], concern: AddressRange) {
    for holder in before.iter_mut().filter(|it| it.concern.meets(concern)) {
        holder.marks = holder.marks.with(CommandFlags::BLOCKS_YOUNGER, true);
    }
}

/// Takes the first atomic operations out of the list, those that have written. Few are left,
/// and they are moved up one by one.
#[inline(never)]
fn forget_written(all: &mut Vec<(u32, Cycle)>, now: Cycle) {
    let over = all.iter().take_while(|busy| busy.1 <= now).count();
    let left = all.len() - over;
    for at in 0..left {
        all[at] = all[at + over];
    }
    all.truncate(left);
}

/// What a burst takes beyond one longword because the pins are slower than the
/// push bus.
pub(super) const fn paced(count: u32, leads: &Leads) -> Cycle {
    (count as Cycle - 1) * leads.paced
}

/// Longword address in the channel.
pub(super) const fn longword(address: u32) -> u32 {
    address << 2 >> 4
}

const fn entry_number(address: u32) -> u8 {
    (address >> 24) as u8 & 63
}

#[inline]
pub(super) fn words(command: &BusCommand) -> u32 {
    references(command.count).into()
}

/// The bits of a longword that a mask chooses: bits 3-0 choose bytes, bit 3 the
/// most significant.
pub(super) fn bits_of(mask: u8) -> u32 {
    let chosen = (0..4).filter(|byte| mask >> byte & 1 == 1);
    chosen.fold(0, |bits, byte| bits | 0xff << (8 * byte))
}

/// A longword of which a write changes the bytes that its mask chooses.
pub(super) fn masked(old: u32, new: u32, mask: u8) -> u32 {
    let bits = bits_of(mask);
    old & !bits | new & bits
}

/// Longwords that a command pulls.
#[inline]
fn pulled_words(command: &BusCommand, pulls: Pulls) -> u8 {
    match pulls {
        Pulls::Nothing => 0,
        Pulls::Count => words(command) as u8,
        Pulls::One => 1,
        Pulls::Operand => u8::from(command.immediate.is_none()),
    }
}
