//! The subcommands, one file each.

pub mod asm;
pub mod checks;
pub mod chip;
pub mod completions;
pub mod disasm;
pub mod isa;
pub mod new;
pub mod pp;
pub mod run;
mod source_options;
