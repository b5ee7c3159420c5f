//! The scratchpad: memory, atomic operations and sixteen hardware rings behind
//! one in-order command pipe.
//!
//! Commands start in order of arrival. A command that needs data from OUT registers requests it on
//! arrival; if the data has not arrived when its turn comes, the commands behind it wait. A
//! read-modify-write ends before the next command starts, so it is atomic.

mod execute;
mod rings;

use serde::{Deserialize, Serialize};

use npsim_isa::{CommandOp, cap_csr};

use crate::Cycle;
use crate::kernel::event::Event;
use crate::kernel::fabric::{CommandId, Fabric, TransferKind};
use crate::kernel::lock::{Lock, Locks};
use crate::kernel::queue::{references, take_out};
use crate::kernel::sideband::CsrBank;
use crate::kernel::target::{Inlet, Interleave};
use crate::kernel::unit::{HasTarget, Unit};
use crate::kernel::unit_counters::{PathDirection, UnitCounters};
use npsim_profile::Profile;
use rings::{RINGS, Rings};
pub use rings::{Ring, RingRegister};

/// Cycles that the steps of a command take on an idle chip.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Leads {
    read: Cycle,
    write: Cycle,
    atomic: Cycle,
    atomic_pulled: Cycle,
    ring_get: Cycle,
    ring_put: Cycle,
    longword: Cycle,
    /// Cycles by which each further longword of a burst exceeds its bus clock.
    paced: Cycle,
}

/// The scratchpad.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scratch {
    words: Vec<u32>,
    rings: Rings,
    /// Commands that have arrived and not started, oldest first; the flag is set if their data has
    /// arrived. Few are queued, so a vector will do.
    pipe: Vec<(CommandId, bool)>,
    free_at: Cycle,
    turn_posted: bool,
    /// The first command does not start before this cycle: the resource that it waits for never
    /// becomes free earlier than announced. Not saved, since it only saves repeated checks.
    #[serde(skip)]
    held_until: Cycle,
    leads: Leads,
    locks: Locks,
    /// Its counters.
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
            pipe: Vec::new(),
            free_at: 0,
            turn_posted: false,
            held_until: 0,
            leads,
            locks: Locks::default(),
            counters: UnitCounters::default(),
        }
    }

    /// Starts commands as long as the first has its data and the pipe is free.
    #[inline]
    fn advance(&mut self, fabric: &mut Fabric) {
        let has_data = self.pipe.first().is_some_and(|first| first.1);
        if has_data && fabric.now >= self.held_until {
            self.advance_now(fabric);
        }
    }

    #[inline(never)]
    fn advance_now(&mut self, fabric: &mut Fabric) {
        while let Some(&(slot, true)) = self.pipe.first() {
            let start = self.free_for(slot, fabric);
            if start > fabric.now {
                return self.hold_until(start, fabric);
            }
            take_out(&mut self.pipe, 0);
            self.counters.count_departure(fabric.now);
            fabric.release(Self::FIRST);
            self.start_as(slot, fabric);
        }
    }

    /// Records that the first command, which has its data, cannot start before a cycle.
    #[inline]
    fn hold_until(&mut self, start: Cycle, fabric: &mut Fabric) {
        self.held_until = start;
        if !self.turn_posted {
            self.turn_posted = true;
            fabric.events.post(start, Event::Turn(Self::FIRST));
        }
    }

    /// The cycle at which the pipe becomes free for a command.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Short, and called twice for each command.
    fn free_for(&self, slot: CommandId, fabric: &Fabric) -> Cycle {
        // A read waits for room in the push FIFO as well as for the memory, and everything behind
        // it waits, too: there is one pipe, and it stays in order.
        let ready = fabric.push_ready(slot);
        if ready > self.free_at && fabric.flight(slot).command.op.info().pushes {
            ready
        } else {
            self.free_at
        }
    }

    /// All longwords except those that have been taken off a ring.
    pub fn unconsumed_words(&self) -> impl Iterator<Item = u32> + '_ {
        let all = (0..).zip(&self.words);
        all.filter(|(at, _)| !self.rings.has_left(*at))
            .map(|(_, word)| *word)
    }

    /// Occupies the memory for the longwords read and written.
    #[inline]
    fn take(&mut self, now: Cycle, reads: Cycle, writes: Cycle) {
        let (reading, writing) = (reads * self.leads.longword, writes * self.leads.longword);
        self.free_at = self.free_at.max(now) + reading + writing;
        self.counters.used(PathDirection::Read, reading);
        self.counters.used(PathDirection::Write, writing);
    }

    /// Accounts for the core reading longwords now. Returns how long it waits for the preceding
    /// command.
    pub(crate) fn core_read(&mut self, words: u8, fabric: &mut Fabric) -> Cycle {
        self.core_access(words, 0, fabric)
    }

    /// Writes longwords for the core at a byte address now. Returns how long it waits.
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

    /// Changes the longword at a byte address for the core now, as an atomic operation. Returns its
    /// old value and how long the core waits.
    pub(crate) fn core_change(
        &mut self,
        address: u32,
        new: impl FnOnce(u32) -> u32,
        fabric: &mut Fabric,
    ) -> (u32, Cycle) {
        let mut old = 0;
        if let Some(range) = self.range(address, 1) {
            old = self.words[range.start];
            let new = new(old);
            self.words[range.start] = new;
            if !self.locks.is_empty() {
                let longword = (range.start as u32, 1);
                self.locks
                    .change(true, None, longword, |_| old, |_| new, fabric);
            }
        }
        (old, self.core_access(1, 1, fabric))
    }

    /// Accounts for the core storing a longword to a ring now. Returns how long it waits.
    pub(crate) fn core_write_ring(&mut self, fabric: &mut Fabric) -> Cycle {
        self.core_access(0, 1, fabric)
    }

    fn core_access(&mut self, reads: u8, writes: u8, fabric: &mut Fabric) -> Cycle {
        let now = fabric.now + fabric.buses.core_command(fabric.now, &mut fabric.trace);
        let start = self.free_at.max(now);
        self.take(start, reads.into(), writes.into());
        for (read, words) in [(true, reads), (false, writes)] {
            if words > 0 {
                let kind = TransferKind::S;
                fabric
                    .buses
                    .core_data(fabric.now, (kind, read), words, &mut fabric.trace);
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
    fn unpopulated(&self, slot: CommandId, fabric: &mut Fabric) {
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

    /// The longword at a byte address; `None` beyond the end.
    #[must_use]
    pub fn read(&self, address: u32) -> Option<u32> {
        self.words.get((address / 4) as usize).copied()
    }

    /// Writes a longword at a byte address. Returns false beyond the end.
    pub fn write(&mut self, address: u32, value: u32) -> bool {
        self.words
            .get_mut((address / 4) as usize)
            .map(|word| *word = value)
            .is_some()
    }

    /// Starts watching bit 0 of the longword at a byte address as a lock. Returns false beyond the
    /// end.
    pub(crate) fn watch_lock(&mut self, index: u16, name: String, address: u32) -> bool {
        let Some(value) = self.read(address) else {
            return false;
        };
        self.locks.watch(index, name, address / 4, value);
        true
    }

    /// Puts a longword on a ring for the core. Returns false if the ring was full and its oldest
    /// word was lost.
    pub fn ring_put(&mut self, ring: u8, value: u32, fabric: &mut Fabric) -> bool {
        let ring = ring as usize % RINGS;
        let lost = self.rings.put(&mut self.words, ring, &[value]);
        self.rings.show(ring, fabric);
        lost == 0
    }

    /// Takes a longword off a ring for the core; 0 if it is empty.
    pub fn ring_get(&mut self, ring: u8, fabric: &mut Fabric) -> u32 {
        let ring = ring as usize % RINGS;
        let mut out = [0];
        self.rings.get(&self.words, ring, &mut out);
        self.rings.show(ring, fabric);
        out[0]
    }

    /// Whether a word has been put on any ring since the flag was last taken.
    #[inline]
    pub(crate) fn is_ring_written(&self) -> bool {
        self.rings.written
    }

    /// Takes the flag that [`Self::is_ring_written`] reads.
    pub(crate) fn take_ring_written(&mut self) -> bool {
        std::mem::take(&mut self.rings.written)
    }

    /// The state of a ring.
    #[must_use]
    pub fn ring(&self, ring: u8) -> &Ring {
        self.rings.ring(ring as usize % RINGS)
    }

    /// The longwords on a ring, oldest first.
    pub fn ring_words(&self, ring: u8) -> impl Iterator<Item = u32> + '_ {
        self.ring(ring).words(&self.words)
    }

    /// Reads a ring's base, head or tail register.
    #[must_use]
    pub(crate) fn ring_register(&self, ring: u8, register: RingRegister) -> u32 {
        self.ring(ring).register(register)
    }

    /// Writes a ring's base, head or tail register, with immediate effect. Writing the base empties
    /// the ring.
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

    type Sideband<'a> = ();

    fn inlet(profile: &Profile) -> Inlet {
        Inlet {
            channels: 1,
            depth: profile.scratch_inlet_depth(),
            interleave: Interleave::None,
            shared: true,
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let now = fabric.now;
        let flight = fabric.flight_mut(slot);
        flight.unit_scratch = now;
        let command = &flight.command;
        let words = pulled_words(command.op, command.count, command.immediate.is_some());
        if words > 0 {
            // Data is requested on arrival rather than when the command's turn comes, so the pull
            // overlaps the commands ahead and is hidden by a busy pipe.
            let lead = if command.op == CommandOp::ScratchPut {
                self.leads.ring_put
            } else {
                self.leads.write
            };
            self.pipe.push((slot, false));
            self.counters.count_arrival(now);
            fabric.pull(slot, words, now + lead);
            return self.advance(fabric);
        }
        // A command that finds the pipe empty and free never enters it.
        if self.pipe.is_empty() {
            let free = self.free_for(slot, fabric);
            if free <= now {
                self.counters.count_immediate();
                fabric.release(Self::FIRST);
                return self.start(slot, fabric);
            }
        }
        self.pipe.push((slot, true));
        self.counters.count_arrival(now);
        self.advance(fabric);
    }

    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        if let Some(entry) = self.pipe.iter_mut().find(|entry| entry.0 == slot) {
            entry.1 = true;
        }
        fabric.flight_mut(slot).unit_scratch = fabric.now;
        self.advance(fabric);
    }

    fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, (): ()) {
        fabric.finish(slot);
    }

    fn turn(&mut self, _: u8, fabric: &mut Fabric) {
        self.turn_posted = false;
        // Another turn is scheduled if the first command still has to wait.
        self.held_until = 0;
        self.advance(fabric);
    }

    fn counters(&self) -> impl Iterator<Item = &UnitCounters> {
        std::iter::once(&self.counters)
    }

    fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.locks.iter()
    }

    fn ahead_of(&self, slot: CommandId, _: u8) -> Option<Vec<CommandId>> {
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

/// The ring, and the register of it, at an address of the CSR proxy.
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

/// Number of longwords that a command pulls.
fn pulled_words(op: CommandOp, count: u8, immediate: bool) -> u8 {
    use CommandOp as Op;
    match op {
        Op::ScratchWrite | Op::ScratchPut => references(count),
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
