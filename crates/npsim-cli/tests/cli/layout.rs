//! `npsim fmt`: what it writes, what it leaves alone, and what it says.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::harness::{Dir, LOOP, root};

const CROOKED: &str = "  here#:\nctx_arb[ voluntary ],br[here#]\n";

#[test]
fn shipped_sources_are_formatted() {
    let output = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .args(["fmt", "--check", "microcode"])
        .output()
        .expect("run npsim");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "run `npsim fmt microcode`:\n{told}"
    );
}

#[test]
fn files_are_laid_out_in_place() {
    let dir = Dir::new()
        .with("a.uc", CROOKED)
        .with("sub/b.UC", CROOKED)
        .with("sub/c.h", CROOKED)
        .with(".hidden/d.uc", CROOKED)
        .with("whole.uc", LOOP);
    dir.npsim("fmt --check .").expect(
        1,
        &[
            "./a.uc:1: 2 lines",
            "./sub/b.UC:1: 2 lines",
            "2 files are",
            "npsim fmt",
        ],
    );
    assert_eq!(
        dir.read("a.uc"),
        CROOKED.as_bytes(),
        "a check writes nothing"
    );
    dir.npsim("fmt .").expect(0, &[]);
    for name in ["a.uc", "sub/b.UC", "whole.uc"] {
        assert_eq!(dir.read(name), LOOP.as_bytes(), "{name}");
    }
    for name in ["sub/c.h", ".hidden/d.uc"] {
        assert_eq!(dir.read(name), CROOKED.as_bytes(), "{name}");
    }
    dir.npsim("fmt --check .").expect(0, &[]);
    // A file that is named is laid out whatever it is called.
    dir.npsim("fmt sub/c.h").expect(0, &[]);
    assert_eq!(dir.read("sub/c.h"), LOOP.as_bytes());
}

#[test]
fn standard_input_goes_to_standard_output() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .args(["fmt", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("run npsim");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(CROOKED.as_bytes()).expect("write");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), LOOP);
}

#[test]
fn mistakes_are_told() {
    let dir = Dir::new()
        .with("latin.uc", b"nop\n; caf\xe9\n")
        .with("empty/readme.txt", "");
    dir.npsim("fmt none.uc")
        .expect(1, &["cannot read `none.uc`"]);
    dir.npsim("fmt latin.uc")
        .expect(1, &["not UTF-8 in line 2", "iconv"]);
    assert_eq!(dir.read("latin.uc"), b"nop\n; caf\xe9\n");
    let dir = dir.with("zz.uc", CROOKED);
    dir.npsim("fmt .").expect(1, &["`./latin.uc` is not UTF-8"]);
    assert_eq!(
        dir.read("zz.uc"),
        LOOP.as_bytes(),
        "the others are laid out"
    );
    dir.npsim("fmt empty").expect(1, &["`empty` has no `.uc`"]);
    let dir = dir.with("notes.md", "a,b\n");
    dir.npsim("fmt notes.md")
        .expect(1, &["`notes.md` is no microcode", "npsim fmt -"]);
    assert_eq!(dir.read("notes.md"), b"a,b\n");
    dir.npsim("fmt").expect(2, &["<FILE>"]);
}
