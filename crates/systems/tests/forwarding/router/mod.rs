//! The standard router in `microcode/router` against an independent statement of a router's
//! behaviour: its counters, how it shares lines, and that it counts every loss.

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
