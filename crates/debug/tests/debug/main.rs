//! The debugger on the shipped systems.

mod core;
mod rig;
mod statements;
mod stepping;
mod time;
mod view;
mod writers;
