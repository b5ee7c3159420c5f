//! The `.uc` assembler, from source text to [`Image`].
//!
//! Stages: preprocess -> parse -> allocate -> encode. This crate accesses no files: the caller
//! supplies texts through [`Includes`].

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

/// A provider of source texts.
pub trait Includes {
    /// Loads the text for `#include "name"` in the file `including` (`None` for the main source);
    /// returns the path to show and the text.
    ///
    /// # Errors
    /// Returns a message that tells where the text was sought and why it could not be read.
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String>;
}

/// Options of an assembler run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Macros of `-D NAME=text`, defined before the first line.
    pub defines: Vec<(String, String)>,
    /// The generation of the target's microengines, which determines the available instructions.
    pub generation: Generation,
    /// Size of the target's control store, in words.
    pub control_store_words: usize,
    /// Size of local memory in longwords, for range checks.
    pub local_memory_words: usize,
    /// Values of import variables, by name. Missing ones stay open in [`Image::imports`].
    pub imports: Vec<(String, u32)>,
    /// Memory that `.init NAME+8 value` may initialize. Sources see each name as a define whose
    /// text is the address.
    pub memories: Vec<MemorySymbol>,
    /// Whether to copy one of two registers of the same bank that meet in an instruction, instead
    /// of failing; each copy is reported as a note.
    pub spill_moves: bool,
    /// Levels of warnings by code, with `all` for every warning; the last matching entry counts.
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

/// The result of an assembler run: an image unless there were errors.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The program; `None` after an error, or for a file with only macros.
    pub image: Option<Image>,
    /// Errors, warnings and notes in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The source texts that they refer to.
    pub sources: SourceMap,
}
