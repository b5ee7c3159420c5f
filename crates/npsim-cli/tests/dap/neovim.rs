//! A debug session in a real editor: Neovim, if it is installed.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::client::root;

#[test]
fn neovim_steps_through_a_macro_and_back() {
    let is_there = Command::new("nvim").arg("--version").output();
    if !is_there.is_ok_and(|it| it.status.success()) {
        eprintln!("skipped: Neovim (nvim) is not installed");
        return;
    }
    let root = root();
    let home = tempfile::tempdir().unwrap();
    let script = root.join("crates/npsim-cli/tests/dap/neovim.lua");
    let output = Command::new("nvim")
        .args(["--headless", "--clean", "-n", "-c"])
        // An error in the script would leave the editor waiting for a key.
        .arg(format!(
            "lua local ok, why = pcall(dofile, {:?}) if not ok then io.stderr:write(why) vim.cmd('cquit') end",
            script.display().to_string()
        ))
        .env("NPSIM", env!("CARGO_BIN_EXE_npsim"))
        .env("NPSIM_ROOT", &root)
        // The user's own settings are ignored.
        .env("HOME", home.path())
        .env("XDG_STATE_HOME", home.path())
        .current_dir(&root)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let found: Value = { text.lines() }
        .find_map(|line| serde_json::from_str(line).ok())
        .unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(found["bytes"], "60 (0x3c)");
    let stop = |reason: &str, file: &str, shown: &str, frames: [i64; 2]| json!({ "reason": reason, "file": file, "shown": shown, "frames": frames });
    let hit = "alu[override, bytes, -, 1]";
    let expected = [
        stop("breakpoint", "rbuf.uc", hit, [65, 49]),
        stop(
            "step",
            "rbuf.uc",
            "alu_shf[override, 0x10, OR, override, >>3]  ; bit 25 once shifted: count is overridden",
            [66, 49],
        ),
        stop("step", "rbuf.uc", hit, [65, 49]),
        // The beginning of the run.
        stop("pause", "rbuf.uc", "local_csr_rd[ACTIVE_CTX_STS]", [29, 30]),
    ];
    let stops = found["stops"].as_array().unwrap();
    assert_eq!(stops.len(), expected.len(), "{found}");
    for (stop, expected) in stops.iter().zip(&expected) {
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(stop[key], *value, "{key} of {stop}");
        }
    }
}
