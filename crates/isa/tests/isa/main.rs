//! The instruction set from outside: the tables and the words they describe.

mod generator;
mod round_trip;
mod vectors;
