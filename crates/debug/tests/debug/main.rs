//! The debugger on the systems that are shipped.

mod core;
mod rig;
mod statements;
mod stepping;
mod time;
mod view;
mod writers;
