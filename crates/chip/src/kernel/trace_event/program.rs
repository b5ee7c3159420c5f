//! What a program of the general-purpose core does.

/// What a program does from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramState {
    /// It makes instructions.
    Runs,
    /// An instruction waits for an access beyond the processor and its caches.
    Accesses,
    /// It repeats a loop in which nothing changes.
    Polls,
    /// It waits for an interrupt.
    Waits,
    /// Its job is over, and the next has not begun: another task may have the core.
    Held,
    /// It has come to its end.
    Ended,
}
