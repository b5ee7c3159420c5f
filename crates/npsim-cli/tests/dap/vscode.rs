//! The extension in a real Visual Studio Code, if one was fetched.

use std::process::{Command, Stdio};

use crate::client::root;

/// The folder that `editors/vscode/test/fetch.sh` filled.
const TOOLS: &str = "NPSIM_VSCODE";

#[test]
fn vscode_follows_the_tutorials() {
    if std::env::var_os(TOOLS).is_none() {
        eprintln!("skipped: {TOOLS} names no folder that editors/vscode/test/fetch.sh filled");
        return;
    }
    let scenario = root().join("editors/vscode/test/scenario.mjs");
    let output = Command::new("node")
        .arg(scenario)
        .env("NPSIM", env!("CARGO_BIN_EXE_npsim"))
        .stdin(Stdio::null())
        .output()
        .expect("node is installed");
    let text = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{wrong}");
    eprint!("{text}");
}
