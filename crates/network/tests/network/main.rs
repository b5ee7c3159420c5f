//! Networks from end to end.

mod conservation;
mod dumbbell;
mod file;
mod laws;
mod reference;
mod rig;
mod scale;
mod xcp_option;
