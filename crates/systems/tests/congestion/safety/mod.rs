//! The congestion control microcode under concurrency: up to 128 contexts with adverse loads.
//! Quick-Start never grants more than its limit, and counts its grants; XCP's pools are never
//! overdrawn and account for every packet; RCP's counters are exact. Microcode with a mistake in
//! its synchronisation shows that these tests would detect it.

mod bench;
mod grants;
mod packets;
mod quick_start;
mod rcp;
mod router;
mod windows;
mod xcp;
