//! busybox of Debian's armel: a program of a megabyte from another compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{linux, qemu};

/// The program: `NPSIM_BUSYBOX`, or a package fetched before, or with `NPSIM_THOROUGH` now.
fn busybox() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("NPSIM_BUSYBOX") {
        return Some(path.into());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("armel");
    let program = folder.join("bin/busybox");
    if !program.exists() && std::env::var_os("NPSIM_THOROUGH").is_some() {
        fetch(&folder);
    }
    if program.exists() {
        return Some(program);
    }
    eprintln!("skipped: no busybox of armel (NPSIM_BUSYBOX, or NPSIM_THOROUGH to fetch it)");
    None
}

/// Fetches and unpacks the package with a package database of its own.
fn fetch(folder: &Path) {
    let script = r#"
        set -e
        mkdir -p state/lists/partial cache/archives/partial
        : > state/status
        set -- -q -o APT::Architecture=armel -o APT::Architectures::=armel -o Dir::State="$PWD/state" \
            -o Dir::State::status="$PWD/state/status" -o Dir::Cache="$PWD/cache"
        apt-get "$@" update
        apt-get "$@" download busybox-static
        dpkg-deb -x busybox-static_*.deb .
    "#;
    std::fs::create_dir_all(folder).unwrap();
    let fetched = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .output();
    if !fetched.is_ok_and(|output| output.status.success()) {
        eprintln!("the package busybox-static of armel could not be fetched");
    }
}

/// Text whose lines can be compressed and sorted.
fn text(lines: u32) -> Vec<u8> {
    let mut state = 12345u32;
    (0..lines)
        .flat_map(|n| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            format!("{:05} line {n} of a text with {}\n", state >> 15, state % 7).into_bytes()
        })
        .collect()
}

const SCRIPT: &str = r#"
fib() { if [ $1 -lt 2 ]; then echo $1; else a=$(($1 - 1)); b=$(($1 - 2)); r=$((a * b)); echo "$1 $r"; fi; }
i=0; while [ $i -lt 40 ]; do fib $i; i=$((i + 1)); done
for word in alpha beta gamma; do case $word in b*) echo "second: $word";; *) echo "${word#a}";; esac; done
printf '%05d %x %s\n' 42 255 end
read first second; echo "$second, $first"
"#;

#[test]
fn busybox_matches_qemu_output() {
    let Some(program) = busybox() else { return };
    if !qemu::available("qemu-arm") {
        return;
    }
    let file = std::fs::read(&program).unwrap();
    let text = text(npsim_strategy::cases(400));
    for arguments in [
        &["busybox", "md5sum"][..],
        &["busybox", "sha256sum"],
        &["busybox", "sort"],
        &["busybox", "sort", "-rn"],
        &["busybox", "gzip", "-9"],
        &["busybox", "bzip2"],
        &["busybox", "sh", "-c", SCRIPT],
        &[
            "busybox",
            "awk",
            "{ sum += $1 * 1.5; n[$NF]++ } END { print sum, sum / NR; for (k = 0; k < 7; k++) print n[k] }",
        ],
        &["busybox", "sed", "s/line \\([0-9]*\\)/<\\1>/; /5/d"],
        &["busybox", "wc"],
        &["busybox", "no-such-applet"],
    ] {
        let expected = qemu::run("qemu-arm", &program, arguments, &text);
        let found = linux::run(&file, arguments, &text);
        assert!(
            found == Ok(expected),
            "{arguments:?}: {:?}",
            found.map(|found| found.code)
        );
    }
}
