//! The microcode of Quick-Start, XCP and RCP against the reference models, packet
//! by packet: bytes, shared state and the packet's outcome.

mod driver;
mod packets;
mod quick_start;
mod random;
mod rcp;
mod shares;
mod xcp;
mod xcp_layout;
