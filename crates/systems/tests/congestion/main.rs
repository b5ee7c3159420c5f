//! The microcode of Quick-Start, XCP and RCP: packet by packet against the reference
//! models, under concurrency, and in whole routers with packets worked out by hand.

mod models;
mod safety;
mod vectors;
