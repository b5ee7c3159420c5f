//! The `.uc` assembler: source text to [`Image`].
//!
//! preprocess -> parse -> allocate -> encode. No files are touched here: the
//! caller supplies texts through [`Includes`].

pub mod codes;
pub mod diagnostic;
pub mod expression;
pub mod image;
mod lexer;
pub mod preprocess;
pub mod source;
pub mod spelling;
pub mod token;

pub use diagnostic::{Diagnostic, Level};
pub use image::Image;
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
    /// Words in the target's control store.
    pub control_store_words: usize,
    /// Longwords of local memory, for range checks.
    pub local_memory_words: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            defines: Vec::new(),
            control_store_words: 4096,
            local_memory_words: 640,
        }
    }
}

/// What a run of the assembler gives: the image unless there were errors.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The program, if there was no error.
    pub image: Option<Image>,
    /// Errors, warnings and notes in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts they point into.
    pub sources: SourceMap,
}
