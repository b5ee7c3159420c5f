//! Language support for sources as they are written: messages, meanings of words, completion,
//! definitions and uses, renaming, costs. An editor, a browser or a debugger queries it and gets
//! plain data: bytes of texts, paths, Markdown.
//!
//! A [`Workspace`] contains the open texts, which take precedence over the files, and the projects
//! in reach; everything else is read from disk. Each of its queries is a file here. Programs are
//! the sources of the projects (`roots`); each is reread completely after a change, which takes
//! milliseconds, so that nothing has to be kept in sync. Results that require the whole assembler
//! take longer: [`Workspace::assemble`] waits for them, [`Workspace::job`] hands the work to
//! another thread.
//!
//! [`explain`](mod@explain) gives the cost of a line of an assembled program, [`vocabulary`] the
//! words of the language.

mod actions;
mod analysis;
mod assembler;
mod calls;
mod completion;
mod definition;
mod definitions;
mod diagnostics;
mod documents;
mod expand;
pub mod explain;
mod folding;
mod highlights;
mod hints;
mod hover;
mod items;
mod keys;
mod layout;
mod lenses;
mod name_form;
mod outline;
pub mod paths;
mod position;
mod profile;
mod project;
mod rename;
mod roots;
mod scan;
mod settings;
mod signature;
mod symbols;
mod text;
mod text_names;
mod tokens;
pub mod vocabulary;
mod workspace;

pub use actions::Action;
pub use assembler::{Assembled, Job};
pub use calls::{Call, CallItem};
pub use diagnostics::Diagnostic;
pub use expand::Expanded;
pub use folding::Fold;
pub use highlights::{Link, Use};
pub use hints::Hint;
pub use hover::Hover;
pub use items::{Completion, Item, ItemKind};
pub use lenses::Lens;
pub use npsim_asm::Severity;
pub use npsim_asm::name_index::NameKind;
pub use outline::{OutlineItem, SymbolKind};
pub use position::{Edit, LineIndex, Place};
pub use settings::Settings;
pub use signature::{Form, Signature};
pub use symbols::Symbol;
pub use text::Text;
pub use tokens::{Word, WordKind};
pub use workspace::{Spot, Workspace};
