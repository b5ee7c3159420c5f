//! The shipped forwarder in `microcode/forward`: the outcome of each frame, that
//! nothing is lost without a name, and that the same inputs give the same bytes.

mod bench;
mod conservation;
mod determinism;
mod forwarding;

pub use bench::drain;
