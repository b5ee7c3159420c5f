//! What the user has changed by hand.

use npsim_chip::Cycle;

use crate::expression::Lvalue;
use crate::names::Memory;
use crate::register::PhysicalRegister;
use crate::thread::Thread;

/// A register or a longword that was given another value at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The cycle before which that was.
    pub cycle: Cycle,
    /// What was changed.
    pub location: Lvalue,
    /// The context whose register it is, or of whose microengine the local memory.
    pub thread: Thread,
    /// Its value before.
    pub before: u32,
    /// Its value from then on.
    pub value: u32,
}

impl Edit {
    /// Whether it is of a place, as a context names it.
    #[must_use]
    pub fn is_of(&self, location: Lvalue, thread: Thread) -> bool {
        match (self.location, location) {
            (Lvalue::Word(Memory::Local, its), Lvalue::Word(Memory::Local, address)) => {
                (its, self.thread.me) == (address, thread.me)
            }
            (Lvalue::Word(..), Lvalue::Word(..)) => self.location == location,
            (Lvalue::Register(its, its_side), Lvalue::Register(operand, side)) => {
                let own = PhysicalRegister::of(its, its_side, self.thread.context);
                own.is_some()
                    && own == PhysicalRegister::of(operand, side, thread.context)
                    && self.thread.me == thread.me
            }
            _ => false,
        }
    }
}
