//! Commands in flight, and where each of them is.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::{BusCommand, CommandId};
use npsim_chip::kernel::target::CommandTarget;

/// Where a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLocation {
    /// In its microengine's command FIFO, before the command bus.
    Fifo {
        /// Since when.
        since: Cycle,
        /// The commands before it in the FIFO, oldest first.
        before: Vec<CommandId>,
    },
    /// On the command bus.
    CommandBus {
        /// When it reaches its unit's inlet.
        arrives: Cycle,
    },
    /// In the inlet of its unit or a queue behind it.
    Queue {
        /// The commands that are served before it. In SRAM a command whose data, port or bus is not there
        /// at its turn lets others pass, but none that concerns the same longwords or the same entry of
        /// the Q-array.
        before: Vec<CommandId>,
        /// When the data is there that the unit has asked its OUT registers for.
        data: Option<Cycle>,
    },
    /// In its unit, which takes data from the OUT registers, and has kept no place in the queue for it.
    Data {
        /// When the last longword is taken.
        until: Cycle,
    },
    /// In service, or booked behind commands of the unit that are not done.
    Served {
        /// When it acts.
        until: Cycle,
        /// The commands of the same unit that act before it.
        before: Vec<CommandId>,
    },
    /// Past its unit: the data or the signal is on the way to the microengine.
    Result {
        /// When the last longword is in the IN registers and the signal is raised.
        until: Cycle,
    },
    /// With its unit, which has not booked the next step yet.
    Unit,
}

/// A command in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The number, by which other commands name it; reused after the command's end.
    pub slot: CommandId,
    /// The command.
    pub command: BusCommand,
    /// No instruction issued it: a unit pushes data on its own, as the media interface
    /// does to a thread on a freelist.
    pub unasked: bool,
    /// The cycle at which it was issued.
    pub issued: Cycle,
    /// The inlet that it goes to.
    pub target: CommandTarget,
    /// Where it is.
    pub location: CommandLocation,
    /// The data that it has with it: pulled from OUT registers, or on its way to IN
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

    /// The cycle that is known of its next step.
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

    /// The commands that are known to come before it.
    #[must_use]
    pub fn before(&self) -> &[CommandId] {
        match &self.location {
            CommandLocation::Fifo { before, .. }
            | CommandLocation::Queue { before, .. }
            | CommandLocation::Served { before, .. } => before,
            _ => &[],
        }
    }

    /// Where it is, in words: `in the queue of sram0, 3 before it`.
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

    /// What it is, in words: `sram[read, 2] of ME 4 context 3, issued 31 cycles ago`.
    #[must_use]
    pub fn text(&self, now: Cycle) -> String {
        let command = &self.command;
        let info = command.op.info();
        if self.unasked {
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

/// The events that a command waits for.
#[derive(Clone, Copy, Default)]
struct Steps {
    arrive: Option<Cycle>,
    pull: Option<Cycle>,
    ready: Option<Cycle>,
    push: Option<Cycle>,
}

/// All commands in flight, those issued first at the front.
pub(crate) fn of(chip: &Chip, pending: &[(Cycle, Event)]) -> Vec<Flight> {
    let fabric = &chip.fabric();
    let mut flights: Vec<Flight> = fabric
        .slots_in_use()
        .map(|(slot, flight)| {
            let words = usize::from(flight.words).min(flight.data.len());
            Flight {
                slot,
                command: flight.command,
                unasked: flight.is_unsolicited(),
                issued: flight.issued,
                target: (fabric.buses)
                    .target_of(flight.command.op.info().unit, flight.command.address),
                location: CommandLocation::Unit,
                data: flight.data[..words].to_vec(),
            }
        })
        .collect();
    // The flights are still ascending by slot.
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
            // The data has been requested and is not there.
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
