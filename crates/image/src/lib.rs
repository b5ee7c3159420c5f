//! The image: the program of one microengine, as the assembler produces it and all later stages use
//! it.
//!
//! An image holds the 40-bit words and their origins, the names of registers and signals with their
//! live ranges, the labels, and the values that a loader still has to fill in. [`mod@file`] is its
//! text format (`.npi`); [`disassemble`] and [`listing`] are its human-readable views. The chip,
//! the reports and the editor depend on images, not on the assembler.

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
