//! The report of a run: the limits of real runs, and the page in a browser.

mod browser;
mod forwarder;
mod interventions;
mod locks;
mod page;
mod router;
mod serial;
mod units;
mod verdicts;

use std::path::Path;
use std::process::{Command, Output};

use crate::harness::root;

/// Runs a project with a report in `folder`.
fn run(project: &str, arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        // Unwraps sentences.
        .env("COLUMNS", "1000")
        .args(["run", project])
        .args(arguments)
        .arg("--report")
        .arg(folder)
        .output()
        .unwrap()
}

/// The terminal output of a run that must succeed.
fn run_output(project: &str, arguments: &[&str], folder: &Path) -> String {
    let output = run(project, arguments, folder);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Minimum frames at line rate on three ports, far more than one microengine can process.
const OVERLOAD: &[&str] = &[
    "--trace",
    "traces/minsize.pcap.gz",
    "--pace",
    "line",
    "--ports",
    "round-robin",
];
