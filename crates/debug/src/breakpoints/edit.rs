//! Manual changes by the user.

use npsim_chip::Cycle;

use crate::expression::Lvalue;
use crate::names::Memory;
use crate::register::PhysicalRegister;
use crate::thread::Thread;

/// A manual change of a register or a longword at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The cycle before which the change was made.
    pub cycle: Cycle,
    /// The changed location.
    pub location: Lvalue,
    /// The context whose register it is, or whose microengine's local memory.
    pub thread: Thread,
    /// The value before the change.
    pub before: u32,
    /// The value after the change.
    pub value: u32,
}

impl Edit {
    /// Whether the change is of this location, as named by a context.
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
