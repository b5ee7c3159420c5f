//! The schemes of `microcode/ordering` and the order of packets, by random loads on random arrangements of
//! microengines and contexts, with late answers of the memories and with stalled contexts.
//!
//! Every run is observed as it goes: no packet of a flow may leave after a later one, every frame must leave
//! as a router has to change it, and what came is what left and what was counted as lost, with nothing left
//! behind in the chip.
//!
//! About 300,000 packets go through by default. All the schemes with ten million packets:
//!
//! ```text
//! NPSIM_ORDER_PACKETS=10000000 cargo test --release -p npsim-systems --test ordering
//! ```
//!
//! A case is the same whenever it is run: it is generated from its number, which a failure prints.

mod bench;
mod cases;
mod fate;
mod mutants;
mod order;
mod slots;
mod stalls;
mod verdict;
mod watcher;
