//! Accesses of local CSRs that have a place in the chip's global order.

use npsim_isa::csr;

/// Whether a read or a write of a local CSR is a synchronisation point: others write the register,
/// or its write affects others or the event queue. A core executes it at a cycle at which the
/// chip's state is final, unless the write only posts an event for a later cycle (see the contract
/// of a [core](npsim_chip::core)).
pub(crate) fn csr_is_sync_point(address: u16, write: bool) -> bool {
    match address {
        csr::INDIRECT_CTX_STS
        | csr::INDIRECT_CTX_SIG_EVENTS
        | csr::ACTIVE_CTX_SIG_EVENTS
        | csr::INDIRECT_CTX_WAKEUP_EVENTS
        | csr::ACTIVE_CTX_WAKEUP_EVENTS
        | csr::NN_PUT
        | csr::NN_GET => true,
        csr::CTX_ENABLES
        | csr::INDIRECT_CTX_FUTURE_COUNT
        | csr::ACTIVE_CTX_FUTURE_COUNT
        | csr::INDIRECT_FUTURE_COUNT_SIGNAL
        | csr::ACTIVE_FUTURE_COUNT_SIGNAL
        | csr::TIMESTAMP_LOW
        | csr::TIMESTAMP_HIGH
        | csr::NEXT_NEIGHBOR_SIGNAL
        | csr::PREV_NEIGHBOR_SIGNAL
        | csr::SAME_ME_SIGNAL => write,
        _ => false,
    }
}

/// Whether a write of a local CSR that is a [synchronisation point](csr_is_sync_point) only sets a
/// timer of the running context or raises a signal: it posts an event and does nothing else.
pub(crate) const fn only_posts(address: u16) -> bool {
    sets_timer(address)
        || matches!(
            address,
            csr::NEXT_NEIGHBOR_SIGNAL | csr::PREV_NEIGHBOR_SIGNAL | csr::SAME_ME_SIGNAL
        )
}

/// Whether a write of a local CSR sets a timer of the running context.
pub(crate) const fn sets_timer(address: u16) -> bool {
    matches!(
        address,
        csr::ACTIVE_CTX_FUTURE_COUNT | csr::ACTIVE_FUTURE_COUNT_SIGNAL
    )
}
