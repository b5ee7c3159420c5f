//! The language server: translates between the Language Server Protocol and the analysis of
//! sources ([`npsim::analysis`]), which knows the answers.
//!
//! [`serve`] speaks the protocol over any connection, [`serve_streams`] over a pair of streams. What only the assembler knows comes from a
//! thread of its own; a request for that waits for it, and no other does.

mod editor;
mod inbox;
mod position;
mod requests;
mod server;
mod settings;
mod stream;
mod tokens;
mod translation;
mod uris;

pub use server::serve;
pub use stream::serve_streams;
