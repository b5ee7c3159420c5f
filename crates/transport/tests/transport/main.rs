//! Endpoints on a path: the situations of the RFCs by name, laws, and invariants.

mod golden;
mod laws;
mod linux;
mod properties;
mod rcp;
mod rfc3042;
mod rfc4782;
mod rfc5681;
mod rfc6298;
mod rfc6582;
mod rfc6675;
mod rig;
mod scale;
mod srp_task;
mod wire;
mod xcp;
