//! The debugger on the systems that are shipped.

mod rig;
mod stepping;
mod time;
mod view;
mod writers;
