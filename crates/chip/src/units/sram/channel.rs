//! One SRAM channel: scheduling of commands.
//!
//! Commands leave the inlet in order, into one FIFO for those that read and one for those that
//! write; the first that finds its FIFO full stays in the inlet, with all others behind it
//! ([`arrival`]). Writes request their data when they enter their FIFO. A command starts as soon as
//! its data has arrived, its port is free, and no earlier waiting command concerns the same address
//! or Q-array entry. Reads, writes and atomic operations on one address therefore keep their order
//! while others pass. A command takes effect on memory when it starts ([`execute`]).

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
    /// Addresses of atomic operations that have not written yet, each with the cycle of the write,
    /// in the order of the writes.
    atomics: Vec<(u32, Cycle)>,
    /// The waiting commands, in order of arrival.
    waiting: Vec<QueuedCommand>,
    /// How many of them have left the inlet: readers and writers.
    in_fifo: [usize; 2],
    fifo_depth: usize,
    /// The device commands among the waiting ones.
    pub windows: Vec<(CommandId, DeviceCommand)>,
    /// The earliest pending [`Event::Turn`]; `Cycle::MAX` for none.
    turn_at: Cycle,
    pub locks: Locks,
    pub counters: UnitCounters,
    /// The devices attached alongside the memory. Their state is saved separately from the chip's,
    /// because only the boot plan knows their types.
    #[serde(skip)]
    pub devices: Vec<Box<dyn Device>>,
    /// Number of commands handed to devices.
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

    /// Whether a saved channel has as many Q-array entries as `own`, refers to no others in its
    /// waiting commands, and has FIFOs of the same depth whose contents match their counts.
    pub fn is_compatible_with(&self, own: &Self) -> bool {
        let count = own.entries.len();
        let waited_for = self.waiting.iter().filter_map(|it| it.concern.entry());
        self.entries.len() == count
            && self.entry_free.len() == count
            && waited_for.max().is_none_or(|last| last < count)
            && self.fifo_depth == own.fifo_depth
            && self.fifos_are_counted()
    }

    /// Whether the counts of the FIFOs match the first waiting commands.
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

    /// The commands that start before a waiting one: the earlier ones in its FIFO, those in the
    /// other FIFO that it must not overtake, and, if it is still in the inlet, all before it there.
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

    /// Moves commands out of the inlet, in order, as long as their FIFOs have room.
    #[inline]
    fn take(&mut self, fabric: &mut Fabric, leads: &Leads) {
        // Commands are left in the inlet only if a FIFO was full.
        if self.waiting.len() >= self.fifo_depth {
            self.take_now(fabric, leads);
        }
    }

    #[inline(never)]
    fn take_now(&mut self, fabric: &mut Fabric, leads: &Leads) {
        let taken = self.in_fifo[0] + self.in_fifo[1];
        // The inlet is in order, so commands that have left it precede the rest.
        for waiting in &mut self.waiting[taken..] {
            let fifo = &mut self.in_fifo[waiting.fifo()];
            if *fifo >= self.fifo_depth {
                return;
            }
            // A command's place at the inlet is freed when it enters its FIFO, not when it is
            // served. Its data is requested at once, so that it arrives while earlier commands are
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

    /// Handles the arrival of a command's data.
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
            return self.schedule_turn_by(free, fabric);
        }
        // Before the next scheduled turn, only commands that were waiting for this one can start,
        // or those that take its place in the FIFO.
        let others = self.in_fifo[0] + self.in_fifo[1] < self.waiting.len()
            || waiting.marks.has(CommandFlags::BLOCKS_YOUNGER);
        self.start_at(at, fabric, leads);
        if others {
            self.advance(at, fabric, leads);
        }
    }

    /// Whether an earlier command holds back the one at a place in the queue. Once no command does,
    /// none ever will, so the search is repeated only until then.
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
    #[allow(clippy::inline_always)] // Part of the event loop.
    pub fn turn(&mut self, fabric: &mut Fabric, leads: &Leads) {
        if self.turn_at <= fabric.now {
            self.turn_at = Cycle::MAX;
        }
        self.advance(0, fabric, leads);
    }

    /// Checks that everything a command refers to exists. Returns the device command if it is for a
    /// device; an error holds the message and the help text.
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

    /// Advances after a change to the command at a place in the queue. Before the next scheduled
    /// turn no earlier command can start: ports and buses never become free earlier than announced,
    /// and a conflict ends only when a command starts.
    fn advance_from(&mut self, at: usize, fabric: &mut Fabric, leads: &Leads) {
        let first = if self.turn_at > fabric.now { at } else { 0 };
        self.advance(first, fabric, leads);
    }

    /// Starts every command that can start, from a place in the queue on, and schedules a turn for
    /// the next that could.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is all that its callers do.
    fn advance(&mut self, first: usize, fabric: &mut Fabric, leads: &Leads) {
        let now = fabric.now;
        let mut earliest = Cycle::MAX;
        let mut at = first;
        while let Some(candidate) = self.waiting.get(at) {
            // A command whose pins become free no earlier than an earlier candidate can start
            // decides nothing, so the rest need not be checked; a command that can start now always
            // passes this test.
            if candidate.is_ready() && self.pins_free_at(candidate.marks) < earliest {
                let candidate = *candidate;
                let free = self.free_at(candidate, fabric);
                // A held-back command schedules no turn: it cannot start before the command that
                // holds it back.
                let leads_all = at == 0 || candidate.marks.has(CommandFlags::NO_OLDER_CONFLICT);
                if free < earliest && (leads_all || !self.is_held_back(at)) {
                    if free <= now {
                        // Only commands after this one can have waited for it, so the scan
                        // continues from here.
                        self.start_at(at, fabric, leads);
                        continue;
                    }
                    earliest = free;
                }
            }
            at += 1;
        }
        self.schedule_turn_by(earliest, fabric);
    }

    /// Starts the command at a place in the queue, which leaves its FIFO and makes room for
    /// another.
    #[inline(never)]
    fn start_at(&mut self, at: usize, fabric: &mut Fabric, leads: &Leads) {
        let Some(waiting) = take_out(&mut self.waiting, at) else {
            return;
        };
        self.in_fifo[waiting.fifo()] -= 1;
        self.counters.count_departure(fabric.now);
        self.take(fabric, leads);
        let waited = fabric.now - fabric.flight(waiting.slot).unit_scratch;
        self.start(waiting, waited, fabric, leads);
    }

    /// Starts a command that has just arrived.
    #[inline(never)]
    fn start_outlined(&mut self, waiting: QueuedCommand, fabric: &mut Fabric, leads: &Leads) {
        self.start(waiting, 0, fabric, leads);
    }

    /// Schedules a turn at a cycle, unless one is scheduled no later.
    #[inline]
    fn schedule_turn_by(&mut self, at: Cycle, fabric: &mut Fabric) {
        if at < self.turn_at {
            self.turn_at = at;
            fabric.events.post(at, Event::Turn(self.target()));
        }
    }

    /// The cycle at which the pins that a command needs become free.
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

    /// The earliest cycle at which a command can start, apart from earlier commands: its pins, the
    /// push bus and anything else it uses are free by then.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Called twice for each command.
    fn free_at(&self, waiting: QueuedCommand, fabric: &Fabric) -> Cycle {
        let marks = waiting.marks;
        let mut free = self.pins_free_at(marks);
        // Memory changes when a command starts, so plain reads and writes only have to keep their
        // order. The write half of an atomic operation and the descriptor of a Q-array entry take
        // longer: the next command of the same kind there has to wait.
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

    /// The cycle at which the last atomic operation that has read a longword writes it.
    #[inline]
    fn written_at(&self, longword: u32, now: Cycle) -> Cycle {
        // Atomic operations write in the order in which they read, so the latest are at the end.
        let mut busy = self.atomics.iter().rev().take_while(|busy| busy.1 > now);
        let own = busy.find(|busy| busy.0 == longword);
        own.map_or(0, |busy| busy.1)
    }

    /// The cycle at which the Q-array entry or the device of a command can be used again.
    #[inline]
    fn ended_at(&self, waiting: QueuedCommand) -> Cycle {
        match waiting.concern.entry() {
            Some(entry) => self.entry_free[entry],
            None => self.device_free_at(waiting.slot),
        }
    }

    /// Records an atomic operation that reads a longword now and writes it later.
    #[inline]
    fn note_atomic(&mut self, longword: u32, writes_at: Cycle, now: Cycle) {
        let all = &mut self.atomics;
        // Usually all have written, or none has.
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

/// Marks the earlier commands whose addresses overlap those of a command as blocking a younger one.
#[cold]
#[inline(never)]
fn mark_blocking(before: &mut [QueuedCommand], concern: AddressRange) {
    for holder in before.iter_mut().filter(|it| it.concern.meets(concern)) {
        holder.marks = holder.marks.with(CommandFlags::BLOCKS_YOUNGER, true);
    }
}

/// Removes the atomic operations that have written from the front of the list. Few are left, so
/// they are moved up one by one.
#[inline(never)]
fn forget_written(all: &mut Vec<(u32, Cycle)>, now: Cycle) {
    let over = all.iter().take_while(|busy| busy.1 <= now).count();
    let left = all.len() - over;
    for at in 0..left {
        all[at] = all[at + over];
    }
    all.truncate(left);
}

/// Cycles that a burst takes beyond its first longword because the pins are slower than the push
/// bus.
pub(super) const fn paced(count: u32, leads: &Leads) -> Cycle {
    (count as Cycle - 1) * leads.paced
}

/// The longword address in the channel.
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

/// The bits of a longword that a byte mask selects: mask bits 3-0 select bytes, bit 3 the most
/// significant.
pub(super) fn bits_of(mask: u8) -> u32 {
    let chosen = (0..4).filter(|byte| mask >> byte & 1 == 1);
    chosen.fold(0, |bits, byte| bits | 0xff << (8 * byte))
}

/// A longword after a write that changes only the bytes its mask selects.
pub(super) fn masked(old: u32, new: u32, mask: u8) -> u32 {
    let bits = bits_of(mask);
    old & !bits | new & bits
}

/// Number of longwords that a command pulls.
#[inline]
fn pulled_words(command: &BusCommand, pulls: Pulls) -> u8 {
    match pulls {
        Pulls::Nothing => 0,
        Pulls::Count => words(command) as u8,
        Pulls::One => 1,
        Pulls::Operand => u8::from(command.immediate.is_none()),
    }
}
