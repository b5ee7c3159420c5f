//! What all parts of the chip stand on: time and its events, the buses and the
//! commands on them, memories, checks, and what a run tells those who watch it.

pub mod buffers;
pub mod bus;
pub mod check;
pub mod command;
pub mod disturb;
pub mod event;
pub mod exposure;
pub mod fabric;
pub(crate) mod free_slots;
pub mod journal;
pub mod lines;
pub mod lock;
pub mod memory;
pub mod neighbours;
pub mod observer;
pub(crate) mod profile;
pub(crate) mod queue;
pub mod raiser;
pub mod ring_status;
pub mod row;
pub mod saved_memory;
pub mod snapshot;
pub mod target;
pub mod trace_event;
pub mod unit;
pub mod unit_counters;
pub mod waiter;
