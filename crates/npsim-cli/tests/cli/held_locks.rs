//! A run that ends while a context holds a lock reports the context.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The terminal output and the statistics of a project with a lock and this source.
fn run(folder: &Path, source: &str, arguments: &[&str]) -> (String, Value) {
    let firmware = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/tests/firmware");
    let library = firmware.join("../../../../microcode/lib");
    let project = std::fs::read_to_string(firmware.join("lock.toml")).unwrap();
    let project = project.replace("../../../../microcode/lib", library.to_str().unwrap());
    std::fs::write(folder.join("lock.toml"), project).unwrap();
    std::fs::write(folder.join("lock.uc"), source).unwrap();
    let stats = folder.join("stats.json");
    let output = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .arg("run")
        .arg(folder.join("lock.toml"))
        .args(arguments)
        .arg("--stats")
        .arg(&stats)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let stats = std::fs::read(stats).unwrap();
    let stats: Value = serde_json::from_slice(&stats).unwrap();
    // Notes are printed where messages are.
    let text = format!("{}{told}", String::from_utf8_lossy(&output.stdout));
    (text, stats["nodes"][0]["chip"]["locks"][0].clone())
}

fn source() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/tests/firmware/lock.uc");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn lock_that_is_never_released_is_reported_with_its_holder() {
    let release = "    sram[test_and_clr, $bit, lock, 0], ctx_swap[both]\n";
    let whole = source();
    assert!(whole.contains(release));
    let folder = tempfile::tempdir().unwrap();
    let without = whole.replace(release, "");
    let (text, lock) = run(folder.path(), &without, &["--until", "100us"]);
    let hold = &lock["held_at_end"];
    assert_eq!(hold["microengine"], 0);
    assert_eq!(lock["acquired"], 1);
    let number = |key: &str| hold[key].as_u64().unwrap();
    assert!(number("context") < 8);
    assert!((1..60_000).contains(&number("since")));
    assert_eq!(hold["failed_since"], lock["failed"]);
    assert!(number("failed_since") > 100);
    let start = format!(
        "note: the lock COUNT_LOCK was still held at the end: taken by microengine 0 context {} at cycle {}, never released; ",
        number("context"),
        number("since")
    );
    let line = text.lines().find(|line| line.starts_with(&start));
    let line = line.unwrap_or_else(|| panic!("no `{start}` in\n{text}"));
    assert!(line.ends_with(" tries failed since"), "{line}");
}

#[test]
fn free_or_briefly_held_lock_gives_no_note() {
    let folder = tempfile::tempdir().unwrap();
    let (text, lock) = run(folder.path(), &source(), &[]);
    assert_eq!(lock["held_at_end"], Value::Null);
    assert!(!text.contains("still held"), "{text}");
    // At some of these cycles a context holds it.
    let ends = ["50us", "51us", "52us", "53us", "54us"];
    let held = ends.iter().filter(|end| {
        let (text, lock) = run(folder.path(), &source(), &["--until", end]);
        assert!(lock["released"].as_u64() > Some(0));
        assert!(!text.contains("still held"), "{text}");
        !lock["held_at_end"].is_null()
    });
    assert!(held.count() > 0);
}
