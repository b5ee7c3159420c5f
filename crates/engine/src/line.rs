//! The line of code that a context is on, and what the interpreter's loop keeps account of.

use serde::{Deserialize, Serialize};

use crate::ahead::Thrown;
use crate::operation::Op;
use crate::turn::penalty;
use npsim_chip::Cycle;
use npsim_chip::kernel::journal::Journal;
use npsim_chip::kernel::trace_event::TraceEvent;

/// The line of code that a context is on, and the account of those before it in the
/// interpreter's loop. It is apart from the loop, which needs the processor's registers for
/// other things.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Line {
    /// When the context came to it, and whether the instruction before set the codes.
    pub arrived: Cycle,
    pub with_codes: bool,
    /// Its first address in the interpreter's loop, where somebody watches.
    #[serde(skip)]
    from: usize,
    /// What is to be added to an address for its cycle.
    #[serde(skip)]
    ahead: Cycle,
}

impl Line {
    /// The interpreter's loop begins at an address.
    #[inline]
    pub fn begin<const OBSERVED: bool>(&mut self, from: usize, cycle: Cycle) {
        if OBSERVED {
            self.from = from;
        }
        self.ahead = cycle.wrapping_sub(from as Cycle);
    }

    /// The cycle of the instruction at an address of the line.
    #[inline]
    pub fn cycle_of(&self, at: usize) -> Cycle {
        self.ahead.wrapping_add(at as Cycle)
    }

    /// Takes the branch at an address; gives the slots that are thrown away.
    #[inline]
    pub fn branch(
        &mut self,
        (op, at): (&Op, usize),
        (deferred, sets_codes): (usize, bool),
        thrown: &mut Thrown,
    ) -> Cycle {
        let cycle = self.cycle_of(at);
        let slots = penalty(op, cycle == self.arrived, self.with_codes);
        let next = cycle + deferred as Cycle + 1;
        if slots != 0 {
            thrown.add(next, slots);
        }
        self.with_codes = sets_codes && slots == 0;
        self.arrived = next + slots;
        self.ahead = self.arrived.wrapping_sub(Cycle::from(op.d));
        slots
    }

    /// The same as [`Self::branch`] where somebody watches.
    pub fn branch_in_sight(
        &mut self,
        (op, at): (&Op, usize),
        (deferred, sets_codes): (usize, bool),
        who: (u8, u8),
        (journal, thrown): (&mut Journal, &mut Thrown),
    ) -> Cycle {
        self.tell(who, at + deferred + 1, journal);
        let slots = self.branch((op, at), (deferred, sets_codes), thrown);
        self.from = op.d as usize;
        if slots != 0 {
            let ((me, context), pc) = (who, at as u16);
            let aborted = TraceEvent::Aborted {
                me,
                context,
                pc,
                slots,
            };
            journal.put(self.arrived - slots, aborted);
        }
        slots
    }

    /// Tells of the instructions of the line up to an address.
    pub fn tell(&self, (me, context): (u8, u8), to: usize, journal: &mut Journal) {
        if to != self.from {
            let issued = TraceEvent::Issued {
                me,
                context,
                pc: self.from as u16,
                count: (to - self.from) as u16,
            };
            journal.put(self.ahead.wrapping_add(self.from as Cycle), issued);
        }
    }
}
