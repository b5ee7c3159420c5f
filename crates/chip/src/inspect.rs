//! A look at a chip that stands, for a debugger: registers and who has them, memories,
//! rings and queues, commands under way, buffers of the media interface.
//!
//! Everything is borrowed from a [`Chip`] and changes nothing in it, and a run that
//! nobody looks at pays nothing. An [`Inspect`] is made where the chip has come to
//! rest; it puts the commands under way in order once and answers from that.
//!
//! Microengines run ahead of the chip while it runs. Where a run has ended at a cycle
//! ([`Stop::Reached`](crate::chip::Stop::Reached)) all of it is the state at that cycle;
//! at a pause the microengines may stand later than [`Inspect::now`].

mod flights;
mod media;
mod memory;
mod microengine;
mod why;
mod why_text;

pub use flights::{Flight, Place};
pub use media::{BufferHolder, ListedThread, RbufView, TbufView};
pub use memory::{Memory, NeighbourRing, QueueView, RingView};
pub use microengine::{MicroengineView, NamedCsr, RegisterView};
pub use why::{Asleep, Missing, Sender, Source, Why};

use std::cell::OnceCell;

use crate::Cycle;
use crate::chip::Chip;
use crate::kernel::event::Event;
use crate::kernel::trace_event::Cause;

/// A chip as it stands.
#[derive(Debug)]
pub struct Inspect<'a> {
    chip: &'a Chip,
    /// All that will happen as far as it is known, in its order; found when it is first
    /// asked for, since most questions are about registers and memory.
    pending: OnceCell<Vec<(Cycle, Event)>>,
    flights: OnceCell<Vec<Flight>>,
}

impl Chip {
    /// Looks at the chip. Make one where it stands, and ask that.
    #[must_use]
    pub fn inspect(&self) -> Inspect<'_> {
        Inspect {
            chip: self,
            pending: OnceCell::new(),
            flights: OnceCell::new(),
        }
    }
}

impl<'a> Inspect<'a> {
    /// The chip.
    #[must_use]
    pub const fn chip(&self) -> &'a Chip {
        self.chip
    }

    fn pending(&self) -> &[(Cycle, Event)] {
        self.pending.get_or_init(|| {
            let mut events = self.chip.fabric.events.in_order();
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
}
