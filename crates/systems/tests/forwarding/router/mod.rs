//! The standard router in `microcode/router` against an independent statement
//! of what a router does, with what it counts, how it shares lines, and that it
//! loses nothing without saying so.

mod bench;
mod captures;
mod classes;
mod conservation;
mod counting;
mod mutants;
mod queues;
mod rests;
mod sharing;
mod slow_ports;
mod verdict;
