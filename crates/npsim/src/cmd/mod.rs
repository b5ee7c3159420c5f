//! The subcommands, one file each.

pub mod asm;
pub mod check;
pub mod checks;
pub mod chip;
pub mod codes;
pub mod completions;
pub mod disasm;
pub mod explain;
pub mod generate;
mod interrupt;
pub mod isa;
pub mod lab_options;
mod load_options;
pub mod lsp;
pub mod message_options;
pub mod network;
pub mod new;
pub mod pp;
pub mod reproduce;
pub mod run;
mod saved_command;
pub mod sensitivity;
mod source_options;
pub mod sweep;
pub mod trace;
mod value;
