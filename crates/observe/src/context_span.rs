//! The state of a context since some cycle, from trace events.

use npsim_isa::CONTEXTS;
use std::mem;

use npsim_chip::Cycle;
use npsim_chip::core::Core;
use npsim_chip::kernel::trace_event::ContextState;

/// A context's present state, with data that an observer collects while it lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContextSpan<T> {
    pub doing: ContextState,
    /// The next instruction if the context executes, otherwise the one with which it yielded.
    pub pc: u16,
    /// The first cycle of the state.
    pub since: Cycle,
    /// The collected data, empty at the start of the state.
    pub collected: T,
}

impl<T: Default> ContextSpan<T> {
    /// The spans of all contexts of a microengine in its present state.
    pub fn all(me: &dyn Core, now: Cycle) -> [Self; CONTEXTS as usize] {
        std::array::from_fn(|context| {
            let (doing, pc) = me.doing(context as u8);
            Self::new(now, doing, pc)
        })
    }

    /// Begins another state and returns the one that ends.
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
