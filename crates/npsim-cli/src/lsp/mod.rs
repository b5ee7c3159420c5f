//! The language server: what an editor shows while microcode is written.
//!
//! [`serve`] speaks the Language Server Protocol over any connection. Texts that
//! are open in the editor count in place of the files; everything else is read
//! from disk. Programs are the sources of the projects in reach (`roots`); each
//! is read whole after a change, which takes milliseconds, so that nothing has to be
//! kept in step. What only the assembler knows comes from a thread of its own; a request
//! for that waits for it, and no other does.

mod actions;
mod analysis;
mod assembler;
mod calls;
mod completion;
mod definition;
mod definitions;
mod documents;
mod expand;
mod folding;
mod highlights;
mod hints;
mod hover;
mod inbox;
mod keys;
mod layout;
mod lenses;
mod outline;
mod paths;
mod position;
mod profile;
mod project;
mod publish;
mod rename;
mod requests;
mod roots;
mod scan;
mod server;
mod settings;
mod signature;
mod symbols;
mod text;
mod tokens;
mod workspace;

pub use server::serve;
