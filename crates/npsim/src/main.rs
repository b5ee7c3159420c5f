//! The npsim command.

fn main() {}
