//! Inspection of a chip from outside: statistics, the state that a debugger shows, and analyses for
//! the end of a run.
//!
//! Everything here borrows a [`Chip`](npsim_chip::chip::Chip) between two runs and costs a run
//! nothing. [`Inspect`] provides registers and their owners, memories, rings and queues, commands
//! in flight, buffers of the media interface, and [why](Inspect::why) a context does not go on.
//! [`stats::Stats`] contains the chip's counts. [`liveness`] finds contexts that nothing can wake
//! any more, [`buffer_leaks`] packet buffers that are lost.

pub mod buffer_leaks;
mod flights;
mod inspect;
pub mod liveness;
mod media;
mod memory;
mod microengine;
pub mod stats;
mod why;
mod why_text;

pub use flights::{CommandLocation, Flight};
pub use inspect::Inspect;
pub use media::{BufferHolder, ListedThread, RbufView, TbufView};
pub use memory::{Memory, NeighbourRing, QueueView, RingView};
pub use microengine::{MicroengineView, NamedCsr, RegisterView};
pub use why::{Asleep, ContextStatus, MissingSignal, SignalOrigin};
