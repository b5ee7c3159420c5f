//! The language server: what an editor shows while microcode is written.
//!
//! [`serve`] speaks the Language Server Protocol over any connection. Texts that
//! are open in the editor count in place of the files; everything else is read
//! from disk. Programs are the sources of the projects in reach (`roots`); each
//! is assembled whole after a change, which takes milliseconds, so that nothing
//! has to be kept in step.

mod analysis;
mod completion;
mod definition;
mod documents;
mod hover;
mod index;
mod outline;
mod paths;
mod position;
mod publish;
mod rename;
mod roots;
mod scan;
mod server;
mod workspace;

pub use server::serve;
