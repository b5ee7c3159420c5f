//! The Debug Adapter Protocol: what an editor shows while microcode is debugged.
//!
//! A context is a thread, all of them stand still together, and every answer is computed
//! when it is asked for. [`Server`] speaks the protocol over any pair of streams. What is
//! debugged the launch request says: [`Server::launch`] hands it to the caller, which
//! makes a [`Debugger`] and gives it to [`Server::debug`].

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
