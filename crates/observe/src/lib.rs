//! Observers of a run, which see one ordered stream of events.
//!
//! Each is an [`Observer`](npsim_chip::kernel::observer::Observer) that is passed to a run and
//! reports its findings afterwards: [`profile`] where the cycles went, [`timeline`] what happened
//! when, [`series`] counters and depths over time, [`flow`] which microengine passes work to which,
//! [`lanes`] the activity of every context at the moment of interest, [`packets`] the fate of each
//! packet, [`races`] memory that two contexts update without synchronisation, [`sections`] critical
//! sections that one context at a time passes through. [`set`] combines them all as plain data, for
//! programs that drive a run.

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
