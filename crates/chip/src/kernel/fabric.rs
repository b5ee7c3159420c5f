//! What joins microengines and units: the event queue, the commands in flight,
//! and the buses that carry commands, pulled and pushed data.
//!
//! A command's life: a microengine issues it ([`Fabric::issue`]), it wins its
//! cluster's command bus and reaches the unit's inlet ([`Event::Arrive`]); while
//! the inlet is full it waits in its microengine's FIFO. A unit that takes a
//! command out of its inlet says so with [`Fabric::release`]. A unit that wants
//! data calls [`Fabric::pull`]; at [`Event::Pull`] the chip takes the OUT
//! registers and raises the pull signal. When a unit has the result, or knows
//! when it will, it pushes it with [`Fabric::push`] or [`Fabric::push_at`]; at
//! [`Event::Push`] the chip writes the IN registers, raises the push signal and
//! retires the slot. A command that pushes nothing ends with
//! [`Fabric::finish`]. [`Fabric::ready_at`] gives a unit a step in between
//! ([`Event::Ready`]).

mod data;
mod flights;
mod issue;
mod validate;

use npsim_image::Image;
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::buffers::Buffers;
use crate::kernel::bus::Buses;
use crate::kernel::check::{Also, Check, Checks, Fault};
use crate::kernel::event::{Event, EventQueue};
use crate::kernel::fault_injection::{DelayedCompletions, Lateness};
use crate::kernel::free_slots::FreeSlots;
use crate::kernel::port_io::PacketTag;
use crate::kernel::ring_status::RingStatusLines;
use crate::kernel::signal_source::{SignalSource, SignalSources, Twice};
use crate::kernel::target::{CommandTarget, Inlets};
use crate::kernel::trace_buffer::TraceBuffer;
use crate::kernel::trace_event::{Kinds, MemoryName, RingName, TraceEvent, TraceEventKind, Writer};
use flights::Flights;
use npsim_profile::Profile;

// What the fabric takes and gives, for those that know it alone.
pub use crate::kernel::command::{BusCommand, CommandId, TransferKind};

/// A command with its data. It fills lines of the host's cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub struct InFlight {
    /// The command.
    pub command: BusCommand,
    /// Cycle at which it was issued.
    pub issued: Cycle,
    /// Pulled data, then the data to be pushed.
    pub data: [u32; 32],
    /// Longwords of `data` that count.
    pub words: u8,
    /// A unit's own remark between its steps.
    pub unit_scratch: u64,
    /// Which arrival the data came from, on its way between RBUF, DRAM and TBUF.
    pub tag: PacketTag,
}

impl InFlight {
    /// Fills the slot for a command that is known but for its address.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of issuing a command.
    fn fill(&mut self, command: &BusCommand, address: u32, issued: Cycle) {
        // Completed in its place: put together before, it would be copied once more.
        self.command = *command;
        self.command.address = address;
        self.issued = issued;
        // The data is cleared so that nothing of an earlier command is ever pushed or saved.
        self.data = [0; 32];
        self.words = 0;
        self.unit_scratch = 0;
        self.tag = PacketTag::default();
    }
}

/// Commands of a program of which a message says that they raise a signal.
const MOST_RAISERS: usize = 3;

/// The note of what was opened without a command.
const UNSOLICITED: u64 = u64::MAX;

impl InFlight {
    /// Whether a unit pushes data on its own.
    #[must_use]
    pub const fn is_unsolicited(&self) -> bool {
        self.unit_scratch == UNSOLICITED
    }
}

/// Whether a command was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issue {
    /// The command is on its way to this unit.
    Accepted(CommandTarget),
    /// The microengine's command FIFO is full. The fabric posts [`Event::Microengine`] when there is room; the
    /// microengine posts nothing and then issues again.
    Held,
}

/// Pointers of a microengine's next-neighbour ring, where both neighbours see
/// them. All are modulo 128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NnRing {
    /// Words that the writer has put: its `NN_PUT`.
    pub put: u8,
    /// Words that have arrived: `put` without those on their way.
    pub arrived: u8,
    /// Words that the owner has taken: its `NN_GET`.
    pub get: u8,
}

impl NnRing {
    /// Words that it has room for, as its pointers count them.
    pub const PLACES: u8 = 128;

    /// Words that have arrived and are not taken.
    #[must_use]
    pub const fn available(&self) -> u8 {
        self.arrived.wrapping_sub(self.get) % Self::PLACES
    }

    /// Words that are taken up, with those on their way.
    #[must_use]
    pub const fn occupied(&self) -> u8 {
        self.put.wrapping_sub(self.get) % Self::PLACES
    }
}

/// The chip's interior between its units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fabric {
    /// The cycle of the event being handled. A microengine that runs ahead
    /// keeps its own time and passes it along.
    pub now: Cycle,
    /// Everything that will happen.
    pub events: EventQueue,
    /// Command, push and pull buses.
    pub buses: Buses,
    /// The chip as data.
    #[serde(skip, default = "Profile::absent")]
    pub profile: Profile,
    /// Checks in force and the first fault.
    pub checks: Checks,
    /// The scratch rings' status bits as microengines see them.
    pub ring_lines: RingStatusLines,
    /// Microengines do not run past this cycle, the end of the run in progress.
    #[serde(skip)]
    pub horizon: Cycle,
    /// Next-neighbour ring of each microengine.
    pub nn_rings: Vec<NnRing>,
    /// The trace events for observers, which are no state of the chip.
    #[serde(skip)]
    pub trace: TraceBuffer,
    /// Readings of clocks by microcode from which more may follow than times for its
    /// timers; where there are such, no period is taken for the next one.
    #[serde(skip)]
    pub clock_readings: u64,
    /// A digest of how far ahead timers were set, in order, since this was last taken.
    #[serde(skip)]
    timers_set: u64,
    /// The raisers of each signal.
    pub raisers: SignalSources,
    /// Where packet buffers go, if the boot plan has some.
    pub buffers: Option<Buffers>,
    /// A command has given its signals to another context than its own.
    pub signals_others: bool,
    late: DelayedCompletions,
    /// Transfers take the slow path: an observer wants events of the data buses, or completions are
    /// delayed on purpose. Derived from `trace` and `late`.
    #[serde(skip)]
    special_data: bool,
    flights: Flights,
    free: FreeSlots,
}

impl Fabric {
    /// A quiet interior between the units that have these inlets.
    #[must_use]
    pub fn new(profile: Profile, inlets: fn(&Profile) -> Inlets) -> Self {
        let microengines = profile.microengines();
        let nn_rings = vec![NnRing::default(); microengines as usize];
        Self {
            now: 0,
            events: EventQueue::default(),
            buses: Buses::new(&profile, inlets(&profile)),
            ring_lines: RingStatusLines::new(profile.ring_status_lag()),
            profile,
            checks: Checks::default(),
            horizon: Cycle::MAX,
            nn_rings,
            trace: TraceBuffer::default(),
            clock_readings: 0,
            timers_set: 0,
            buffers: None,
            raisers: SignalSources::new(microengines),
            signals_others: false,
            late: DelayedCompletions::default(),
            special_data: false,
            flights: Flights::default(),
            free: FreeSlots::default(),
        }
    }

    /// Takes over what serialization leaves out.
    pub(crate) fn adopt_unsaved(&mut self, from: &mut Self) {
        std::mem::swap(&mut self.profile, &mut from.profile);
        std::mem::swap(&mut self.trace, &mut from.trace);
        self.complete();
        self.horizon = from.horizon;
        self.clock_readings = from.clock_readings;
    }

    /// Makes anew what is not saved and follows from the rest.
    pub(crate) fn complete(&mut self) {
        self.see_commands();
        self.buses.complete();
        self.see_data();
    }

    /// Records the events of these kinds from now on; none closes the trace buffer.
    pub fn watch(&mut self, wanted: Kinds) {
        self.trace.set(wanted);
        self.see_commands();
        self.see_data();
    }

    /// Only queued commands record events of commands and of the buses that they wait for: where an
    /// observer wants these, no command is granted the bus at once.
    fn see_commands(&mut self) {
        self.buses.watch(self.trace.wants_commands());
    }

    fn see_data(&mut self) {
        self.special_data = self.trace.wants(TraceEventKind::Bus) || self.late.is_on();
    }

    /// A context's timer was set to a count that comes so many steps of the timestamp
    /// later.
    #[inline]
    pub fn timer_set(&mut self, me: u8, context: u8, steps: u64) {
        let timer = steps << 16 | u64::from(me) << 8 | u64::from(context) | 1 << 7;
        // In whatever order, since some are set ahead of the chip.
        let mixed = (timer ^ timer >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.timers_set = self.timers_set.wrapping_add(mixed ^ mixed >> 32);
    }

    /// Takes the digest of how far ahead timers were set.
    pub(crate) fn take_timers_set(&mut self) -> u64 {
        std::mem::take(&mut self.timers_set)
    }

    /// An `indirect_ref` has changed a command that is about to be issued.
    pub fn note_override(&mut self, command: &BusCommand) {
        self.signals_others |=
            (command.transfer_me, command.signal_context) != (command.me, command.context);
    }

    /// A queue's command carries a handle; it takes it off the queue or puts it on.
    #[inline]
    pub(crate) fn queue_carries(
        &mut self,
        queue: (u8, u8),
        word: u32,
        takes: bool,
        command: &BusCommand,
    ) {
        if let Some(buffers) = &mut self.buffers {
            let by = SignalSource::of(command);
            buffers.queue(queue, word, takes, by);
            if self.trace.wants(TraceEventKind::Carried) {
                let (channel, entry) = queue;
                self.tell_carried(&[word], RingName::Sram { channel, entry }, takes, command);
            }
        }
    }

    /// A ring's command carries the first longwords of its data, handles perhaps among them.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of what each of its few callers does.
    pub(crate) fn ring_carries(
        &mut self,
        ring: RingName,
        slot: CommandId,
        count: usize,
        takes: bool,
    ) {
        if let Some(buffers) = &mut self.buffers {
            let flight = &self.flights[slot];
            let command = &flight.command;
            let by = SignalSource::of(command);
            buffers.carried(&flight.data[..count], by);
            if self.trace.wants(TraceEventKind::Carried) {
                self.tell_ring(ring, slot, count, takes);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_ring(&mut self, ring: RingName, slot: CommandId, count: usize, takes: bool) {
        let flight = self.flight(slot);
        let (data, command) = (flight.data, flight.command);
        self.tell_carried(&data[..count], ring, takes, &command);
    }

    #[cold]
    #[inline(never)]
    fn tell_carried(&mut self, words: &[u32], ring: RingName, takes: bool, command: &BusCommand) {
        let Some(buffers) = &self.buffers else {
            return;
        };
        for buffer in words.iter().filter_map(|word| buffers.number_of(*word)) {
            self.trace.record(self.now, || TraceEvent::Carried {
                buffer: buffer as u32,
                ring,
                takes,
                me: command.me,
                context: command.context,
                pc: command.pc,
            });
        }
    }

    /// The raisers of a signal that was raised twice for a context, which is at this instruction of
    /// this image.
    #[must_use]
    pub fn raised_twice(&self, at: (u8, u8, u16), signal: u8, image: &Image) -> Twice {
        let (me, context, _) = at;
        if self.raisers.has_just_noted(self.now, (me, context, signal)) {
            return self.raisers.twice(at, signal);
        }
        // The command is in flight until its signal has come; of several with this signal
        // the oldest comes first.
        let raises = |it: &&InFlight| {
            let command = &it.command;
            (command.transfer_me, command.signal_context) == (me, context)
                && (command.pull_signals | command.push_signals) >> signal & 1 == 1
        };
        let second = self.flights().filter(raises).min_by_key(|it| it.issued);
        let mut found = Twice {
            second: at,
            also: Vec::new(),
            notes: Vec::new(),
        };
        match second {
            Some(flight) if flight.is_unsolicited() => {
                found
                    .notes
                    .push("it was raised again by the media interface".to_owned());
            }
            Some(InFlight { command, .. }) => {
                found.second = (command.me, command.context, command.pc);
            }
            None => found
                .notes
                .push("by whom it was raised again is not known".to_owned()),
        }
        let raises = |address: &u16| {
            let used = image.signals_used(*address);
            used.iter().any(|it| it.point.after && it.number == signal)
        };
        let all = (0..image.words.len() as u16).filter(raises);
        let others = all.filter(|address| *address != found.second.2);
        found.also = others
            .take(MOST_RAISERS)
            .map(|pc| Also {
                me,
                context,
                pc,
                what: "may have raised it first".to_owned(),
            })
            .collect();
        if found.also.is_empty() {
            found
                .notes
                .push("no other command raises it, so the same one raised it first".to_owned());
        }
        found
    }

    /// Lets completions come late from now on.
    pub fn disturb(&mut self, late: Lateness) {
        self.late = DelayedCompletions::new(late);
        self.see_data();
    }

    /// How late completions are at most.
    #[must_use]
    pub fn lateness(&self) -> Lateness {
        self.late.asked()
    }

    /// Whether completions come late.
    #[inline]
    pub(crate) const fn are_late(&self) -> bool {
        self.late.is_on()
    }

    /// How many cycles late the completion of a command is that comes next.
    #[inline]
    pub(crate) fn late(&mut self, slot: CommandId) -> Cycle {
        if self.late.is_on() {
            self.draw_late(slot)
        } else {
            0
        }
    }

    #[cold]
    #[inline(never)]
    fn draw_late(&mut self, slot: CommandId) -> Cycle {
        let unit = self.flight(slot).command.op.info().unit;
        self.late.draw(unit)
    }

    /// Signals of a command reach their context at `due`, apart from any data.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is most of what its callers do.
    pub(crate) fn signal_at(&mut self, due: Cycle, command: &BusCommand, signals: u16) {
        let (me, context) = (command.transfer_me, command.signal_context);
        let mut left = signals & !1;
        while left != 0 {
            let signal = left.trailing_zeros() as u8;
            left &= left - 1;
            let event = Event::Signal {
                me,
                context,
                signal,
                by: SignalSource::of(command),
            };
            self.events.post(due, event);
        }
    }

    /// Records when a unit serves a command, once that is decided.
    #[inline]
    pub fn serves(
        &mut self,
        slot: CommandId,
        target: CommandTarget,
        lane: u8,
        from: Cycle,
        until: Cycle,
    ) {
        if self.trace.wants(TraceEventKind::Served) {
            self.tell_served(slot, (target, lane), from, until);
        }
    }

    /// Tells observers that longwords of a memory are written now, from a byte address on.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_written(
        &mut self,
        memory: MemoryName,
        address: u32,
        words: usize,
        by: Writer,
    ) {
        self.trace.record(self.now, || TraceEvent::Written {
            memory,
            address: address & !3,
            words: words as u16,
            by,
        });
    }

    #[cold]
    #[inline(never)]
    fn tell_served(
        &mut self,
        slot: CommandId,
        (target, lane): (CommandTarget, u8),
        from: Cycle,
        until: Cycle,
    ) {
        let command = self.flight(slot).command;
        self.trace.record(self.now, || TraceEvent::Served {
            target,
            lane,
            slot,
            command,
            from,
            until,
        });
    }

    /// The status bit of a scratch ring as a microengine sees it.
    #[must_use]
    pub fn ring_status(&self, ring: u8, now: Cycle) -> bool {
        self.ring_lines.level(ring, now)
    }

    /// A command in flight.
    #[must_use]
    #[inline]
    pub fn flight(&self, slot: CommandId) -> &InFlight {
        &self.flights[slot]
    }

    /// A command in flight.
    #[inline]
    pub fn flight_mut(&mut self, slot: CommandId) -> &mut InFlight {
        &mut self.flights[slot]
    }

    /// All commands in flight.
    pub fn flights(&self) -> impl Iterator<Item = &InFlight> {
        self.slots_in_use().map(|(_, flight)| flight)
    }

    /// The slots in use with the commands in flight there, in ascending order.
    pub fn slots_in_use(&self) -> impl Iterator<Item = (CommandId, &InFlight)> {
        let free: Vec<_> = self.free.iter().collect();
        let slots = (0..).map(CommandId).zip(self.flights.all());
        slots.filter(move |(slot, _)| free.binary_search(slot).is_err())
    }

    /// Number of commands in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    /// The unit will have served the command at `at`: [`Event::Ready`].
    pub fn ready_at(&mut self, slot: CommandId, at: Cycle) {
        self.events.post(at, Event::Ready(slot));
    }

    /// Ends a command whose work is done: delivers its push signals if it still
    /// has any, else retires it.
    pub fn finish(&mut self, slot: CommandId) {
        if self.flight(slot).command.push_signals == 0 {
            self.retire(slot);
        } else {
            self.push(slot, 0);
        }
    }

    /// Ends a command that pushes nothing.
    #[inline]
    pub fn retire(&mut self, slot: CommandId) {
        if self.trace.wants(TraceEventKind::Done) {
            self.tell_done(slot);
        }
        self.free.push(slot);
    }

    /// Frees the slot of a command of which no observer wants the end.
    #[inline]
    pub(crate) fn retire_unseen(&mut self, slot: CommandId) {
        debug_assert!(
            !self.trace.is_open(),
            "an observer would miss the end of a command"
        );
        self.free.push(slot);
    }

    #[cold]
    #[inline(never)]
    fn tell_done(&mut self, slot: CommandId) {
        let flight = self.flight(slot);
        if !flight.is_unsolicited() {
            let command = flight.command;
            self.trace
                .record(self.now, || TraceEvent::Done { slot, command });
        }
    }

    /// Raises a fault of a command in flight, at the instruction that issued it.
    pub fn fault(
        &mut self,
        slot: CommandId,
        check: Option<Check>,
        message: String,
        help: Option<String>,
    ) {
        let command = self.flight(slot).command;
        let fault = Fault {
            check,
            cycle: self.now,
            me: Some(command.me),
            context: Some(command.context),
            pc: Some(command.pc),
            message,
            notes: Vec::new(),
            help,
            also: Vec::new(),
        };
        self.checks.raise(fault);
    }
}
