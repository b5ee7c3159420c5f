//! Commands in flight and their locations.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::{BusCommand, CommandId};
use npsim_chip::kernel::target::CommandTarget;

/// The location of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLocation {
    /// In its microengine's command FIFO, before the command bus.
    Fifo {
        /// The cycle since which it waits.
        since: Cycle,
        /// The commands before it in the FIFO, oldest first.
        before: Vec<CommandId>,
    },
    /// On the command bus.
    CommandBus {
        /// The cycle in which it reaches its unit's inlet.
        arrives: Cycle,
    },
    /// In the inlet of its unit or a queue behind it.
    Queue {
        /// The commands that are served before it. In SRAM, a command whose data, port or bus is
        /// not available at its turn lets others pass, except those on the same longwords or the
        /// same Q-array entry.
        before: Vec<CommandId>,
        /// The cycle in which the data arrives that the unit has requested from the OUT registers.
        data: Option<Cycle>,
    },
    /// In its unit, which takes data from the OUT registers and has not reserved a place in the
    /// queue for it.
    Data {
        /// The cycle in which the last longword is taken.
        until: Cycle,
    },
    /// In service, or booked behind unfinished commands of the unit.
    Served {
        /// The cycle in which it takes effect.
        until: Cycle,
        /// The commands of the same unit that take effect before it.
        before: Vec<CommandId>,
    },
    /// Past its unit: the data or the signal is on the way to the microengine.
    Result {
        /// The cycle in which the last longword is in the IN registers and the signal is raised.
        until: Cycle,
    },
    /// In its unit, which has not booked the next step yet.
    Unit,
}

/// A command in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// Its number, by which other commands refer to it; reused after the command's end.
    pub slot: CommandId,
    /// The command.
    pub command: BusCommand,
    /// Whether no instruction issued it: a unit pushes data on its own, as the media interface does
    /// to a thread on a freelist.
    pub unsolicited: bool,
    /// The cycle at which it was issued.
    pub issued: Cycle,
    /// The inlet that it is sent to.
    pub target: CommandTarget,
    /// Its location.
    pub location: CommandLocation,
    /// The data that it carries: pulled from OUT registers, or on its way to IN
    /// registers.
    pub data: Vec<u32>,
}

impl Flight {
    /// Whether it raises a signal of a context.
    #[must_use]
    pub fn raises(&self, me: u8, context: u8, signal: u8) -> bool {
        let command = &self.command;
        (command.transfer_me, command.signal_context) == (me, context)
            && (command.pull_signals | command.push_signals) >> signal & 1 == 1
    }

    /// The known cycle of its next step.
    #[must_use]
    pub const fn due(&self) -> Option<Cycle> {
        match self.location {
            CommandLocation::CommandBus { arrives } => Some(arrives),
            CommandLocation::Data { until }
            | CommandLocation::Served { until, .. }
            | CommandLocation::Result { until } => Some(until),
            CommandLocation::Queue { data, .. } => data,
            CommandLocation::Fifo { .. } | CommandLocation::Unit => None,
        }
    }

    /// The commands known to come before it.
    #[must_use]
    pub fn before(&self) -> &[CommandId] {
        match &self.location {
            CommandLocation::Fifo { before, .. }
            | CommandLocation::Queue { before, .. }
            | CommandLocation::Served { before, .. } => before,
            _ => &[],
        }
    }

    /// Describes its location: `in the queue of sram0, 3 before it`.
    #[must_use]
    pub fn location_text(&self) -> String {
        let target = self.target.name();
        let before = match self.before().len() {
            0 => String::new(),
            n => format!(", {n} before it"),
        };
        match &self.location {
            CommandLocation::Fifo { .. } => {
                format!("in the command FIFO of its microengine{before}")
            }
            CommandLocation::CommandBus { arrives } => {
                format!("on the command bus, at {target} in cycle {arrives}")
            }
            CommandLocation::Queue { data: None, .. } => {
                format!("in the queue of {target}{before}")
            }
            CommandLocation::Queue {
                data: Some(data), ..
            } => {
                format!("in the queue of {target}{before}, its data there in cycle {data}")
            }
            CommandLocation::Data { until } => {
                format!("at {target}, which has its data in cycle {until}")
            }
            CommandLocation::Served { until, .. } => {
                format!("at {target}{before}, which is done with it in cycle {until}")
            }
            CommandLocation::Result { until } => {
                format!("served by {target}, back in cycle {until}")
            }
            CommandLocation::Unit => format!("at {target}"),
        }
    }

    /// Describes the command: `sram[read, 2] of ME 4 context 3, issued 31 cycles ago`.
    #[must_use]
    pub fn text(&self, now: Cycle) -> String {
        let command = &self.command;
        let info = command.op.info();
        if self.unsolicited {
            return "data that the media interface pushes".to_owned();
        }
        format!(
            "{}[{}, {}] of ME {} context {}, issued {} cycles ago",
            info.unit.info().name,
            info.name,
            command.count,
            command.me,
            command.context,
            now.saturating_sub(self.issued)
        )
    }
}

/// The pending events of a command.
#[derive(Clone, Copy, Default)]
struct Steps {
    arrive: Option<Cycle>,
    pull: Option<Cycle>,
    ready: Option<Cycle>,
    push: Option<Cycle>,
}

/// All commands in flight, in order of issue.
pub(crate) fn of(chip: &Chip, pending: &[(Cycle, Event)]) -> Vec<Flight> {
    let fabric = &chip.fabric();
    let mut flights: Vec<Flight> = fabric
        .slots_in_use()
        .map(|(slot, flight)| {
            let words = usize::from(flight.words).min(flight.data.len());
            Flight {
                slot,
                command: flight.command,
                unsolicited: flight.is_unsolicited(),
                issued: flight.issued,
                target: (fabric.buses)
                    .target_of(flight.command.op.info().unit, flight.command.address),
                location: CommandLocation::Unit,
                data: flight.data[..words].to_vec(),
            }
        })
        .collect();
    // The flights are still sorted by slot.
    let mut steps = vec![Steps::default(); flights.len()];
    let at =
        |flights: &[Flight], slot: CommandId| flights.binary_search_by_key(&slot, |it| it.slot);
    for (cycle, event) in pending {
        let (slot, set): (_, fn(&mut Steps) -> &mut Option<Cycle>) = match event {
            Event::Arrive(slot) => (*slot, |it| &mut it.arrive),
            Event::Pull(slot, _) => (*slot, |it| &mut it.pull),
            Event::Ready(slot) => (*slot, |it| &mut it.ready),
            Event::Push(slot, _) => (*slot, |it| &mut it.push),
            _ => continue,
        };
        if let Ok(at) = at(&flights, slot) {
            *set(&mut steps[at]) = Some(*cycle);
        }
    }
    for me in 0..chip.microengines().len() as u8 {
        let mut before = Vec::new();
        for (slot, since) in fabric.buses.held_of(me) {
            if let Ok(at) = at(&flights, slot) {
                flights[at].location = CommandLocation::Fifo {
                    since,
                    before: before.clone(),
                };
            }
            before.push(slot);
        }
    }
    let served: Vec<(CommandTarget, Cycle, CommandId)> = flights
        .iter()
        .zip(&steps)
        .filter_map(|(it, steps)| Some((it.target, steps.ready?, it.slot)))
        .collect();
    for (flight, steps) in flights.iter_mut().zip(&steps) {
        if steps.pull.is_some() {
            // The data has been requested and has not arrived.
            flight.data.clear();
        }
        if matches!(flight.location, CommandLocation::Fifo { .. }) {
            continue;
        }
        flight.location = if let Some(arrives) = steps.arrive {
            CommandLocation::CommandBus { arrives }
        } else if let Some(until) = steps.push {
            CommandLocation::Result { until }
        } else if let Some(before) = chip.units().ahead_of(flight.slot, flight.target) {
            CommandLocation::Queue {
                before,
                data: steps.pull.or(steps.ready),
            }
        } else if let Some(until) = steps.pull {
            CommandLocation::Data { until }
        } else if let Some(until) = steps.ready {
            let sooner =
                |it: &&(CommandTarget, Cycle, CommandId)| it.0 == flight.target && it.1 < until;
            CommandLocation::Served {
                until,
                before: served.iter().filter(sooner).map(|it| it.2).collect(),
            }
        } else {
            CommandLocation::Unit
        };
    }
    flights.sort_by_key(|it| (it.issued, it.slot));
    flights
}
