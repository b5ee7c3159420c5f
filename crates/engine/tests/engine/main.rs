//! The engine on whole chips, with frames on their lines.

mod periodic_skip;
mod whole;
mod wire;
