//! Issue of commands: from the instruction until the command bus takes them to their unit.

use super::flights::MAX_IN_FLIGHT;
use super::{BusCommand, CommandId, Fabric, Issue, UNSOLICITED};
use crate::Cycle;
use crate::kernel::bus::{Admission, HeldCommand};
use crate::kernel::check::Fault;
use crate::kernel::event::Event;
use crate::kernel::free_slots::FreeSlots;
use crate::kernel::target::CommandTarget;
use crate::kernel::trace_event::{TraceEvent, TraceEventKind};

impl Fabric {
    /// Issues a command of a microengine at its local time `now`, which is never before
    /// [`Fabric::now`] nor after the next pending event.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Most of its callers' bodies.
    pub fn issue(&mut self, now: Cycle, command: &BusCommand) -> Issue {
        let (unit, address) = (command.op.info().unit, command.address);
        let target = self.buses.target_of(unit, address);
        if self.try_issue(now, command, (target, address)) {
            Issue::Accepted(target)
        } else {
            Issue::Held
        }
    }

    /// Issues a command that is complete except for its address. Returns false if its microengine's
    /// FIFO is full, in which case the microengine stalls.
    #[must_use]
    #[inline(always)]
    #[allow(clippy::inline_always)] // Most of its callers' bodies.
    pub fn try_issue(
        &mut self,
        now: Cycle,
        command: &BusCommand,
        to: (CommandTarget, u32),
    ) -> bool {
        self.issue_fast(now, command, to) || self.issue_queued(now, command, to)
    }

    /// Issues a command that gets the bus immediately; false if it has to be queued. If an observer
    /// wants events of commands or buses, no cluster is open, so that every command is queued.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Nearly all of sending a command.
    fn issue_fast(
        &mut self,
        now: Cycle,
        command: &BusCommand,
        (target, address): (CommandTarget, u32),
    ) -> bool {
        debug_assert_eq!(self.buses.is_watched(), self.trace.wants_commands());
        let Some(free) = self.free.first() else {
            return false;
        };
        // `now` may be ahead of the chip's own time, but not beyond the next event: nothing that
        // this booking depends on can still happen.
        let Some(arrival) = self.buses.try_grant(now, command.me, target) else {
            return false;
        };
        let slot = self.free.take_from(free);
        self.flights[slot].fill(command, address, now);
        self.events.post(arrival, Event::Arrive(slot));
        true
    }

    /// Issues a command that may have to wait, or whose events an observer wants. It nearly always
    /// waits only for the bus.
    #[inline(never)]
    fn issue_queued(
        &mut self,
        now: Cycle,
        command: &BusCommand,
        (target, address): (CommandTarget, u32),
    ) -> bool {
        let Some(free) = self.free.first() else {
            return self.issue_slow(now, command, (target, address));
        };
        let held = HeldCommand::new(FreeSlots::lowest(free), target, now);
        let Some((cluster, at)) = self.buses.try_queue(command.me, &held) else {
            return self.issue_slow(now, command, (target, address));
        };
        let slot = self.free.take_from(free);
        self.flights[slot].fill(command, address, now);
        if let Some(at) = at {
            self.events.post(at, Event::CommandBus(cluster as u8));
        }
        true
    }

    /// Issues a command that may have to wait for more than the bus, or whose events an observer
    /// wants.
    #[inline(never)]
    fn issue_slow(
        &mut self,
        now: Cycle,
        command: &BusCommand,
        (target, address): (CommandTarget, u32),
    ) -> bool {
        let me = command.me;
        if self.buses.is_full(now, me) {
            return false;
        }
        if self.free.first().is_none() && self.flights.is_full() {
            self.no_room(now, Some(command));
            return false;
        }
        let admission = self.buses.admit(now, me, target, &mut self.trace);
        let slot = self.place(command, address, now);
        if self.trace.wants(TraceEventKind::Command) {
            self.trace_command(now, slot);
        }
        match admission {
            Admission::Arrives(arrival) => self.events.post(arrival, Event::Arrive(slot)),
            Admission::Waits => {
                if let Some((cluster, at)) = self.buses.hold(now, me, slot, target) {
                    self.events.post(at, Event::CommandBus(cluster as u8));
                }
            }
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn trace_command(&mut self, now: Cycle, slot: CommandId) {
        let command = self.flight(slot).command;
        self.trace
            .record(now, || TraceEvent::Command { slot, command });
    }

    /// Opens a command that no microengine issued, for data that a unit pushes on its own.
    pub fn open(&mut self, command: BusCommand) -> CommandId {
        let slot = self.place(&command, command.address, self.now);
        self.flight_mut(slot).unit_scratch = UNSOLICITED;
        slot
    }

    /// Puts a command into the lowest free slot.
    #[inline]
    fn place(&mut self, command: &BusCommand, address: u32, issued: Cycle) -> CommandId {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.grow(),
        };
        self.flights[slot].fill(command, address, issued);
        slot
    }

    /// Adds a slot that is in use.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> CommandId {
        self.flights.grow().unwrap_or_else(|| {
            // The run ends here, so it does not matter which slot the command shares.
            self.no_room(self.now, None);
            CommandId(MAX_IN_FLIGHT as u32 - 1)
        })
    }

    /// Raises the fault of a command of a microengine, or of a unit that pushes on its own, for
    /// which there is no slot.
    #[cold]
    #[inline(never)]
    fn no_room(&mut self, now: Cycle, command: Option<&BusCommand>) {
        self.checks.raise(Fault {
            check: None,
            cycle: now,
            me: command.map(|it| it.me),
            context: command.map(|it| it.context),
            pc: command.map(|it| it.pc),
            message: format!("more than {MAX_IN_FLIGHT} commands are in flight"),
            notes: Vec::new(),
            help: Some(
                "shorten the queues of the chip profile (`inlet_depth`, `fifo_depth`, `command_fifo_depth`)"
                    .to_owned(),
            ),
            also: Vec::new(),
        });
    }

    /// Records that a unit has taken a command from its inlet. Commands that waited for room are
    /// sent, and microengines that stalled on them continue.
    #[inline]
    pub fn release(&mut self, target: CommandTarget) {
        if self.buses.release(target) {
            self.arbitrate_in_turn(target);
        }
    }

    /// Lets the clusters arbitrate in turn after a target has taken a command.
    #[inline(never)]
    fn arbitrate_in_turn(&mut self, target: CommandTarget) {
        // Kept separate, so that nothing has to be saved if no cluster can arbitrate.
        if let Some(first) = self.buses.promise(target) {
            self.arbitrate_all(first);
        }
    }

    #[inline(never)]
    fn arbitrate_all(&mut self, first: usize) {
        let count = self.buses.clusters();
        // The place is promised to `first`, but if that cluster cannot use this bus clock, another
        // one may use the room at other units.
        for step in 0..count {
            self.arbitrate((first + step) % count);
        }
    }

    /// Lets a microengine whose FIFO was full issue the command that it holds again.
    #[cold]
    #[inline(never)]
    fn unstall(&mut self, me: usize) {
        if let Some(at) = self.buses.unstall(me, self.now) {
            self.events.post(at, Event::Microengine(me as u8));
        }
    }

    /// Arbitrates among the commands that wait for a cluster's bus.
    pub fn command_bus(&mut self, cluster: u8) {
        self.buses.clear_posted_arbitration(cluster as usize);
        self.arbitrate(cluster as usize);
    }

    #[inline]
    fn arbitrate(&mut self, cluster: usize) {
        if self.buses.may_arbitrate(cluster) {
            self.arbitrate_now(cluster);
        }
    }

    #[inline(never)]
    fn arbitrate_now(&mut self, cluster: usize) {
        let Some((slot, arrival)) = self.buses.grant_fast(self.now, cluster) else {
            return self.arbitrate_slow(cluster);
        };
        self.events.post(arrival, Event::Arrive(slot));
        // One grant per bus clock; the next one takes another arbitration.
        if self.buses.may_arbitrate(cluster) {
            self.plan(cluster);
        }
    }

    /// Arbitrates a cluster whose next command may have to wait, or that has more than one command
    /// queued.
    #[inline(never)]
    fn arbitrate_slow(&mut self, cluster: usize) {
        if let Some(grant) = self.buses.arbitrate(self.now, cluster, &mut self.trace) {
            self.events.post(grant.arrival, Event::Arrive(grant.slot));
            if grant.stalls {
                self.unstall(grant.me);
            }
        }
        if self.buses.may_arbitrate(cluster) {
            self.plan(cluster);
        }
    }

    /// Posts the next arbitration of a cluster that may arbitrate, if one of its commands could go.
    #[inline(never)]
    fn plan(&mut self, cluster: usize) {
        if let Some(at) = self.buses.plan(self.now, cluster) {
            self.events.post(at, Event::CommandBus(cluster as u8));
        }
    }
}
