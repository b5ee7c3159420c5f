//! Activity of a program on the general-purpose core.

/// The activity of a program from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramState {
    /// It executes instructions.
    Runs,
    /// An instruction waits for an access beyond the processor and its caches.
    Accesses,
    /// It repeats a loop that changes nothing.
    Polls,
    /// It waits for an interrupt.
    Waits,
    /// Its job is over and the next has not begun, so another task may have the core.
    Held,
    /// It has ended.
    Ended,
}
