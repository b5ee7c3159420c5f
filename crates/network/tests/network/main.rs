//! Networks of hosts from end to end.

mod conservation;
mod dumbbell;
mod reference;
mod rig;
mod scale;
