//! A synchronisation point as data: what the loop keeps of one that it reached too early, for
//! `synchronise` to execute at its cycle.

/// What a synchronisation point does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)] // As wide as its neighbours in `SyncPoint`: padding would be copied byte by byte.
pub(crate) enum SyncOp {
    /// Issues a command: `what` is its number in the program, `with` the address.
    Command,
    /// The context yields: `what` is [`Op::x`](crate::operation::Op::x) of a
    /// [`Kind::Arb`](crate::uop::Kind::Arb), `with` the number of its defer slots.
    Yield,
    /// Writes a local CSR: `what` is its address, `with` the value.
    CsrWrite,
    /// Puts a word on a next-neighbour ring or takes one off.
    Ring,
    /// A rare one, which reads its operands when it executes.
    Other,
}

/// A synchronisation point with its operands from registers, which do not change before it
/// executes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncPoint {
    pub does: SyncOp,
    pub what: u32,
    pub with: u32,
}
