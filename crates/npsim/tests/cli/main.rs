//! The command as a user meets it: exit codes, messages, files that are left.

mod harness;

mod bad_input;
mod boards;
mod checking;
mod determinism;
mod hops;
mod images;
mod linking;
mod order;
mod projects;
mod runs;
mod sweeps;
mod traffic;
mod usage;
mod watching;
