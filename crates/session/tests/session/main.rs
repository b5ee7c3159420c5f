//! Whole systems: chains of routers, and the microcode that is shipped.

mod going_on;
mod hops;
mod in_memory;
mod looking;
mod microcode;
mod networked;
mod ownership;
mod periodic_skip;
mod stepping;
mod systems;
