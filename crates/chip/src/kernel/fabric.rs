//! The fabric between microengines and units: the event queue, the commands in flight, and the
//! buses that carry commands, pulled data and pushed data.
//!
//! A command's life: a microengine issues it ([`Fabric::issue`]), it wins its cluster's command bus
//! and reaches the unit's inlet ([`Event::Arrive`]); while the inlet is full it waits in its
//! microengine's FIFO. A unit that takes a command out of its inlet calls [`Fabric::release`]. A
//! unit that wants data calls [`Fabric::pull`]; at [`Event::Pull`] the chip takes the OUT registers
//! and raises the pull signal. When a unit has the result, or its time is certain, it pushes it with
//! [`Fabric::push`] or [`Fabric::push_at`]; at [`Event::Push`] the chip writes the IN registers,
//! raises the push signal and retires the slot. A command that pushes nothing ends with
//! [`Fabric::finish`]. [`Fabric::ready_at`] gives a unit a step in between ([`Event::Ready`]).

mod data;
mod flights;
mod issue;
mod validate;

use npsim_image::Image;
use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::kernel::buffers::Buffers;
use crate::kernel::bus::Buses;
use crate::kernel::check::{Check, Checks, Fault, RelatedPlace};
use crate::kernel::event::{Event, EventQueue};
use crate::kernel::fault_injection::{DelayedCompletions, Lateness};
use crate::kernel::free_slots::FreeSlots;
use crate::kernel::port_io::PacketTag;
use crate::kernel::ring_status::RingStatusLines;
use crate::kernel::signal_source::{DoubleSignal, SignalSource, SignalSources};
use crate::kernel::target::{CommandTarget, Inlets};
use crate::kernel::trace_buffer::TraceBuffer;
use crate::kernel::trace_event::{
    EventKinds, MemoryName, RingName, TraceEvent, TraceEventKind, Writer,
};
use flights::Flights;
use npsim_profile::Profile;

// The command types, for users of the fabric alone.
pub use crate::kernel::command::{BusCommand, CommandId, TransferKind};

/// A command with its data. It fills whole host cache lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub struct InFlight {
    /// The command.
    pub command: BusCommand,
    /// Cycle at which the command was issued.
    pub issued: Cycle,
    /// Pulled data, then the data to be pushed.
    pub data: [u32; 32],
    /// Number of valid longwords in `data`.
    pub words: u8,
    /// Private value of a unit, kept between its steps.
    pub unit_scratch: u64,
    /// The arrival that the data came from, on its way between RBUF, DRAM and TBUF.
    pub tag: PacketTag,
}

impl InFlight {
    /// Fills the slot for a command that is complete except for its address.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of issuing a command.
    fn fill(&mut self, command: &BusCommand, address: u32, issued: Cycle) {
        // Completed in place; assembling it first would cost another copy.
        self.command = *command;
        self.command.address = address;
        self.issued = issued;
        // The data is cleared so that data of an earlier command is never pushed or saved.
        self.data = [0; 32];
        self.words = 0;
        self.unit_scratch = 0;
        self.tag = PacketTag::default();
    }
}

/// Most commands that a message lists as raisers of a signal.
const MAX_RAISERS: usize = 3;

/// The value of `unit_scratch` for a slot opened without a command.
const UNSOLICITED: u64 = u64::MAX;

impl InFlight {
    /// Whether a unit pushes data without a command.
    #[must_use]
    pub const fn is_unsolicited(&self) -> bool {
        self.unit_scratch == UNSOLICITED
    }
}

/// Whether a command was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issue {
    /// The command is on its way to this target.
    Accepted(CommandTarget),
    /// The microengine's command FIFO is full. The fabric posts [`Event::Microengine`] when there
    /// is room; the microengine posts nothing and then issues the command again.
    Held,
}

/// Pointers of a microengine's next-neighbour ring, visible to both neighbours. All are modulo 128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NnRing {
    /// Words put by the writer: its `NN_PUT`.
    pub put: u8,
    /// Words that have arrived: `put` without those in flight.
    pub arrived: u8,
    /// Words taken by the owner: its `NN_GET`.
    pub get: u8,
}

impl NnRing {
    /// Capacity in words, as its pointers count it.
    pub const PLACES: u8 = 128;

    /// Number of words that have arrived and have not been taken.
    #[must_use]
    pub const fn available(&self) -> u8 {
        self.arrived.wrapping_sub(self.get) % Self::PLACES
    }

    /// Number of occupied places, including words in flight.
    #[must_use]
    pub const fn occupied(&self) -> u8 {
        self.put.wrapping_sub(self.get) % Self::PLACES
    }
}

/// The interior of the chip, between its units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fabric {
    /// The cycle of the event being handled. A microengine that runs ahead keeps its own time and
    /// passes it along.
    pub now: Cycle,
    /// All pending events.
    pub events: EventQueue,
    /// Command, push and pull buses.
    pub buses: Buses,
    /// The profile of the chip.
    #[serde(skip, default = "Profile::absent")]
    pub profile: Profile,
    /// The active checks and the first fault.
    pub checks: Checks,
    /// The status bits of the scratch rings as microengines see them.
    pub ring_lines: RingStatusLines,
    /// The end of the run in progress, beyond which microengines do not run.
    #[serde(skip)]
    pub horizon: Cycle,
    /// The next-neighbour ring of each microengine.
    pub nn_rings: Vec<NnRing>,
    /// The trace events for observers, which are not part of the chip's state.
    #[serde(skip)]
    pub trace: TraceBuffer,
    /// Number of clock readings by microcode that it may use for more than setting timers; if there
    /// are any, a period is not assumed to repeat.
    #[serde(skip)]
    pub clock_readings: u64,
    /// A digest of how far ahead timers were set since it was last taken, independent of order.
    #[serde(skip)]
    timers_set: u64,
    /// The raisers of each signal.
    pub raisers: SignalSources,
    /// The expected contents of packet buffers, if the boot plan has any.
    pub buffers: Option<Buffers>,
    /// Whether a command has sent its signals to a context other than its own.
    pub signals_others: bool,
    late: DelayedCompletions,
    /// Whether transfers take the slow path, because an observer wants events of the data buses or
    /// completions are deliberately delayed. Derived from `trace` and `late`.
    #[serde(skip)]
    special_data: bool,
    flights: Flights,
    free: FreeSlots,
}

impl Fabric {
    /// Creates an idle fabric between the units that have these inlets.
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

    /// Takes over the fields that serialization leaves out.
    pub(crate) fn adopt_unsaved(&mut self, from: &mut Self) {
        std::mem::swap(&mut self.profile, &mut from.profile);
        std::mem::swap(&mut self.trace, &mut from.trace);
        self.complete();
        self.horizon = from.horizon;
        self.clock_readings = from.clock_readings;
    }

    /// Recomputes the fields that are not saved and follow from the others.
    pub(crate) fn complete(&mut self) {
        self.watch_commands();
        self.buses.complete();
        self.update_special_data();
    }

    /// Records the events of these kinds from now on; an empty set closes the trace buffer.
    pub fn watch(&mut self, wanted: EventKinds) {
        self.trace.set(wanted);
        self.watch_commands();
        self.update_special_data();
    }

    /// Only queued commands record events of commands and of the buses that they wait for: if an
    /// observer wants these, no command is granted the bus immediately.
    fn watch_commands(&mut self) {
        self.buses.watch(self.trace.wants_commands());
    }

    fn update_special_data(&mut self) {
        self.special_data = self.trace.wants(TraceEventKind::Bus) || self.late.is_on();
    }

    /// Records that a context's timer was set to a count a given number of timestamp steps ahead.
    #[inline]
    pub fn note_timer_set(&mut self, me: u8, context: u8, steps: u64) {
        let timer = steps << 16 | u64::from(me) << 8 | u64::from(context) | 1 << 7;
        // Independent of order, since some timers are set ahead of the chip.
        let mixed = (timer ^ timer >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.timers_set = self.timers_set.wrapping_add(mixed ^ mixed >> 32);
    }

    /// Takes the digest of how far ahead timers were set.
    pub(crate) fn take_timers_set(&mut self) -> u64 {
        std::mem::take(&mut self.timers_set)
    }

    /// Records that an `indirect_ref` has changed a command about to be issued.
    pub fn note_override(&mut self, command: &BusCommand) {
        self.signals_others |=
            (command.transfer_me, command.signal_context) != (command.me, command.context);
    }

    /// Records a handle carried by a queue command, which takes it off the queue or puts it on.
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
            if self.trace.wants(TraceEventKind::BufferMoved) {
                let (channel, entry) = queue;
                self.trace_carried(&[word], RingName::Sram { channel, entry }, takes, command);
            }
        }
    }

    /// Records the first longwords of data carried by a ring command, possibly including handles.
    #[inline(always)]
    #[allow(clippy::inline_always)] // A part of each of its few callers.
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
            if self.trace.wants(TraceEventKind::BufferMoved) {
                self.trace_ring(ring, slot, count, takes);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn trace_ring(&mut self, ring: RingName, slot: CommandId, count: usize, takes: bool) {
        let flight = self.flight(slot);
        let (data, command) = (flight.data, flight.command);
        self.trace_carried(&data[..count], ring, takes, &command);
    }

    #[cold]
    #[inline(never)]
    fn trace_carried(&mut self, words: &[u32], ring: RingName, takes: bool, command: &BusCommand) {
        let Some(buffers) = &self.buffers else {
            return;
        };
        for buffer in words.iter().filter_map(|word| buffers.number_of(*word)) {
            self.trace.record(self.now, || TraceEvent::BufferMoved {
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
    pub fn raised_twice(&self, at: (u8, u8, u16), signal: u8, image: &Image) -> DoubleSignal {
        let (me, context, _) = at;
        if self.raisers.has_just_noted(self.now, (me, context, signal)) {
            return self.raisers.explain_double(at, signal);
        }
        // The command is in flight until its signal has arrived; of several with this signal, the
        // oldest comes first.
        let raises = |it: &&InFlight| {
            let command = &it.command;
            (command.transfer_me, command.signal_context) == (me, context)
                && (command.pull_signals | command.push_signals) >> signal & 1 == 1
        };
        let second = self.flights().filter(raises).min_by_key(|it| it.issued);
        let mut found = DoubleSignal {
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
                .push("what raised it again is not known".to_owned()),
        }
        let raises = |address: &u16| {
            let used = image.signals_used(*address);
            used.iter().any(|it| it.point.after && it.number == signal)
        };
        let all = (0..image.words.len() as u16).filter(raises);
        let others = all.filter(|address| *address != found.second.2);
        found.also = others
            .take(MAX_RAISERS)
            .map(|pc| RelatedPlace {
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

    /// Delays completions from now on.
    pub fn disturb(&mut self, late: Lateness) {
        self.late = DelayedCompletions::new(late);
        self.update_special_data();
    }

    /// The maximum delay of completions.
    #[must_use]
    pub fn lateness(&self) -> Lateness {
        self.late.max_delays()
    }

    /// Whether completions are delayed.
    #[inline]
    pub(crate) const fn are_late(&self) -> bool {
        self.late.is_on()
    }

    /// The delay, in cycles, of the next completion of a command.
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

    /// Delivers signals of a command to their context at `due`, separately from any data.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Most of its callers' bodies.
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
    pub fn record_service(
        &mut self,
        slot: CommandId,
        target: CommandTarget,
        lane: u8,
        from: Cycle,
        until: Cycle,
    ) {
        if self.trace.wants(TraceEventKind::Served) {
            self.trace_served(slot, (target, lane), from, until);
        }
    }

    /// Records for observers that longwords of a memory are written now, starting at a byte
    /// address.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_written(
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
    fn trace_served(
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

    /// The command in flight in a slot.
    #[must_use]
    #[inline]
    pub fn flight(&self, slot: CommandId) -> &InFlight {
        &self.flights[slot]
    }

    /// The command in flight in a slot, for changes.
    #[inline]
    pub fn flight_mut(&mut self, slot: CommandId) -> &mut InFlight {
        &mut self.flights[slot]
    }

    /// All commands in flight.
    pub fn flights(&self) -> impl Iterator<Item = &InFlight> {
        self.slots_in_use().map(|(_, flight)| flight)
    }

    /// The slots in use with their commands in flight, in ascending order.
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

    /// Schedules [`Event::Ready`] at `at`, when the unit will have served the command.
    pub fn ready_at(&mut self, slot: CommandId, at: Cycle) {
        self.events.post(at, Event::Ready(slot));
    }

    /// Ends a command whose work is done: delivers its remaining push signals, or else retires it.
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
            self.trace_done(slot);
        }
        self.free.push(slot);
    }

    /// Frees the slot of a command whose end no observer wants.
    #[inline]
    pub(crate) fn retire_untraced(&mut self, slot: CommandId) {
        debug_assert!(
            !self.trace.is_open(),
            "an observer would miss the end of a command"
        );
        self.free.push(slot);
    }

    #[cold]
    #[inline(never)]
    fn trace_done(&mut self, slot: CommandId) {
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
