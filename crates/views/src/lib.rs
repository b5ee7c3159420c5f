//! What a run looks like: views of one stream of events.
//!
//! Each view is a probe ([`npsim_chip::probe::Probe`]) that is handed to
//! [`Simulation::run_watched`](npsim_system::simulation::Simulation::run_watched)
//! and says afterwards what it saw: [`profile`] where the cycles went,
//! [`timeline`] what happened when.

pub mod names;
pub mod profile;
pub mod timeline;
