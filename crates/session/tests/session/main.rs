//! Whole systems: chains of routers, and the shipped microcode.

mod hops;
mod in_memory;
mod inspection;
mod microcode;
mod networked;
mod ownership;
mod periodic_skip;
mod resuming;
mod stepping;
mod systems;
