//! The chip from outside: whole, with frames on its lines, and instruction by instruction against a reference.

mod reference;
mod whole;
mod wire;
