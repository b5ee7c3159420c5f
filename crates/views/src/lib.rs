//! What a run looks like: views of one stream of events.
//!
//! Each view is a observer ([`npsim_chip::kernel::observer::Observer`]) that is handed to
//! [`Simulation::run_watched`](npsim_session::simulation::Simulation::run_watched)
//! and says afterwards what it saw: [`profile`] where the cycles went,
//! [`timeline`] what happened when, [`traffic_flow`] who gives work to whom. From
//! that and a [series](npsim_session::series) of samples, [`bottleneck`] says what
//! limits a run, and [`page`] shows all of it.

pub mod bottleneck;
pub mod context_lanes;
pub mod fingerprint;
pub mod names;
pub mod page;
pub mod profile;
pub mod timeline;
pub mod traffic_flow;
