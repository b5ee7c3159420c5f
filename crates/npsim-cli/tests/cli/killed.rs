//! Files left by a run that is ended from outside.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use npsim_net::capture::Capture;

use crate::harness::{Dir, LOOP, pcap};

const INTERRUPTED: i32 = 130;

fn spawn_run(dir: &Dir, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(dir.path("."))
        .args(["run", "loop.uc", "--trace", "in.pcap", "--no-skip"])
        .args(["--until", "1000s", "--out", "out.pcap"])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("run npsim")
}

fn folder() -> Dir {
    // The second frame arrives at a time that the run never reaches.
    Dir::new()
        .with("loop.uc", LOOP)
        .with("in.pcap", pcap(1, &[(0, 60), (900_000_000, 60)]))
}

#[test]
#[cfg(target_os = "linux")]
fn killed_run_leaves_no_files() {
    let dir = folder();
    let mut run = spawn_run(&dir, &["--explain"]);
    let out = run.stdout.take().expect("its output");
    let mut first = String::new();
    BufReader::new(out).read_line(&mut first).expect("a line");
    // The capture is being written once a file without a name is open in its folder.
    let folder = std::fs::canonicalize(dir.path(".")).expect("the folder");
    let open = format!("/proc/{}/fd", run.id());
    let begun = || {
        let files = std::fs::read_dir(&open).expect("open files");
        files.flatten().any(|file| {
            let file = std::fs::read_link(file.path());
            file.is_ok_and(|file| file.starts_with(&folder) && !file.ends_with("in.pcap"))
        })
    };
    for _ in 0..600 {
        if begun() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(begun(), "no capture is being written");
    run.kill().expect("kill it");
    run.wait().expect("its end");
    assert_eq!(dir.files(), ["in.pcap", "loop.uc"]);
}

#[test]
#[cfg(unix)]
fn terminated_run_saves_its_results() {
    let dir = folder();
    let mut run = spawn_run(&dir, &["--checkpoint", "run.ckpt"]);
    // The first checkpoint is written once the run handles signals.
    for _ in 0..600 {
        if dir.path("run.ckpt").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let asked = Command::new("kill").arg(run.id().to_string()).status();
    assert!(asked.expect("kill").success());
    let ended = run.wait().expect("its end");
    assert_eq!(ended.code(), Some(INTERRUPTED));
    let capture = Capture::open(&dir.path("out.pcap")).expect("a capture");
    assert_eq!(capture.frames, []);
    assert_eq!(dir.files(), ["in.pcap", "loop.uc", "out.pcap", "run.ckpt"]);
}

/// A Petri net with enough packets to be still running when it is killed.
const NET: &str = r#"
name = "long"
title = "A long net"
[metric.gbps]
measure = "egress-bit-rate"
fcs = true
[sweep.a]
net = true
metrics = ["gbps"]
set = { packets = 5000000 }
"#;

#[test]
#[cfg(unix)]
fn terminated_sweep_does_not_finish_its_point() {
    let dir = Dir::new().with("long.toml", NET);
    let mut sweep = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(dir.path("."))
        .args(["sweep", "long.toml", "--out", "results"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run npsim");
    // The folder is made when the sweep can be asked.
    for _ in 0..600 {
        if dir.path("results").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let asked = Command::new("kill").arg(sweep.id().to_string()).status();
    assert!(asked.expect("kill").success());
    let ended = sweep.wait().expect("its end");
    // A point that runs to its end does not cause this code.
    assert_eq!(ended.code(), Some(INTERRUPTED));
}
