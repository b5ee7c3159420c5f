//! The view of a chip at rest: its state and everything in flight.

use std::cell::OnceCell;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::CommandId;
use npsim_chip::kernel::trace_event::Cause;

use crate::flights::{self, Flight};
use crate::liveness::{Outlook, Senders};

/// A chip in its present state.
///
/// Microengines run ahead of the chip while it runs. If a run has ended at a cycle
/// ([`Stop::Reached`](npsim_chip::chip::Stop::Reached)), all of the state is that at this cycle; at
/// a pause the microengines may be later than [`Self::now`].
#[derive(Debug)]
pub struct Inspect<'a> {
    chip: &'a Chip,
    /// All events known so far, in order; computed on first use, since most questions concern
    /// registers and memory.
    pending: OnceCell<Vec<(Cycle, Event)>>,
    flights: OnceCell<Vec<Flight>>,
    /// What contexts may still raise for others, for each outlook. Computing it searches all
    /// programs, so it is kept.
    senders_at_rest: OnceCell<Senders>,
    senders_if_it_goes_on: OnceCell<Senders>,
}

impl<'a> Inspect<'a> {
    /// A view of the chip in its present state.
    #[must_use]
    pub const fn new(chip: &'a Chip) -> Self {
        Self {
            chip,
            pending: OnceCell::new(),
            flights: OnceCell::new(),
            senders_at_rest: OnceCell::new(),
            senders_if_it_goes_on: OnceCell::new(),
        }
    }

    /// The chip.
    #[must_use]
    pub const fn chip(&self) -> &'a Chip {
        self.chip
    }

    /// The pending events, in order.
    pub(crate) fn pending(&self) -> &[(Cycle, Event)] {
        self.pending.get_or_init(|| {
            let mut events = self.chip.fabric().events.in_order();
            events.retain(|(due, event)| !self.is_unsent(*due, *event));
            events
        })
    }

    /// Whether an event is a signal that is yet to be sent. Microengines may have run beyond the
    /// chip's cycle, and what they sent there has not happened yet.
    fn is_unsent(&self, due: Cycle, event: Event) -> bool {
        let Event::Signal { by, .. } = event else {
            return false;
        };
        let latency = self.chip.profile().local_signal_latency();
        matches!(by.cause(), Cause::Thread { .. }) && due > self.now() + latency
    }

    /// The current cycle: at a pause, that of the pause, which may be later than the last event.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.chip.counts_complete_until()
    }

    /// All commands in flight, in order of issue.
    #[must_use]
    pub fn flights(&self) -> &[Flight] {
        self.flights
            .get_or_init(|| flights::of(self.chip, self.pending()))
    }

    /// What contexts may still raise for others.
    pub(crate) fn senders(&self, outlook: Outlook) -> &Senders {
        let found = match outlook {
            Outlook::AtRest => &self.senders_at_rest,
            Outlook::MayContinue => &self.senders_if_it_goes_on,
        };
        found.get_or_init(|| Senders::of(self.chip, outlook))
    }

    /// A command by its number, if it is in flight.
    #[must_use]
    pub fn flight(&self, slot: CommandId) -> Option<&Flight> {
        self.flights().iter().find(|it| it.slot == slot)
    }
}
