//! The laboratory in a browser: assembler, chip, debugger and language analysis behind requests in
//! JSON, for the page in `web/`. The crate's README describes the requests and answers.
//!
//! A [`Playground`] is an ordinary value without threads, clock and files; [`abi`] exposes it
//! through a few C functions, the only interface of the WebAssembly module.

pub mod abi;
mod answer;
mod breakpoints;
mod capture_table;
mod console;
mod exercise;
mod fault_text;
mod file_store;
mod headers;
#[cfg(target_arch = "wasm32")]
mod heap;
mod language;
mod lookup;
mod measurement;
mod message;
mod opening;
mod place;
mod playground;
mod position;
mod request;
mod scenario;
mod stop_answer;
mod systems;
mod travel;

pub use answer::{Answer, Failure};
pub use playground::Playground;
