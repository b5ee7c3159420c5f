//! The history of a context since a cycle, from trace events.

use npsim_isa::CONTEXTS;
use std::mem;

use npsim_chip::Cycle;
use npsim_chip::core::Core;
use npsim_chip::kernel::trace_event::ContextState;

/// A context's present state, with what an observer collects while it lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContextSpan<T> {
    pub doing: ContextState,
    /// The next instruction of a context that executes, else the one with which it yielded.
    pub pc: u16,
    /// The first cycle of it.
    pub since: Cycle,
    /// Empty at the beginning.
    pub collected: T,
}

impl<T: Default> ContextSpan<T> {
    /// The spans of all contexts of a microengine as it stands.
    pub fn all(me: &dyn Core, now: Cycle) -> [Self; CONTEXTS as usize] {
        std::array::from_fn(|context| {
            let (doing, pc) = me.doing(context as u8);
            Self::new(now, doing, pc)
        })
    }

    /// Begins another state, and gives the one that ends.
    #[inline]
    pub fn change(&mut self, at: Cycle, doing: ContextState, pc: u16) -> Self {
        mem::replace(self, Self::new(at, doing, pc))
    }

    #[inline]
    fn new(since: Cycle, doing: ContextState, pc: u16) -> Self {
        Self {
            doing,
            pc,
            since,
            collected: T::default(),
        }
    }
}
