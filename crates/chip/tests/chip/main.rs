//! The chip from outside: whole, with frames on its lines.

mod periodic_skip;
mod whole;
mod wire;
