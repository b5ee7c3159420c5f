//! The standard router in `microcode/router` against an independent statement
//! of what a router does, with what it counts, how it shares lines, and that it
//! loses nothing without saying so.

#[path = "../oracle/mod.rs"]
mod oracle;
#[path = "../recorded_lines/mod.rs"]
mod recorded_lines;

mod bench;
mod captures;
mod classes;
mod conservation;
mod counting;
mod mutants;
mod sharing;
mod verdict;
