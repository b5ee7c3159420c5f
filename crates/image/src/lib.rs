//! The image: one microengine's program as the assembler leaves it and everything after it takes it.
//!
//! An image holds the 40-bit words, where each came from, the names of registers and
//! signals with the places where each of them holds its register, labels, and
//! what a loader still has to fill in. [`mod@file`] is its
//! text format (`.npi`), [`disassemble`] and [`listing`] its views for people.
//! The chip, the reports and the editor know images, not the assembler.

mod disassemble;
pub mod file;
mod flow_graph;
mod image;
pub mod import;
mod listing;
mod live;
mod live_names;
mod names;
mod source;
mod words;

pub use disassemble::disassemble;
pub use flow_graph::{DeferSlot, FlowGraph, Successors};
pub use image::{
    Image, ImageExpansion, ImageScope, ImportFixup, ImportPart, InitialLongword, InitialValue,
    LabelSymbol, MemorySpace, MemorySymbol, NnMode, Origin, RegisterSymbol, SignalSymbol, Synonym,
    TransferDirection,
};
pub use listing::listing;
pub use live::{LiveRange, ProgramPoint};
pub use live_names::{LiveRegister, LiveSignal};
pub use names::{RegisterUse, SignalUse};
pub use npsim_isa::ContextMode;
pub use source::{SourceFrame, same_file};
pub use words::{words_text, words_text_with_parity};
