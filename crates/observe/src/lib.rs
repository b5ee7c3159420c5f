//! What can be seen of a run: observers of one ordered stream of events.
//!
//! Each is an [`Observer`](npsim_chip::kernel::observer::Observer) that a run is
//! handed and that says afterwards what it saw: [`profile`] where the cycles went,
//! [`timeline`] what happened when, [`series`] how counters and depths went over
//! time, [`flow`] which microengine gives work to which, [`lanes`] what every context did in the
//! moment of interest, [`packets`] the fate of each packet, [`races`] which memory two
//! contexts update with nothing that keeps them apart, [`sections`] what one context at a time
//! goes through. [`set`] is all of them as plain data, for a driver that runs something.

mod context_span;
mod counts_over_time;
pub mod flow;
pub mod lanes;
pub mod names;
pub mod packets;
mod polling_reads;
pub mod profile;
pub mod races;
mod ring_command;
pub mod sections;
pub mod series;
pub mod set;
mod signal_takers;
pub mod timeline;
