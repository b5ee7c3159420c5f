//! The instruction set from the outside: the words that its tables describe.

mod round_trip;
mod vectors;
