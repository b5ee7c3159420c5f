//! A real editor: Neovim, if it is installed.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::root;

#[test]
fn neovim_shows_a_tutorial_without_errors_and_finds_its_macros() {
    let is_there = Command::new("nvim").arg("--version").output();
    if !is_there.is_ok_and(|it| it.status.success()) {
        eprintln!("skipped: Neovim (nvim) is not installed");
        return;
    }
    let root = root().canonicalize().expect("the repository");
    let home = tempfile::tempdir().expect("a folder");
    let script = root.join("crates/npsim-cli/tests/cli/lsp/neovim.lua");
    let output = Command::new("nvim")
        .args(["--headless", "--clean", "-n", "-c"])
        .arg(format!("luafile {}", script.display()))
        .env("NPSIM", env!("CARGO_BIN_EXE_npsim"))
        .env("NPSIM_ROOT", &root)
        .env("NPSIM_SOURCE", root.join("microcode/tutorial/wire8.uc"))
        // The user's own settings are ignored.
        .env("HOME", home.path())
        .env("XDG_STATE_HOME", home.path())
        .current_dir(&root)
        .stdin(Stdio::null())
        .output()
        .expect("Neovim runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let found: Value = { text.lines() }
        .find_map(|line| serde_json::from_str(line).ok())
        .unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(found["diagnostics"], serde_json::json!([]), "{found}");
    let hover = found["hover"]["contents"]["value"].as_str().unwrap_or("");
    assert!(hover.starts_with("```uc\nalu_shf["), "{found}");
    let place = &found["definition"][0];
    let file = place["uri"].as_str().unwrap_or("");
    assert!(file.ends_with("microcode/lib/rbuf.uc"), "{found}");
}
