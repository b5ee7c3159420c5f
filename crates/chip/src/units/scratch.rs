//! The scratchpad: memory, atomic operations and sixteen hardware rings behind
//! one in-order command pipe.
//!
//! Commands start in the order in which they arrive. One that needs data from
//! OUT registers asks for it on arrival; if the data is not there when its turn
//! comes, those behind it wait. A read-modify-write ends before the next
//! command starts, so it is atomic.

pub(crate) mod profile;
mod rings;

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use npsim_isa::{CommandOp, cap_csr};

use crate::Cycle;
use crate::kernel::check::Check;
use crate::kernel::event::Event;
use crate::kernel::fabric::{Fabric, Slot, TransferKind};
use crate::kernel::lock::{Lock, Locks};
use crate::kernel::neighbours::CsrBank;
use crate::kernel::target::{Inlet, Interleave};
use crate::kernel::trace_event::RingName;
use crate::kernel::unit::{Placed, Unit};
use crate::kernel::unit_counters::{UnitCounters, Way};
use crate::profile::Profile;
use rings::{RINGS, Rings};
pub use rings::{Ring, RingRegister};

/// Cycles that a command's steps take on an idle chip.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Leads {
    read: Cycle,
    write: Cycle,
    atomic: Cycle,
    atomic_pulled: Cycle,
    ring_get: Cycle,
    ring_put: Cycle,
    longword: Cycle,
    /// What each further longword of a burst takes beyond its bus clock.
    paced: Cycle,
}

/// The scratchpad.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scratch {
    words: Vec<u32>,
    rings: Rings,
    /// Commands that have arrived and not started, oldest first; the flag says
    /// whether their data is there.
    pipe: VecDeque<(Slot, bool)>,
    free_at: Cycle,
    turn_posted: bool,
    /// The first command does not start before: what it waits for is never free sooner than
    /// it said. Not saved, since it only spares asking again.
    #[serde(skip)]
    held_until: Cycle,
    leads: Leads,
    locks: Locks,
    /// What it counted.
    counters: UnitCounters,
}

impl Scratch {
    /// An empty scratchpad without rings.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let leads = Leads {
            read: profile.push_lead(profile.scratch_read(), 1),
            write: profile.pull_lead(profile.scratch_write(), 1),
            atomic: profile.push_lead(profile.scratch_atomic(), 1),
            atomic_pulled: profile.push_lead_after_pull(
                profile.scratch_atomic(),
                profile.scratch_write(),
                1,
            ),
            ring_get: profile.push_lead(profile.scratch_ring_get(), 1),
            ring_put: profile.pull_lead(profile.scratch_ring_put(), 1),
            longword: profile.scratch_occupancy() * profile.bus_cycle(),
            paced: (profile.scratch_occupancy() - 1) * profile.bus_cycle(),
        };
        Self {
            words: vec![0; profile.scratch_bytes() as usize / 4],
            rings: Rings::new(profile.ring_full_percent()),
            pipe: VecDeque::new(),
            free_at: 0,
            turn_posted: false,
            held_until: 0,
            leads,
            locks: Locks::default(),
            counters: UnitCounters::default(),
        }
    }

    /// Starts commands as long as the first has its data and the pipe is free.
    fn advance(&mut self, fabric: &mut Fabric) {
        if fabric.now < self.held_until {
            return;
        }
        while let Some(&(slot, true)) = self.pipe.front() {
            let start = self.free_for(slot, fabric);
            if start > fabric.now {
                self.held_until = start;
                if !self.turn_posted {
                    self.turn_posted = true;
                    fabric.events.post(start, Event::Turn(Self::FIRST));
                }
                return;
            }
            self.pipe.pop_front();
            self.counters.went(fabric.now);
            fabric.release(Self::FIRST);
            self.start(slot, fabric);
        }
    }

    /// From when on the pipe is free for a command.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is short, and asked for each command twice.
    fn free_for(&self, slot: Slot, fabric: &Fabric) -> Cycle {
        // A read waits for room in the push FIFO as well as for the memory, with all
        // behind it: there is one pipe, and it stays in order.
        let ready = fabric.push_ready(slot);
        if ready > self.free_at && fabric.flight(slot).command.op.info().pushes {
            ready
        } else {
            self.free_at
        }
    }

    fn start(&mut self, slot: Slot, fabric: &mut Fabric) {
        use CommandOp as Op;
        let now = fabric.now;
        let flight = fabric.flight_mut(slot);
        let (op, address) = (flight.command.op, flight.command.address);
        let waited = now - flight.note;
        let count = usize::from(flight.command.count).clamp(1, 16);
        let (reads, writes) = match op {
            Op::ScratchRead | Op::ScratchGet => (count as Cycle, 0),
            Op::ScratchWrite | Op::ScratchPut => (0, count as Cycle),
            _ => (1, 1),
        };
        let paced = (count as Cycle - 1) * self.leads.paced;
        self.occupy(now, reads, writes);
        self.counters.started(op, (reads + writes) as u8, waited);
        fabric.serves(slot, Self::FIRST, 0, now, self.free_at);
        match op {
            Op::ScratchGet => {
                let ring = ring_number(address);
                let out = &mut fabric.flight_mut(slot).data[..count];
                self.rings.get(&self.words, ring, out);
                self.rings.show(ring, fabric);
                fabric.ring_carries(RingName::Scratch(ring as u8), slot, count, true);
                fabric.push_at(slot, count as u8, now + self.leads.ring_get + paced);
            }
            Op::ScratchPut => {
                let ring = ring_number(address);
                fabric.ring_carries(RingName::Scratch(ring as u8), slot, count, false);
                let data = &fabric.flight(slot).data[..count];
                let lost = self.rings.put(&mut self.words, ring, data);
                self.rings.show(ring, fabric);
                if lost > 0 {
                    overflowed(slot, ring, count, lost, fabric);
                }
                fabric.finish(slot);
            }
            Op::ScratchRead => {
                let Some(range) = self.range(address, count) else {
                    return self.unpopulated(slot, fabric);
                };
                fabric.flight_mut(slot).data[..count].copy_from_slice(&self.words[range]);
                fabric.push_at(slot, count as u8, now + self.leads.read + paced);
            }
            Op::ScratchWrite => {
                let Some(range) = self.range(address, count) else {
                    return self.unpopulated(slot, fabric);
                };
                if !self.locks.is_empty() {
                    self.tell_locks(slot, &range, fabric);
                }
                self.words[range].copy_from_slice(&fabric.flight(slot).data[..count]);
                fabric.finish(slot);
            }
            _ => self.start_atomic(slot, fabric),
        }
    }

    fn start_atomic(&mut self, slot: Slot, fabric: &mut Fabric) {
        let flight = fabric.flight_mut(slot);
        let command = &flight.command;
        let (op, immediate) = (command.op, command.immediate);
        let Some(range) = self.range(command.address, 1) else {
            return self.unpopulated(slot, fabric);
        };
        let operand = immediate.unwrap_or(flight.data[0]);
        let word = &mut self.words[range.start];
        let old = *word;
        let (new, returns) = atomic(op, old, operand);
        *word = new;
        if returns {
            flight.data[0] = old;
        }
        if !self.locks.is_empty() {
            let command = flight.command;
            let longword = (range.start as u32, 1);
            self.locks
                .command(&command, longword, |_| old, |_| new, fabric);
        }
        if returns {
            let has_pulled = immediate.is_none() && pulled_words(op, 1, false) > 0;
            let lead = if has_pulled {
                self.leads.atomic_pulled
            } else {
                self.leads.atomic
            };
            fabric.push_at(slot, 1, fabric.now + lead);
        } else {
            fabric.finish(slot);
        }
    }

    /// A write is about to change longwords, locks among them perhaps.
    #[cold]
    #[inline(never)]
    fn tell_locks(&mut self, slot: Slot, range: &std::ops::Range<usize>, fabric: &mut Fabric) {
        let flight = fabric.flight(slot);
        let (command, data) = (flight.command, flight.data);
        let longwords = (range.start as u32, range.len() as u32);
        let words = &self.words[range.clone()];
        let (old, new) = (|at: u32| words[at as usize], |at: u32| data[at as usize]);
        self.locks.command(&command, longwords, old, new, fabric);
    }

    /// All longwords but those that have been taken off a ring.
    pub(crate) fn words_kept(&self) -> impl Iterator<Item = u32> + '_ {
        let all = (0..).zip(&self.words);
        all.filter(|(at, _)| !self.rings.has_left(*at))
            .map(|(_, word)| *word)
    }

    /// Takes the memory for longwords read and written.
    #[inline]
    fn occupy(&mut self, now: Cycle, reads: Cycle, writes: Cycle) {
        let (reading, writing) = (reads * self.leads.longword, writes * self.leads.longword);
        self.free_at = self.free_at.max(now) + reading + writing;
        self.counters.used(Way::Read, reading);
        self.counters.used(Way::Write, writing);
    }

    /// The core reads longwords now; gives how long it waits for the command
    /// before it.
    pub(crate) fn core_read(&mut self, words: u8, fabric: &mut Fabric) -> Cycle {
        self.core_access(words, 0, fabric)
    }

    /// The core writes longwords at a byte address now; gives how long it waits.
    pub(crate) fn core_write(&mut self, address: u32, words: &[u32], fabric: &mut Fabric) -> Cycle {
        if let Some(range) = self.range(address, words.len()) {
            if !self.locks.is_empty() {
                let longwords = (range.start as u32, words.len() as u32);
                let memory = &self.words[range.clone()];
                let (old, new) = (|at| memory[at as usize], |at| words[at as usize]);
                self.locks.change(true, None, longwords, old, new, fabric);
            }
            self.words[range].copy_from_slice(words);
        }
        self.core_access(0, words.len() as u8, fabric)
    }

    /// The core sets or clears bit 0 of the longword at a byte address now; gives
    /// the longword as it was, and how long the core waits.
    pub(crate) fn core_bit(
        &mut self,
        address: u32,
        set: bool,
        fabric: &mut Fabric,
    ) -> (u32, Cycle) {
        let mut old = 0;
        if let Some(range) = self.range(address, 1) {
            old = self.words[range.start];
            let new = old & !1 | u32::from(set);
            self.words[range.start] = new;
            if !self.locks.is_empty() {
                let longword = (range.start as u32, 1);
                self.locks
                    .change(true, None, longword, |_| old, |_| new, fabric);
            }
        }
        (old, self.core_access(1, 1, fabric))
    }

    /// The core stores a longword to a ring now; gives how long it waits.
    pub(crate) fn core_write_ring(&mut self, fabric: &mut Fabric) -> Cycle {
        self.core_access(0, 1, fabric)
    }

    fn core_access(&mut self, reads: u8, writes: u8, fabric: &mut Fabric) -> Cycle {
        let now = fabric.now + fabric.buses.core_command(fabric.now, &mut fabric.journal);
        let start = self.free_at.max(now);
        self.occupy(start, reads.into(), writes.into());
        for (read, words) in [(true, reads), (false, writes)] {
            if words > 0 {
                let kind = TransferKind::S;
                fabric
                    .buses
                    .core_data(fabric.now, (kind, read), words, &mut fabric.journal);
            }
        }
        start - fabric.now
    }

    fn range(&self, address: u32, words: usize) -> Option<std::ops::Range<usize>> {
        let start = (address / 4) as usize;
        (start + words <= self.words.len()).then_some(start..start + words)
    }

    #[cold]
    #[inline(never)]
    fn unpopulated(&self, slot: Slot, fabric: &mut Fabric) {
        let command = fabric.flight(slot).command;
        let message = format!(
            "scratch[{}] of {} longword(s) at byte address {:#x}: the scratchpad ends at {:#x}",
            command.op.info().name,
            command.count,
            command.address,
            self.words.len() * 4
        );
        let help = "check the address operands: their sum is a byte address";
        fabric.fault(slot, None, message, Some(help.to_owned()));
        fabric.finish(slot);
    }

    /// A longword at a byte address; `None` beyond the end.
    #[must_use]
    pub fn read(&self, address: u32) -> Option<u32> {
        self.words.get((address / 4) as usize).copied()
    }

    /// Writes a longword at a byte address; false beyond the end.
    pub fn write(&mut self, address: u32, value: u32) -> bool {
        self.words
            .get_mut((address / 4) as usize)
            .map(|word| *word = value)
            .is_some()
    }

    /// Books from now on what happens to bit 0 of the longword at a byte address;
    /// false beyond the end.
    pub(crate) fn watch_lock(&mut self, index: u16, name: String, address: u32) -> bool {
        let Some(value) = self.read(address) else {
            return false;
        };
        self.locks.watch(index, name, address / 4, value);
        true
    }

    /// The core puts a longword on a ring; false when the ring was full and its
    /// oldest word was lost, or is not set up.
    pub fn ring_put(&mut self, ring: u8, value: u32, fabric: &mut Fabric) -> bool {
        let ring = ring as usize % RINGS;
        let lost = self.rings.put(&mut self.words, ring, &[value]);
        self.rings.show(ring, fabric);
        lost == 0
    }

    /// The core takes a longword off a ring; 0 when it is empty.
    pub fn ring_get(&mut self, ring: u8, fabric: &mut Fabric) -> u32 {
        let ring = ring as usize % RINGS;
        let mut out = [0];
        self.rings.get(&self.words, ring, &mut out);
        self.rings.show(ring, fabric);
        out[0]
    }

    /// Whether a word came onto any ring since the flag was last taken.
    #[inline]
    pub(crate) fn is_ring_written(&self) -> bool {
        self.rings.written
    }

    /// The same, and takes the flag.
    pub(crate) fn take_ring_written(&mut self) -> bool {
        std::mem::take(&mut self.rings.written)
    }

    /// A ring's state.
    #[must_use]
    pub fn ring(&self, ring: u8) -> &Ring {
        self.rings.ring(ring as usize % RINGS)
    }

    /// The longwords on a ring, the oldest first.
    pub(crate) fn ring_words(&self, ring: u8) -> impl Iterator<Item = u32> + '_ {
        self.ring(ring).words(&self.words)
    }

    /// Reads a ring's base, head or tail register.
    #[must_use]
    pub(crate) fn ring_register(&self, ring: u8, register: RingRegister) -> u32 {
        self.ring(ring).register(register)
    }

    /// Writes a ring's base, head or tail register; takes effect at once. A
    /// base write empties the ring.
    pub(crate) fn set_ring_register(
        &mut self,
        ring: u8,
        register: RingRegister,
        value: u32,
        fabric: &mut Fabric,
    ) {
        let ring = ring as usize % RINGS;
        self.rings.set_register(ring, register, value);
        fabric
            .ring_lines
            .preset(ring as u8, self.rings.ring(ring).status());
    }
}

impl Unit for Scratch {
    const MEMORY: bool = true;

    type Beside<'a> = ();

    fn inlet(profile: &Profile) -> Inlet {
        Inlet {
            channels: 1,
            depth: profile.scratch_inlet_depth(),
            interleave: Interleave::None,
            shared: true,
        }
    }

    fn arrive(&mut self, slot: Slot, fabric: &mut Fabric) {
        let now = fabric.now;
        fabric.flight_mut(slot).note = now;
        let command = &fabric.flight(slot).command;
        let words = pulled_words(command.op, command.count, command.immediate.is_some());
        let lead = if command.op == CommandOp::ScratchPut {
            self.leads.ring_put
        } else {
            self.leads.write
        };
        // What finds the pipe empty and free never stands in it.
        if words == 0 && self.pipe.is_empty() && self.free_for(slot, fabric) <= now {
            self.counters.pass();
            fabric.release(Self::FIRST);
            return self.start(slot, fabric);
        }
        // Data is asked for on arrival and not when the command's turn comes: so the pull runs
        // beside the commands ahead, and a pipe that is busy hides it.
        self.pipe.push_back((slot, words == 0));
        self.counters.came(now);
        if words > 0 {
            fabric.pull(slot, words, now + lead);
        }
        self.advance(fabric);
    }

    fn pulled(&mut self, slot: Slot, fabric: &mut Fabric) {
        if let Some(entry) = self.pipe.iter_mut().find(|entry| entry.0 == slot) {
            entry.1 = true;
        }
        fabric.flight_mut(slot).note = fabric.now;
        self.advance(fabric);
    }

    fn ready(&mut self, slot: Slot, fabric: &mut Fabric, (): ()) {
        fabric.finish(slot);
    }

    fn turn(&mut self, _: u8, fabric: &mut Fabric) {
        self.turn_posted = false;
        // Another turn is booked if it still has to wait.
        self.held_until = 0;
        self.advance(fabric);
    }

    fn counters(&self) -> impl Iterator<Item = &UnitCounters> {
        std::iter::once(&self.counters)
    }

    fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.locks.iter()
    }

    fn ahead_of(&self, slot: Slot, _: u8) -> Option<Vec<Slot>> {
        let at = self.pipe.iter().position(|(other, _)| *other == slot)?;
        Some(self.pipe.iter().take(at).map(|(slot, _)| *slot).collect())
    }
}

impl CsrBank for Scratch {
    fn read_csr(&self, address: u16) -> Option<u32> {
        let (ring, register) = ring_csr(address)?;
        Some(self.ring_register(ring, register))
    }

    fn write_csr(&mut self, address: u16, value: u32, fabric: &mut Fabric) -> bool {
        let Some((ring, register)) = ring_csr(address) else {
            return false;
        };
        self.set_ring_register(ring, register, value, fabric);
        true
    }
}

/// Raises the check of a put that was too much for its ring.
#[cold]
#[inline(never)]
fn overflowed(slot: Slot, ring: usize, count: usize, lost: u32, fabric: &mut Fabric) {
    let message = format!(
        "a put of {count} longwords to scratch ring {ring} overwrote the {lost} oldest on it"
    );
    let help = "test the ring's full status before the put, or make the ring larger";
    fabric.fault(
        slot,
        Some(Check::RingOverflow),
        message,
        Some(help.to_owned()),
    );
}

/// The ring and which of its registers stands at an address of the CSR proxy.
fn ring_csr(address: u16) -> Option<(u8, RingRegister)> {
    let offset = match address {
        cap_csr::SCRATCH_RING_BASE_0..=cap_csr::SCRATCH_RING_TAIL_15 => {
            address - cap_csr::SCRATCH_RING_BASE_0
        }
        _ => return None,
    };
    let register = match offset & 15 {
        0 => RingRegister::Base,
        4 => RingRegister::Head,
        8 => RingRegister::Tail,
        _ => return None,
    };
    Some(((offset >> 4) as u8, register))
}

/// Ring number in the address of get and put.
fn ring_number(address: u32) -> usize {
    (address >> 2) as usize % RINGS
}

/// Longwords that a command pulls.
fn pulled_words(op: CommandOp, count: u8, immediate: bool) -> u8 {
    use CommandOp as Op;
    match op {
        Op::ScratchWrite | Op::ScratchPut => count.clamp(1, 16),
        Op::ScratchSwap
        | Op::ScratchSet
        | Op::ScratchTestAndSet
        | Op::ScratchClr
        | Op::ScratchTestAndClr
        | Op::ScratchAdd
        | Op::ScratchTestAndAdd
        | Op::ScratchSub
        | Op::ScratchTestAndSub
            if !immediate =>
        {
            1
        }
        _ => 0,
    }
}

/// The new value of an atomic operation, and whether the old one is returned.
fn atomic(op: CommandOp, old: u32, operand: u32) -> (u32, bool) {
    use CommandOp as Op;
    match op {
        Op::ScratchSwap => (operand, true),
        Op::ScratchSet => (old | operand, false),
        Op::ScratchTestAndSet => (old | operand, true),
        Op::ScratchClr => (old & !operand, false),
        Op::ScratchTestAndClr => (old & !operand, true),
        Op::ScratchAdd => (old.wrapping_add(operand), false),
        Op::ScratchTestAndAdd => (old.wrapping_add(operand), true),
        Op::ScratchSub => (old.wrapping_sub(operand), false),
        Op::ScratchTestAndSub => (old.wrapping_sub(operand), true),
        Op::ScratchIncr => (old.wrapping_add(1), false),
        Op::ScratchTestAndIncr => (old.wrapping_add(1), true),
        Op::ScratchDecr => (old.wrapping_sub(1), false),
        Op::ScratchTestAndDecr => (old.wrapping_sub(1), true),
        _ => (old, false),
    }
}
