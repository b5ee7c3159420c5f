//! Whole systems: chains of routers, and the microcode that is shipped.

mod hops;
mod in_memory;
mod looking;
mod microcode;
mod quiescence;
mod stepping;
mod systems;
