//! The instruction set from outside: the words that its tables describe.

mod round_trip;
mod vectors;
