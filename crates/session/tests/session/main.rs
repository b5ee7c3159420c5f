//! Whole systems: chains of routers, and the shipped microcode.

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
