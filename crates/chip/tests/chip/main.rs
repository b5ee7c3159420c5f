//! The chip from outside: whole, with frames on its lines.

mod quiescence;
mod whole;
mod wire;
