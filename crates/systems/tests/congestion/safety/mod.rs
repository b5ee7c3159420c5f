//! The congestion control microcode under concurrency: up to 128 contexts with
//! loads that are made to hurt it. Quick-Start never grants more than its limit,
//! and counts what it grants; XCP's pools are never overdrawn and lose no packet;
//! RCP's counters are exact. Microcode with a mistake in what keeps it safe shows
//! that these tests would notice.

mod bench;
mod grants;
mod packets;
mod quick_start;
mod rcp;
mod router;
mod windows;
mod xcp;
