//! The event loop, which dispatches the events of each cycle to their receivers.

use std::hint::cold_path;

use super::{Chip, Stop};
use crate::Cycle;
use crate::core::Core;
use crate::kernel::event::{DATA, Event, OTHERS, Pending, SIGNALS, UNITS};
use crate::kernel::fabric::{CommandId, Fabric, TransferKind};
use crate::kernel::observer::Observer;
use crate::kernel::port_io::PortIo;
use crate::kernel::sideband::TransferRegisters;
use crate::kernel::signal_source::SignalSource;
use crate::kernel::trace_event::{Cause, TraceEvent, TraceEventKind};
use crate::periodic_skip::Bounds;
use crate::units::UnitSurroundings;
use crate::units::msf::receive::NULL_STATUS;

impl Chip {
    pub(crate) fn advance<const OBSERVED: bool>(
        &mut self,
        bounds: Bounds,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> Option<Stop> {
        let until = bounds.until.min(lines.answer_deadline());
        let edge = until.min(bounds.pause).min(bounds.progress_at);
        self.fabric.horizon = until;
        self.units.msf.refill(&mut self.fabric, lines);
        self.wake_before(edge);
        while !self.fabric.checks.stands() && self.cycles::<OBSERVED>(bounds.pause, lines, observer)
        {
            let time = self.fabric.events.next_time();
            // A departing frame may have brought the end closer.
            let end = self.fabric.horizon;
            if time >= edge.min(end) {
                return self.run_out(end);
            }
            if let Some(stop) = self.try_to_skip::<OBSERVED>(bounds, lines, observer) {
                return Some(stop);
            }
            // Time may have passed, and a frame may have left.
            self.wake_before(edge);
        }
        self.fault_stop()
    }

    /// Makes the event loop do nothing but handle events until this cycle, the end of the run or
    /// the next attempt to skip time.
    fn wake_before(&mut self, edge: Cycle) {
        self.skip_policy.wake_before(self.fabric.horizon.min(edge));
        self.fabric.events.set_alarm(self.skip_policy.wake_at);
    }

    /// The stop for the current fault, if there is one.
    #[cold]
    #[inline(never)]
    fn fault_stop(&self) -> Option<Stop> {
        let fault = self.fabric.checks.fault()?;
        Some(Stop::Fault(Box::new(fault.clone())))
    }

    /// Handles cycle after cycle. Returns true if something other than event handling is due, false
    /// if a fault was raised.
    #[inline(always)]
    #[allow(clippy::inline_always)] // This is the event loop.
    fn cycles<const OBSERVED: bool>(
        &mut self,
        pause: Cycle,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> bool {
        loop {
            let time = self.fabric.events.next_time();
            if self.fabric.events.is_alarm(time) {
                if time >= self.skip_policy.wake_at {
                    return true;
                }
                self.fabric.events.bring_near(time);
            }
            if !self.cycle::<OBSERVED>(time, pause, lines, observer) {
                return false;
            }
        }
    }

    /// Handles the events of one cycle until it is empty. Returns false if a fault was raised.
    ///
    /// The events of a cycle come before the turns of microengines (`kernel/event.rs` has the
    /// order). Handling one may add more to the cycle, so `pending` is read again after each. The
    /// cycle is left exactly once, by the code that finds it empty: [`Self::cycle_continues`] if it ends
    /// the loop, `take_turn` with the last turn, or this function after the last event.
    #[inline(always)]
    #[allow(clippy::inline_always)] // The body of the event loop.
    fn cycle<const OBSERVED: bool>(
        &mut self,
        time: Cycle,
        pause: Cycle,
        lines: &mut dyn PortIo,
        observer: &mut dyn Observer,
    ) -> bool {
        let bucket = self.fabric.events.step_to(time);
        // A microengine that runs ahead moves it to a later cycle only if nothing else happens
        // before that, so after the last event of this cycle.
        self.fabric.now = time;
        self.skip_policy.handled += 1;
        let mut pending = self.fabric.events.pending_in(bucket);
        loop {
            if !pending.has_only_turns() {
                self.event::<OBSERVED>(bucket, pending, lines);
                if !self.cycle_continues::<OBSERVED>(bucket, pause, observer) {
                    return false;
                }
                pending = self.fabric.events.pending_in(bucket);
            } else if pending.is_none() {
                // Only microengines read the time of the next event, so it is determined when their
                // turns are taken, or here.
                self.fabric.events.leave();
                return true;
            } else {
                let me = self.fabric.events.take_turn(bucket, pending);
                self.turn::<OBSERVED>(me);
                if !self.cycle_continues::<OBSERVED>(bucket, pause, observer) {
                    return false;
                }
                pending = self.fabric.events.pending_in(bucket);
                if pending.is_none() {
                    return true;
                }
            }
        }
    }

    /// Whether the cycle continues. Nothing may happen after a fault, so that state and counts are
    /// those of the faulting cycle.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    fn cycle_continues<const OBSERVED: bool>(
        &mut self,
        bucket: usize,
        pause: Cycle,
        observer: &mut dyn Observer,
    ) -> bool {
        if OBSERVED && self.fabric.trace.is_full() {
            self.fabric.events.leave_if_empty(bucket);
            // Events that a microengine running alone records beyond a pause, or beyond the end,
            // which a departing frame can bring closer, are not reported yet.
            let sure = self.final_before().min(self.fabric.horizon).min(pause);
            self.fabric.trace.flush(sure, observer);
        }
        if self.fabric.checks.stands() {
            self.fabric.events.leave_if_empty(bucket);
            return false;
        }
        true
    }

    /// The cycle before which no more trace events can occur. If no event is pending, what lies
    /// ahead is not part of the run.
    fn final_before(&self) -> Cycle {
        if self.fabric.events.is_empty() {
            return self.fabric.now + 1;
        }
        self.fabric.events.next_time()
    }

    /// Handles the first event of a cycle that has events other than turns.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    fn event<const OBSERVED: bool>(
        &mut self,
        bucket: usize,
        pending: Pending,
        lines: &mut dyn PortIo,
    ) {
        // The queue of most events is a constant here, so taking them is cheap and only a few kinds
        // need to be distinguished.
        let may_write = if pending.has(DATA) {
            let event = self.fabric.events.take(bucket, DATA, pending);
            self.handle_data::<OBSERVED>(event)
        } else if pending.has(SIGNALS) {
            let event = self.fabric.events.take(bucket, SIGNALS, pending);
            self.handle_signal::<OBSERVED>(event);
            false
        } else if pending.has(UNITS) {
            let event = self.fabric.events.take(bucket, UNITS, pending);
            self.handle_unit::<OBSERVED>(event);
            true
        } else {
            self.handle_other(bucket, lines);
            true
        };
        // A microengine, or a register write by a loader, may have put a word on a ring. Idle tasks
        // of the general-purpose core post no poll until then, since polls that find nothing need
        // no events. A microengine's turn does not reach any unit.
        if may_write && self.units.scratch.is_ring_written() {
            self.wake_ring_pollers();
        }
    }

    /// Wakes the tasks that wait for words on rings.
    #[inline(never)]
    fn wake_ring_pollers(&mut self) {
        self.units.scratch.take_ring_written();
        self.gpp.wake_pollers(&self.units.scratch, &mut self.fabric);
    }

    /// Takes a microengine's turn, which is not an event in the queue but is represented there for
    /// the other units.
    #[inline]
    fn turn<const OBSERVED: bool>(&mut self, me: u8) {
        let microengine = &mut self.microengines[usize::from(me)];
        if OBSERVED {
            self.fabric.trace.begin_turn();
            microengine.run(&mut self.fabric);
        } else {
            microengine.run_unobserved(&mut self.fabric);
        }
    }

    /// Moves data to or from a microengine. Returns whether a unit received some.
    #[inline(always)]
    #[allow(clippy::inline_always)] // The body of the event loop.
    fn handle_data<const OBSERVED: bool>(&mut self, event: Event) -> bool {
        match event {
            Event::Push(slot, me) => self.pushed::<OBSERVED>(slot, me),
            Event::Pull(slot, me) => {
                self.pulled::<OBSERVED>(slot, me);
                return true;
            }
            _ => unreachable!("an event in another queue than its own"),
        }
        false
    }

    /// Delivers a signal, or anything else but data, to a microengine.
    #[inline(always)]
    #[allow(clippy::inline_always)] // The body of the event loop.
    fn handle_signal<const OBSERVED: bool>(&mut self, event: Event) {
        match event {
            Event::Signal {
                me,
                context,
                signal,
                by,
            } => self.signal::<OBSERVED>(me, context, signal, by),
            event => self.handle_rarely(event),
        }
    }

    /// Delivers a signal that is not part of a command to a context.
    #[inline(never)]
    fn signal<const OBSERVED: bool>(&mut self, me: u8, context: u8, signal: u8, by: SignalSource) {
        let fabric = &mut self.fabric;
        if OBSERVED {
            trace_signals(me, context, 1 << signal, by.cause(), fabric);
        }
        fabric.raisers.note(fabric.now, (me, context, signal), by);
        self.microengines[usize::from(me)].signal(context, 1 << signal, fabric);
    }

    /// Delivers anything but data and signals to a microengine.
    #[inline(never)]
    fn handle_rarely(&mut self, event: Event) {
        let fabric = &mut self.fabric;
        match event {
            Event::Timer { me, context } => {
                self.microengines[usize::from(me)].timer(context, fabric);
            }
            Event::NnPut {
                me,
                index,
                value,
                ring,
            } => {
                self.microengines[usize::from(me)].nn_put(index, value, ring, fabric);
            }
            Event::StallOver(me) => self.microengines[usize::from(me)].stall_over(fabric),
            _ => unreachable!("an event in another queue than its own"),
        }
    }

    /// Handles an event of a unit or of a command bus.
    #[inline(always)]
    #[allow(clippy::inline_always)] // The body of the event loop.
    fn handle_unit<const OBSERVED: bool>(&mut self, event: Event) {
        match event {
            Event::Arrive(slot) => self.arrive::<OBSERVED>(slot),
            Event::Turn(target) => self.units.turn(target, &mut self.fabric),
            Event::CommandBus(cluster) => {
                cold_path();
                self.fabric.command_bus(cluster);
            }
            // Kept separate, so that three comparisons cover the rest.
            event => {
                cold_path();
                self.handle_unit_rarely(event);
            }
        }
    }

    /// Handles a command that a unit has served.
    #[inline(never)]
    fn handle_unit_rarely(&mut self, event: Event) {
        let fabric = &mut self.fabric;
        match event {
            Event::Ready(slot) => {
                let outside = UnitSurroundings {
                    registers: &mut self.microengines,
                    core: &mut self.gpp,
                };
                self.units.ready(slot, fabric, outside);
            }
            _ => unreachable!("an event in another queue than its own"),
        }
    }

    /// Handles an event of the media interface or of the general-purpose core.
    #[inline(never)]
    fn handle_other(&mut self, bucket: usize, lines: &mut dyn PortIo) {
        let fabric = &mut self.fabric;
        let pending = fabric.events.pending_in(bucket);
        let event = fabric.events.take(bucket, OTHERS, pending);
        fabric.events.leave_if_empty(bucket);
        match event {
            Event::Media(code) => {
                self.skip_policy.outside += u64::from(self.units.msf.event(code, fabric, lines));
                self.skip_policy.end_before(fabric.horizon);
                fabric.events.set_alarm(self.skip_policy.wake_at);
            }
            Event::Gpp(task) | Event::Directed(task) => {
                self.skip_policy.outside += 1;
                if !self.open && self.gpp.stop_alone(task, &fabric.events) {
                    return;
                }
                self.gpp.event(task, fabric, &mut self.units);
            }
            _ => unreachable!("an event in another queue than its own"),
        }
    }

    fn arrive<const OBSERVED: bool>(&mut self, slot: CommandId) {
        let fabric = &mut self.fabric;
        if OBSERVED && fabric.trace.wants(TraceEventKind::Queued) {
            let command = fabric.flight(slot).command;
            let target = fabric
                .buses
                .target_of(command.op.info().unit, command.address);
            fabric.trace.record(fabric.now, || TraceEvent::Queued {
                target,
                slot,
                command,
            });
        }
        self.units.arrive(slot, fabric);
    }

    /// Takes data from the OUT registers, raises the pull signals and lets the unit continue.
    fn pulled<const OBSERVED: bool>(&mut self, slot: CommandId, me: u8) {
        let fabric = &mut self.fabric;
        if fabric.are_late() {
            self.pulled_late::<OBSERVED>(slot);
        } else {
            if OBSERVED {
                trace_pull(slot, fabric);
            }
            self.microengines[usize::from(me)].pulled(slot, fabric);
        }
        self.units.pulled(slot, &mut self.fabric);
    }

    /// Completes the pull of a command on a chip on which signals may be delayed.
    #[cold]
    #[inline(never)]
    fn pulled_late<const OBSERVED: bool>(&mut self, slot: CommandId) {
        let fabric = &mut self.fabric;
        let command = fabric.flight(slot).command;
        let me = &mut self.microengines[usize::from(command.transfer_me)];
        let signals = command.pull_signals;
        let late = if signals == 0 { 0 } else { fabric.late(slot) };
        if late == 0 {
            if OBSERVED {
                trace_pull(slot, fabric);
            }
            return me.pulled(slot, fabric);
        }
        let flight = fabric.flight_mut(slot);
        let data = &mut flight.data[..flight.words as usize];
        me.pull(command.transfer_kind, command.transfer, data);
        fabric.signal_at(fabric.now + late, &command, signals);
    }

    /// Writes data to the IN registers, raises the push signals and ends the command.
    fn pushed<const OBSERVED: bool>(&mut self, slot: CommandId, me: u8) {
        let fabric = &mut self.fabric;
        if OBSERVED {
            trace_push(slot, fabric);
        }
        self.microengines[usize::from(me)].pushed(slot, fabric);
        if OBSERVED {
            fabric.retire(slot);
        } else {
            fabric.retire_untraced(slot);
        }
    }
}

impl TransferRegisters for Vec<Box<dyn Core>> {
    fn release_registers(&mut self, me: u8, register: u8, words: u8) {
        if let Some(microengine) = self.get_mut(usize::from(me)) {
            microengine.claim_in_registers(TransferKind::S, register, words);
        }
    }
}

/// Records signals for observers.
#[inline]
fn trace_signals(me: u8, context: u8, signals: u16, cause: Cause, fabric: &mut Fabric) {
    let raised = TraceEvent::Signal {
        me,
        context,
        signals,
        cause,
    };
    fabric.trace.put(fabric.now, raised);
}

/// Records the signals that a command raises once its data has been pulled.
fn trace_pull(slot: CommandId, fabric: &mut Fabric) {
    let command = &fabric.flight(slot).command;
    if command.pull_signals != 0 {
        let (me, to) = (command.transfer_me, command.signal_context);
        let (signals, cause) = (command.pull_signals, Cause::of(command));
        trace_signals(me, to, signals, cause, fabric);
    }
}

/// Records pushed data and the signals that its command raises.
fn trace_push(slot: CommandId, fabric: &mut Fabric) {
    let flight = fabric.flight(slot);
    let command = &flight.command;
    let (me, to, signals) = (
        command.transfer_me,
        command.signal_context,
        command.push_signals,
    );
    let cause = match (flight.is_unsolicited(), flight.data[0]) {
        (false, _) => Cause::of(command),
        (true, NULL_STATUS) => Cause::FreelistTimeout,
        (true, _) => Cause::Mpacket,
    };
    let pushed = TraceEvent::Pushed {
        me,
        kind: command.transfer_kind,
        register: command.transfer,
        words: flight.words,
        cause,
    };
    fabric.trace.put(fabric.now, pushed);
    if signals != 0 {
        trace_signals(me, to, signals, cause, fabric);
    }
}
