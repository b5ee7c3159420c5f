//! The schemes of `microcode/ordering` and the order of packets, tested with random loads on random arrangements of
//! microengines and contexts, with late memory answers and stalled contexts.
//!
//! Every run is observed as it proceeds: no packet of a flow may leave after a later one, every frame must leave with a
//! router's changes, and every arriving frame must leave or be counted as lost, with nothing left in the chip.
//!
//! About 300,000 packets are sent by default. To run all schemes with ten million packets:
//!
//! ```text
//! NPSIM_ORDER_PACKETS=10000000 cargo test --release -p npsim-systems --test ordering
//! ```
//!
//! A case is the same in every run: it is generated from its number, which a failure prints.

mod bench;
mod cases;
mod fate;
mod mutants;
mod order;
mod slots;
mod stalls;
mod verdict;
mod watcher;
