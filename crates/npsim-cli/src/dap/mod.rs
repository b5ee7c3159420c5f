//! The Debug Adapter Protocol, by which editors debug microcode.
//!
//! A context is a thread, all threads stop together, and every answer is computed when it is
//! requested. [`Server`] implements the protocol over any pair of streams. The launch request
//! determines what is debugged: [`Server::launch`] hands it to the caller, which makes a
//! [`Debugger`] and passes it to [`Server::debug`].

mod address;
mod arguments;
mod breakpoints;
mod requests;
mod server;
mod session;
mod variables;
mod wire;

#[cfg(doc)]
use npsim_debug::Debugger;

pub use server::{Launch, Server};
