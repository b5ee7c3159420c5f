//! The chip: microengines, units, and the loop that gives each its turn.

use serde::{Deserialize, Serialize};

use crate::Cycle;
use crate::core::{Core, CoreKind};
use crate::engine::ENGINE;
use crate::gpp::boot::Boot;
use crate::gpp::{Gpp, LoadError};
use crate::kernel::check::{Check, Fault};
use crate::kernel::disturb::{Disturbances, LAST_CYCLE};
use crate::kernel::event::{DATA, Event, UNITS};
use crate::kernel::fabric::{Fabric, Slot, TransferKind};
use crate::kernel::lines::Lines;
use crate::kernel::lock::Lock;
use crate::kernel::neighbours::TransferRegisters;
use crate::kernel::observer::Observer;
use crate::kernel::trace_event::{Cause, Kind, TraceEvent};
use crate::microengine::Program;
use crate::profile::Profile;
use crate::quiescence::{Bounds, Quiescence};
use crate::stats::Stats;
use crate::units::msf::MediaSetup;
use crate::units::msf::receive::NULL_STATUS;
use crate::units::{Outside, Units};

/// Why [`Chip::run`] came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The cycle that was asked for is reached.
    Reached,
    /// No events are pending: no frame is to come and every context
    /// sleeps, is killed or waits for a frame.
    Quiet,
    /// A check or an impossible instruction stopped the chip.
    Fault(Box<Fault>),
}

/// Why a chip could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChipError {
    /// A program is for a microengine that the chip lacks.
    #[error("there is no microengine {index}: this chip has microengines 0 to {last}")]
    NoSuchMicroengine {
        /// What was asked for.
        index: u8,
        /// The last there is.
        last: u8,
    },
    /// Two programs are for one microengine.
    #[error("microengine {index} was given two programs")]
    TwoPrograms {
        /// Which one.
        index: u8,
    },
    /// A context is to hang that does not run.
    #[error("context {context} of microengine {me} does not run, so it cannot be stalled")]
    NoSuchContext {
        /// Index of the microengine.
        me: u8,
        /// The context.
        context: u8,
    },
    /// The boot plan does not fit the chip.
    #[error(transparent)]
    Boot(#[from] LoadError),
}

/// The contexts that a microengine starts with: all that its mode has.
const ALL_CONTEXTS: u8 = 0xff;

/// A chip with programs loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chip {
    /// Buses, events and commands in flight.
    pub(crate) fabric: Fabric,
    /// The microengines in the order of their index. Each saves its state itself.
    #[serde(skip)]
    pub(crate) microengines: Vec<Box<dyn Core>>,
    /// Memories, media interface and the other units.
    pub(crate) units: Units,
    /// The general-purpose core.
    pub(crate) gpp: Gpp,
    /// Whether and when it skips time.
    #[serde(skip)]
    pub(crate) quiescence: Quiescence,
}

impl Chip {
    /// A chip at cycle 0: the boot plan carried out, the programs loaded, their
    /// contexts ready to run.
    ///
    /// # Errors
    /// A program's microengine is not there or has one already, or the boot
    /// plan does not fit the chip.
    pub fn new(
        profile: Profile,
        boot: &Boot,
        programs: Vec<(u8, Program)>,
    ) -> Result<Self, ChipError> {
        Self::with_cores(ENGINE, profile, boot, programs)
    }

    /// The same with another kind of core in all microengines.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_cores(
        kind: CoreKind,
        profile: Profile,
        boot: &Boot,
        programs: Vec<(u8, Program)>,
    ) -> Result<Self, ChipError> {
        boot.check_media()?;
        let count = profile.microengines();
        let media = MediaSetup {
            ports: &boot.ports,
            element_size: boot.element_size,
            transmit_element_size: boot.transmit_element_size,
        };
        let mut chip = Self {
            microengines: (0..count)
                .map(|index| (kind.make)(index, &profile))
                .collect(),
            units: Units::new(&profile, &media),
            gpp: Gpp::new(&profile, boot),
            quiescence: Quiescence::default(),
            fabric: Fabric::new(profile, Units::inlets),
        };
        let profile = chip.fabric.profile.clone();
        boot.load(
            &profile,
            &mut chip.fabric,
            &mut chip.units.scratch,
            &mut chip.units.sram,
            &mut chip.units.dram,
            &mut chip.gpp,
        )?;
        let mut loaded = vec![false; usize::from(count)];
        for (index, program) in programs {
            let Some(taken) = loaded.get_mut(usize::from(index)) else {
                return Err(ChipError::NoSuchMicroengine {
                    index,
                    last: count - 1,
                });
            };
            if std::mem::replace(taken, true) {
                return Err(ChipError::TwoPrograms { index });
            }
            chip.microengines[usize::from(index)].load(program);
        }
        for (microengine, _) in chip
            .microengines
            .iter_mut()
            .zip(loaded)
            .filter(|(_, loaded)| *loaded)
        {
            microengine.start(ALL_CONTEXTS, &mut chip.fabric);
        }
        chip.disturb(&boot.disturbances)?;
        // No run has begun.
        chip.fabric.horizon = 0;
        Ok(chip)
    }

    /// Makes `PSEUDO_RANDOM_NUMBER` begin at another value in every microengine.
    /// The same seed gives the same values; without one the register begins at 1
    /// in all of them.
    pub fn seed(&mut self, seed: u64) {
        for (index, microengine) in (0..).zip(&mut self.microengines) {
            microengine.seed_random(start_value(seed, index));
        }
    }

    fn disturb(&mut self, disturbances: &Disturbances) -> Result<(), ChipError> {
        self.fabric.disturb(disturbances.late);
        for stall in &disturbances.stalls {
            let (me, context) = (stall.me, stall.context);
            let mut stall = *stall;
            stall.until = stall.until.min(LAST_CYCLE);
            let microengine = self.microengines.get_mut(usize::from(me));
            if context > 7 || !microengine.is_some_and(|it| it.stall(stall)) {
                return Err(ChipError::NoSuchContext { me, context });
            }
        }
        Ok(())
    }

    /// What disturbs this chip.
    #[must_use]
    pub fn disturbances(&self) -> Disturbances {
        let stalls = self.microengines.iter().flat_map(|me| me.stalls());
        Disturbances {
            late: self.fabric.lateness(),
            stalls: stalls.copied().collect(),
        }
    }

    /// The chip as data.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.fabric.profile
    }

    /// The cycle that the chip is at.
    #[must_use]
    pub const fn now(&self) -> Cycle {
        self.fabric.now
    }

    /// Buses, events and commands in flight.
    #[must_use]
    pub const fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The microengines in the order of their index.
    #[must_use]
    pub fn microengines(&self) -> &[Box<dyn Core>] {
        &self.microengines
    }

    /// Memories, media interface and the other units.
    #[must_use]
    pub const fn units(&self) -> &Units {
        &self.units
    }

    /// The same, for changes from outside: of memory between two runs, as a
    /// debugger makes them.
    pub const fn units_mut(&mut self) -> &mut Units {
        &mut self.units
    }

    /// A microengine, for changes of its registers and local memory from outside between
    /// two runs.
    pub fn microengine_mut(&mut self, index: u8) -> Option<&mut dyn Core> {
        let core = self.microengines.get_mut(usize::from(index))?;
        Some(&mut **core)
    }

    /// The general-purpose core.
    #[must_use]
    pub const fn gpp(&self) -> &Gpp {
        &self.gpp
    }

    /// Lets microcode do what a check would stop the chip for.
    pub fn allow(&mut self, check: Check) {
        self.fabric.checks.allow(check);
    }

    /// Lets microcode do what these checks would stop the chip for, and nothing else.
    pub fn set_allowed(&mut self, checks: &[Check]) {
        self.fabric.checks.set_allowed(checks);
    }

    /// What stopped the chip, if anything did.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.fabric.checks.fault()
    }

    /// Raises [`Check::RbufLeak`] when threads still have RBUF elements: for the
    /// end of a run that has drained.
    pub fn raise_leaks(&mut self) {
        self.units.msf.raise_leaks(&mut self.fabric);
    }

    /// The longwords that are watched as locks, unit by unit.
    pub fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.units.locks()
    }

    /// The cycle of the next event; `Cycle::MAX` if none is pending.
    #[must_use]
    pub fn next_event(&self) -> Cycle {
        self.fabric.events.next_time()
    }

    /// What the chip has counted until now.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::collect(self)
    }

    /// Runs until every event before `until` is handled. Running in steps gives
    /// the same states as running through.
    pub fn run(
        &mut self,
        until: Cycle,
        lines: &mut dyn Lines,
        observer: &mut dyn Observer,
    ) -> Stop {
        loop {
            if let Some(stop) = self.run_or_pause(until, Cycle::MAX, lines, observer) {
                return stop;
            }
        }
    }

    /// The same, but comes back with `None` before the first event at `pause` or
    /// later. Unlike an earlier `until`, a pause changes nothing at all in the
    /// chip: microengines still run ahead of it.
    pub fn run_or_pause(
        &mut self,
        until: Cycle,
        pause: Cycle,
        lines: &mut dyn Lines,
        observer: &mut dyn Observer,
    ) -> Option<Stop> {
        self.run_for(until, pause, Cycle::MAX, lines, observer)
    }

    /// The same, but also comes back with `None` before the first event at `breath`
    /// or later: for callers who have something to do from time to time on which the
    /// run does not depend. Where time is skipped, that event may lie far behind
    /// `breath`; whether `pause` is reached, [`Self::next_event`] tells.
    pub fn run_for(
        &mut self,
        until: Cycle,
        pause: Cycle,
        breath: Cycle,
        lines: &mut dyn Lines,
        observer: &mut dyn Observer,
    ) -> Option<Stop> {
        self.fabric.journal.set(observer.wants());
        let observed = self.fabric.journal.is_open();
        let bounds = Bounds {
            until,
            pause,
            breath,
        };
        let stop = if observed {
            self.advance::<true>(bounds, lines, observer)
        } else {
            self.advance::<false>(bounds, lines, observer)
        };
        for core in &mut self.microengines {
            core.forget_before(self.fabric.now);
        }
        if !observed {
            return stop;
        }
        let journal = &mut self.fabric.journal;
        match stop {
            // What microengines did ahead of the end, and what units booked
            // behind it, is no part of the run.
            Some(Stop::Fault(_) | Stop::Quiet) => {
                journal.hand_on(self.fabric.now + 1, observer);
                journal.leave_out_the_rest();
            }
            Some(Stop::Reached) => journal.hand_on(until, observer),
            None => journal.hand_on(pause.min(self.fabric.events.next_time()), observer),
        }
        stop
    }

    pub(crate) fn advance<const OBSERVED: bool>(
        &mut self,
        bounds: Bounds,
        lines: &mut dyn Lines,
        observer: &mut dyn Observer,
    ) -> Option<Stop> {
        let until = bounds.until.min(lines.latest());
        let edge = until.min(bounds.pause).min(bounds.breath);
        self.fabric.horizon = until;
        self.units.msf.refill(&mut self.fabric, lines);
        self.quiescence.wake_before(self.fabric.horizon.min(edge));
        while self.fabric.checks.fault().is_none()
            && self.cycles::<OBSERVED>(until, lines, observer)
        {
            let time = self.fabric.events.next_time();
            // A frame that leaves may have brought the end nearer.
            let end = self.fabric.horizon;
            if time >= edge.min(end) {
                return self.run_out(end);
            }
            if let Some(stop) = self.try_to_skip::<OBSERVED>(bounds, lines, observer) {
                return Some(stop);
            }
            // Time may have passed, and a frame have left.
            self.quiescence.wake_before(self.fabric.horizon.min(edge));
        }
        let fault = self.fabric.checks.fault()?;
        Some(Stop::Fault(Box::new(fault.clone())))
    }

    /// Handles what happens in cycle after cycle until something else is to be done, or
    /// until a fault stands: then it is false.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is the event loop.
    fn cycles<const OBSERVED: bool>(
        &mut self,
        until: Cycle,
        lines: &mut dyn Lines,
        observer: &mut dyn Observer,
    ) -> bool {
        loop {
            let time = self.fabric.events.next_time();
            if time >= self.quiescence.wake_at {
                return true;
            }
            if !self.cycle::<OBSERVED>(time, until, lines, observer) {
                return false;
            }
        }
    }

    /// Handles what happens in one cycle, to its end or until a fault stands: then it is
    /// false.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is the body of the event loop.
    fn cycle<const OBSERVED: bool>(
        &mut self,
        time: Cycle,
        until: Cycle,
        lines: &mut dyn Lines,
        observer: &mut dyn Observer,
    ) -> bool {
        let bucket = self.fabric.events.come_to(time);
        loop {
            let pending = self.fabric.events.pending_in(bucket);
            self.fabric.now = time;
            if pending.is_turns_only() {
                let me = self.fabric.events.take_turn(bucket, pending);
                self.turn::<OBSERVED>(me);
            } else {
                // The queues of most events are known here, so that little is left of taking
                // them, and few kinds are to be told apart.
                if pending.has(DATA) {
                    let event = self.fabric.events.take(bucket, DATA, pending);
                    self.handle_data::<OBSERVED>(event);
                } else if pending.has(UNITS) {
                    let event = self.fabric.events.take(bucket, UNITS, pending);
                    self.handle_unit::<OBSERVED>(event);
                } else {
                    self.handle_other(bucket, lines);
                }
                // Whatever put a word on a ring, a microengine or a loader's register write:
                // the core's tasks that poll doze until then, since polls that find nothing
                // need no events. In its turn a microengine reaches no unit.
                if self.units.scratch.is_ring_written() {
                    self.stir();
                }
            }
            self.quiescence.handled += 1;
            if OBSERVED && self.fabric.journal.is_full() {
                let sure = self.fabric.events.next_time().min(until);
                self.fabric.journal.hand_on(sure, observer);
            }
            // Nothing may happen after a fault, so that state and counts are those of its
            // cycle.
            if self.fabric.checks.fault().is_some() {
                return false;
            }
            if self.fabric.events.next_time() != time {
                return true;
            }
        }
    }

    /// Wakes tasks that wait for words on rings.
    #[inline(never)]
    fn stir(&mut self) {
        self.units.scratch.take_ring_written();
        self.gpp.stir(&self.units.scratch, &mut self.fabric);
    }

    /// A microengine's turn, which is no event in the queue but stands in one for others.
    #[inline]
    fn turn<const OBSERVED: bool>(&mut self, me: u8) {
        if OBSERVED {
            self.fabric.journal.begin_turn();
        }
        self.microengines[me as usize].run(&mut self.fabric);
    }

    /// Nothing is left to do before the end of the run, or before the pause.
    fn run_out(&mut self, until: Cycle) -> Option<Stop> {
        if self.fabric.events.next_time() < until {
            // Unlike the end of a run, a pause does not move `now`: the run goes on as if it
            // had never come.
            return None;
        }
        if self.fabric.events.is_empty() {
            return Some(self.quiet());
        }
        self.fabric.now = until;
        self.fabric.events.advance_to(until);
        Some(Stop::Reached)
    }

    /// Data or a signal reaches a microengine.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is the body of the event loop.
    fn handle_data<const OBSERVED: bool>(&mut self, event: Event) {
        match event {
            Event::Push(slot) => self.pushed::<OBSERVED>(slot),
            Event::Pull(slot) => self.pulled::<OBSERVED>(slot),
            // Apart, since nothing but these has to be taken to pieces.
            event => self.handle_signal::<OBSERVED>(event),
        }
    }

    /// What no command brings reaches a microengine.
    #[inline(never)]
    fn handle_signal<const OBSERVED: bool>(&mut self, event: Event) {
        let fabric = &mut self.fabric;
        match event {
            Event::Signal {
                me,
                context,
                signal,
                by,
            } => {
                if OBSERVED {
                    let cause = fabric.journal.cause_of(fabric.now, me, context, signal);
                    journal_signals(me, context, 1 << signal, cause, fabric);
                }
                fabric.raisers.note(fabric.now, (me, context, signal), by);
                self.microengines[me as usize].signal(context, 1 << signal, fabric);
            }
            Event::Timer { me, context } => self.microengines[me as usize].timer(context, fabric),
            Event::NnPut {
                me,
                index,
                value,
                ring,
            } => {
                self.microengines[me as usize].nn_put(index, value, ring, fabric);
            }
            Event::StallOver(me) => self.microengines[me as usize].stall_over(fabric),
            _ => unreachable!("an event in another queue than its own"),
        }
    }

    /// A unit has something to do, or a command bus.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is the body of the event loop.
    fn handle_unit<const OBSERVED: bool>(&mut self, event: Event) {
        match event {
            Event::Arrive(slot) => self.arrive::<OBSERVED>(slot),
            Event::Turn(target) => self.units.turn(target, &mut self.fabric),
            // Apart, so that two comparisons find the others.
            event => self.handle_unit_rarely(event),
        }
    }

    /// A unit has served a command, or a command bus may be free.
    #[inline(never)]
    fn handle_unit_rarely(&mut self, event: Event) {
        let fabric = &mut self.fabric;
        match event {
            Event::CommandBus(cluster) => fabric.command_bus(cluster),
            Event::Ready(slot) => {
                let outside = Outside {
                    registers: &mut self.microengines,
                    core: &mut self.gpp,
                };
                self.units.ready(slot, fabric, outside);
            }
            _ => unreachable!("an event in another queue than its own"),
        }
    }

    /// The media interface or the general-purpose core has something to do.
    #[inline(never)]
    fn handle_other(&mut self, bucket: usize, lines: &mut dyn Lines) {
        let fabric = &mut self.fabric;
        let pending = fabric.events.pending_in(bucket);
        let Some(queue) = pending.queue() else {
            return;
        };
        match fabric.events.take(bucket, queue, pending) {
            Event::Media(code) => {
                self.quiescence.outside += u64::from(self.units.msf.event(code, fabric, lines));
                self.quiescence.end_before(fabric.horizon);
            }
            Event::Gpp(task) => {
                self.quiescence.outside += 1;
                if self.gpp.stop_alone(task, &fabric.events) {
                    return;
                }
                self.gpp.event(
                    task,
                    fabric,
                    &mut self.units.scratch,
                    &mut self.units.sram,
                    &mut self.units.dram,
                );
            }
            _ => unreachable!("an event in another queue than its own"),
        }
    }

    fn arrive<const OBSERVED: bool>(&mut self, slot: Slot) {
        let fabric = &mut self.fabric;
        if OBSERVED && fabric.journal.wants(Kind::Queued) {
            let command = fabric.flight(slot).command;
            let target = fabric.buses.target_of(command.op, command.address);
            fabric.journal.tell(fabric.now, || TraceEvent::Queued {
                target,
                slot,
                command,
            });
        }
        self.units.arrive(slot, fabric);
    }

    /// Nothing is pending and no frame is to come. Contexts that wait for a
    /// frame, or gave up for good, are idle; without any of the former, one
    /// that still waits for a signal waits for ever.
    fn quiet(&mut self) -> Stop {
        let mut stuck = None;
        for (me, microengine) in (0..).zip(&self.microengines) {
            for context in 0..8 {
                let Some(wait) = microengine
                    .waiting(context)
                    .filter(|wait| !wait.is_killed())
                else {
                    continue;
                };
                if self.units.msf.is_waiting(me, context) {
                    return Stop::Quiet;
                }
                stuck.get_or_insert((me, context, wait));
            }
        }
        let Some((me, context, wait)) = stuck else {
            return Stop::Quiet;
        };
        let fault = self.deadlock(me, context, &wait);
        self.fabric.checks.raise(fault);
        match self.fabric.checks.fault() {
            Some(fault) => Stop::Fault(Box::new(fault.clone())),
            None => Stop::Quiet,
        }
    }

    /// Data leaves the OUT registers, the pull signals are raised, the unit goes on.
    fn pulled<const OBSERVED: bool>(&mut self, slot: Slot) {
        let fabric = &mut self.fabric;
        let flight = fabric.flight_mut(slot);
        let command = &flight.command;
        let me = &mut self.microengines[command.transfer_me as usize];
        let pulled = &mut flight.data[..flight.words as usize];
        me.pull(command.transfer_kind, command.transfer, pulled);
        let (to, signals) = (command.signal_context, command.pull_signals);
        if signals != 0 {
            let late = fabric.late(slot);
            if late > 0 {
                let command = fabric.flight(slot).command;
                fabric.signal_at(fabric.now + late, &command, signals);
            } else {
                if OBSERVED {
                    let command = &fabric.flight(slot).command;
                    let (me, why) = (command.transfer_me, Cause::of(command));
                    journal_signals(me, to, signals, why, fabric);
                }
                me.signal(to, signals, fabric);
            }
        }
        self.units.pulled(slot, fabric);
    }

    /// Data enters the IN registers, the push signals are raised, the command ends.
    fn pushed<const OBSERVED: bool>(&mut self, slot: Slot) {
        let fabric = &mut self.fabric;
        let flight = fabric.flight(slot);
        let command = flight.command;
        let me = &mut self.microengines[command.transfer_me as usize];
        let data = &flight.data[..flight.words as usize];
        me.push(command.transfer_kind, command.transfer, data);
        if command.push_signals != 0 {
            if OBSERVED {
                let why = match (flight.is_unasked(), flight.data[0]) {
                    (false, _) => Cause::of(&command),
                    (true, NULL_STATUS) => Cause::FreelistTimeout,
                    (true, _) => Cause::Mpacket,
                };
                let (to, signals) = (command.signal_context, command.push_signals);
                journal_signals(command.transfer_me, to, signals, why, fabric);
            }
            me.signal(command.signal_context, command.push_signals, fabric);
        }
        fabric.retire(slot);
    }
}

impl TransferRegisters for Vec<Box<dyn Core>> {
    fn give_away(&mut self, me: u8, register: u8, words: u8) {
        if let Some(microengine) = self.get_mut(usize::from(me)) {
            microengine.claim_in(TransferKind::S, register, words);
        }
    }
}

/// Writes signals down for observers.
fn journal_signals(me: u8, context: u8, signals: u16, cause: Cause, fabric: &mut Fabric) {
    let now = fabric.now;
    fabric.journal.tell(now, || TraceEvent::Signal {
        me,
        context,
        signals,
        cause,
    });
}

/// A microengine's own 32 bits of a seed: the last steps of `SplitMix64`, so that
/// near seeds and neighbours get values that have nothing in common.
fn start_value(seed: u64, me: u64) -> u32 {
    let mut bits = seed.wrapping_add((me + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::start_value;

    #[test]
    fn seeds_and_microengines_have_values_of_their_own() {
        let mut values: Vec<_> = (0..64)
            .flat_map(|seed| (0..8).map(move |me| start_value(seed, me)))
            .collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 512);
    }
}
