//! The foundation of all parts of the chip: time and its events, the buses and the commands on
//! them, memories, checks, and the trace events of a run.

pub mod buffers;
pub mod bus;
pub mod check;
pub mod command;
pub mod event;
pub mod fabric;
pub mod fault_injection;
pub(crate) mod free_slots;
pub mod freelist_entry;
pub mod lock;
pub mod memory;
pub mod observer;
pub mod port_io;
pub(crate) mod queue;
pub mod recurring_state;
pub mod remote_access;
pub mod ring_status;
pub mod row;
pub mod saved_memory;
pub mod sideband;
pub mod signal_source;
pub mod snapshot;
pub mod target;
pub mod trace_buffer;
pub mod trace_event;
pub mod unit;
pub mod unit_counters;
