//! The debugger on the systems that are shipped.

mod rig;
mod statements;
mod stepping;
mod time;
mod view;
mod writers;
