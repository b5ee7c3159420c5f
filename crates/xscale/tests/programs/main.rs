//! Programs on a chip without microengines: the test performs their actions.
//!
//! The programs are beside this file, in C and as the ELF files built from them by the Makefile.

mod bare;
mod bench;
mod checks;
mod devices;
mod files;
mod time;
