//! The view of a chip that stands: what it holds and what is in flight on it.

use std::cell::OnceCell;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::CommandId;
use npsim_chip::kernel::trace_event::Cause;

use crate::flights::{self, Flight};
use crate::liveness::{Outlook, Senders};

/// A chip as it stands.
///
/// Microengines run ahead of the chip while it runs. Where a run has ended at a cycle
/// ([`Stop::Reached`](npsim_chip::chip::Stop::Reached)) all of it is the state at that cycle;
/// at a pause the microengines may stand later than [`Self::now`].
#[derive(Debug)]
pub struct Inspect<'a> {
    chip: &'a Chip,
    /// All that will happen as far as it is known, in its order; found when it is first
    /// asked for, since most questions are about registers and memory.
    pending: OnceCell<Vec<(Cycle, Event)>>,
    flights: OnceCell<Vec<Flight>>,
    /// What contexts may still raise for others, for each outlook. All programs are searched for
    /// it, so it is kept.
    senders_at_rest: OnceCell<Senders>,
    senders_if_it_goes_on: OnceCell<Senders>,
}

impl<'a> Inspect<'a> {
    /// The chip as it stands.
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

    /// The events that are pending, in their order.
    pub(crate) fn pending(&self) -> &[(Cycle, Event)] {
        self.pending.get_or_init(|| {
            let mut events = self.chip.fabric().events.in_order();
            events.retain(|(due, event)| !self.is_unsent(*due, *event));
            events
        })
    }

    /// Whether an event is a signal that is yet to be sent. Microengines may have gone on beyond
    /// the cycle at which the chip stands, and what they sent there has not happened.
    fn is_unsent(&self, due: Cycle, event: Event) -> bool {
        let Event::Signal { by, .. } = event else {
            return false;
        };
        let latency = self.chip.profile().local_signal_latency();
        matches!(by.cause(), Cause::Thread { .. }) && due > self.now() + latency
    }

    /// The cycle at which it stands: where it pauses, if it does, which may be later than its last
    /// event.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.chip.counted_to()
    }

    /// All commands in flight, those issued first at the front.
    #[must_use]
    pub fn flights(&self) -> &[Flight] {
        self.flights
            .get_or_init(|| flights::of(self.chip, self.pending()))
    }

    /// What contexts may still raise for others.
    pub(crate) fn senders(&self, outlook: Outlook) -> &Senders {
        let found = match outlook {
            Outlook::AtRest => &self.senders_at_rest,
            Outlook::GoesOn => &self.senders_if_it_goes_on,
        };
        found.get_or_init(|| Senders::of(self.chip, outlook))
    }

    /// A command by its number, if it is in flight.
    #[must_use]
    pub fn flight(&self, slot: CommandId) -> Option<&Flight> {
        self.flights().iter().find(|it| it.slot == slot)
    }
}
