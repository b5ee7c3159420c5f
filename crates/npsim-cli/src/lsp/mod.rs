//! The language server: translates between the Language Server Protocol and the analysis of sources
//! ([`npsim::analysis`]).
//!
//! [`serve`] speaks the protocol over any connection, [`serve_streams`] over a pair of streams. Programs are assembled
//! on a separate thread; only the requests that need its result wait for it.

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
