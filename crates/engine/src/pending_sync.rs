//! A synchronisation point as data: what the loop keeps of one that it reached too early, so that
//! `synchronise` can execute it at its cycle.

/// The operation of a synchronisation point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)] // As wide as its neighbours in `SyncPoint`: padding would be copied byte by byte.
pub(crate) enum SyncOp {
    /// Issues a command: `what` is its number in the program, `with` the address.
    Command,
    /// Yields the pipeline: `what` is [`Op::x`](crate::operation::Op::x) of a
    /// [`UopKind::Arb`](crate::uop::UopKind::Arb), `with` the number of its defer slots.
    Yield,
    /// Writes a local CSR: `what` is its address, `with` the value.
    CsrWrite,
    /// Puts a word on a next-neighbour ring or takes one off it.
    Ring,
    /// A rare operation, which reads its operands when it executes.
    Other,
}

/// A synchronisation point with its register operands, which do not change before it executes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncPoint {
    pub does: SyncOp,
    pub what: u32,
    pub with: u32,
}
