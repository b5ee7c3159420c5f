//! A run that is saved and gone on with ends as if nothing had happened, wherever
//! it is broken off; and what cannot be gone on with says why.

mod commands;
mod damaged;
mod in_process;
mod killed;
mod networks;

use std::process::{Command, Output};

use crate::harness::root;

/// Runs the command at the root of the repository.
fn npsim(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .args(words)
        .output()
        .expect("run npsim")
}

/// What a command wrote to standard error.
fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
