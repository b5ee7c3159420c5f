//! The `.uc` assembler: source text to [`Image`].
//!
//! preprocess -> parse -> allocate -> encode. No files are touched here: the
//! caller supplies texts through [`Includes`].

#![allow(
    clippy::result_large_err,
    reason = "a diagnostic ends the work on its line; moving it costs nothing that counts"
)]

mod assemble;
mod back;
pub mod codes;
pub mod diagnostic;
pub mod directives;
pub mod format;
pub mod front;
mod lints;
mod middle;
pub mod name_index;
#[cfg(test)]
mod one_text;
pub mod source;
pub mod spelling;
pub mod vocabulary;

pub use assemble::assemble;
pub use diagnostic::{Diagnostic, Severity};
pub use npsim_image::{Image, MemorySymbol};
use npsim_isa::Generation;
pub use source::{ExpansionId, FileId, SourceMap, Span};

/// Where texts come from.
pub trait Includes {
    /// Finds the text for `#include "name"` in the file `including` (or for the
    /// main source, with `including` `None`); gives the path to show and the text.
    ///
    /// # Errors
    /// Says where it was looked for and why it could not be read.
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String>;
}

/// What the caller decides.
#[derive(Clone, Debug)]
pub struct Options {
    /// `-D NAME=text`, defined before the first line.
    pub defines: Vec<(String, String)>,
    /// The generation of the target's microengines: which instructions there are.
    pub generation: Generation,
    /// Words in the target's control store.
    pub control_store_words: usize,
    /// Longwords of local memory, for range checks.
    pub local_memory_words: usize,
    /// Values of import variables, by name. Those that are missing stay open in
    /// [`Image::imports`].
    pub imports: Vec<(String, u32)>,
    /// Memory of which `.init NAME+8 value` may give the first values. Sources see each name as
    /// a define, whose text is the address.
    pub memories: Vec<MemorySymbol>,
    /// Where registers of one bank meet in an instruction, copy one of them
    /// instead of failing; each copy is reported as a note.
    pub spill_moves: bool,
    /// Warnings that are to be kept silent or to count as errors, by code, or
    /// `all` for every one; of several entries for one code the last counts.
    pub lints: Vec<(String, LintLevel)>,
}

/// The treatment of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LintLevel {
    /// The warning is not reported.
    Allow,
    /// The warning is reported, and the program assembles.
    Warn,
    /// The warning is an error.
    Deny,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            defines: Vec::new(),
            generation: Generation::default(),
            control_store_words: 4096,
            local_memory_words: 640,
            imports: Vec::new(),
            memories: Vec::new(),
            spill_moves: false,
            lints: Vec::new(),
        }
    }
}

/// What a run of the assembler gives: the image unless there were errors.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The program, if there was no error; none of a file that holds macros alone.
    pub image: Option<Image>,
    /// Errors, warnings and notes in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts they point into.
    pub sources: SourceMap,
}
