//! The command on a capture.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The capture and the statistics written by a run of a project.
pub fn run_outputs(project: &Path, trace: &Path, arguments: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let (out, stats) = (
        folder.path().join("out.pcap"),
        folder.path().join("stats.json"),
    );
    let result = Command::new(env!("CARGO_BIN_EXE_npsim-under-test"))
        .current_dir(root())
        .args(["run", "--quiet"])
        .arg(project)
        .arg("--trace")
        .arg(trace)
        .arg("--out")
        .arg(&out)
        .arg("--stats")
        .arg(&stats)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    (std::fs::read(&out).unwrap(), std::fs::read(&stats).unwrap())
}
