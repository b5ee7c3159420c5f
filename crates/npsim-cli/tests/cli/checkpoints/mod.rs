//! A run that is saved and resumed ends as if it had not been interrupted, wherever that happened;
//! a run that cannot be resumed reports why.

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

/// The text that a command wrote to standard error.
fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
