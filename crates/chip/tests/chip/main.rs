//! The chip from outside: whole, with frames on its lines.

mod whole;
mod wire;
