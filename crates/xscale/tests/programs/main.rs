//! Programs on a chip without microengines: the test does what they would do.
//!
//! The programs stand beside this file, in C and as the ELF files that the Makefile made of them.

mod bare;
mod bench;
mod checks;
mod devices;
mod files;
mod time;
