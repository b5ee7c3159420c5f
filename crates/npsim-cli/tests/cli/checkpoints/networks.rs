//! Networks of hosts that are saved, killed and resumed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::harness::{Dir, root};

/// Outputs that must be equal for an interrupted and an uninterrupted run.
const OUTPUTS: [&str; 4] = ["json", "csv", "pcapng", "pcap"];

fn shipped(name: &str) -> String {
    let path = root().join("traces/networks").join(name);
    path.canonicalize().expect("a file").display().to_string()
}

/// A command whose outputs are called `name`.
fn command(file: &str, options: &str, name: &str) -> String {
    format!(
        "network {file} {options} --stats {name}.json --series {name}.csv --sample-every 100ms --capture bottleneck={name}.pcapng --capture trunk={name}.pcapng --capture trunk={name}.pcap --quiet"
    )
}

fn contents(dir: &Dir, name: &str) -> [Vec<u8>; 4] {
    OUTPUTS.map(|ending| dir.read(&format!("{name}.{ending}")))
}

/// Kills a run repeatedly, each time after it has written another checkpoint.
fn kill(dir: &Dir, first: &str, checkpoint: &Path) -> usize {
    let again = format!("network --resume {}", checkpoint.display());
    let written = || {
        std::fs::metadata(checkpoint)
            .and_then(|file| file.modified())
            .ok()
    };
    let mut killed = 0;
    for round in 0..6 {
        let words = if round == 0 { first } else { &again };
        let threads = [" --threads 1", " --threads 2", " --threads 8"][round % 3];
        let before = written();
        let mut run = Command::new(env!("CARGO_BIN_EXE_npsim"))
            .current_dir(dir.path("."))
            .args(format!("{words}{threads}").split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("run npsim");
        // One is written when it begins.
        let mut seen = before;
        for _ in 0..2 {
            while written() == seen && run.try_wait().expect("its state").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            seen = written();
        }
        killed += usize::from(run.try_wait().expect("its state").is_none());
        run.kill().expect("kill it");
        run.wait().expect("its end");
    }
    killed
}

#[test]
fn killed_and_resumed_network_writes_identical_outputs() {
    for (file, options) in [
        (
            "dumbbell.toml",
            "--set until=60s --set from=10s --set link.bottleneck.loss.forward=0.01",
        ),
        ("dumbbell-xcp-chip.toml", "--set until=3s --set from=1s"),
    ] {
        let (dir, file) = (Dir::new(), shipped(file));
        dir.npsim(&command(&file, options, "whole")).expect(0, &[]);
        let first = command(&file, options, "killed") + " --checkpoint k.ckpt";
        let killed = kill(&dir, &first, &dir.path("k.ckpt"));
        assert!(killed > 0, "no process of {file} was killed");
        dir.npsim("network --resume k.ckpt").expect(0, &[]);
        assert!(
            contents(&dir, "whole") == contents(&dir, "killed"),
            "{file}"
        );
        let left: Vec<_> = dir.files();
        assert_eq!(left.len(), 2 * OUTPUTS.len() + 1, "{left:?}");
    }
}

#[test]
fn resumed_network_can_continue_to_a_later_time() {
    let (dir, file) = (Dir::new(), shipped("dumbbell-xcp.toml"));
    dir.npsim(&command(&file, "--until 60s", "whole"))
        .expect(0, &[]);
    let first = command(&file, "--until 40s", "part");
    dir.npsim(&format!(
        "{first} --checkpoint p.ckpt --checkpoint-every 7s"
    ))
    .expect(0, &[]);
    assert!(contents(&dir, "whole") != contents(&dir, "part"));
    dir.npsim("network --resume p.ckpt --until 39s")
        .expect(1, &["is at 40 s already"]);
    dir.npsim("network --resume p.ckpt --until 60s")
        .expect(0, &[]);
    assert!(contents(&dir, "whole") == contents(&dir, "part"));
}

#[test]
fn differences_from_a_saved_network_are_reported() {
    let text = std::fs::read_to_string(shipped("dumbbell.toml")).expect("a file");
    let text = text.replace("120s", "40s");
    let dir = Dir::new()
        .with("net.toml", &text)
        .with("none", "what is it?");
    dir.npsim("network net.toml --checkpoint n.ckpt --quiet --series n.csv")
        .expect(0, &[]);
    let saved = dir.read("n.ckpt");
    let dir = dir.with("cut", &saved[..saved.len() - 1]);
    let later = [&saved[..8], &[200], &saved[9..]].concat();
    let dir = dir.with("later", later);
    for (command, code, expected) in [
        ("network --resume gone", 1, "cannot read `gone`"),
        (
            "network --resume none",
            1,
            "`none` is not a checkpoint of npsim",
        ),
        ("network --resume cut", 1, "is damaged"),
        (
            "network --resume later",
            1,
            "format 200, written by a newer",
        ),
        ("run --resume n.ckpt", 1, "`npsim network --resume n.ckpt`"),
        (
            "network --resume n.ckpt --seed 2",
            2,
            "`--seed` cannot be given",
        ),
        (
            "network --resume n.ckpt net.toml",
            2,
            "a file cannot be given",
        ),
        ("network --resume n.ckpt --report page", 2, "--report"),
        (
            "network net.toml --checkpoint m.ckpt --report page",
            2,
            "--report",
        ),
        ("network net.toml --checkpoint-every 1s", 2, "--checkpoint"),
        (
            "network net.toml --checkpoint m.ckpt --capture trunk=t.pcap.gz",
            1,
            "a later run could not go on with compressed data",
        ),
        (
            "network net.toml --checkpoint net.toml",
            1,
            "would overwrite the network's file",
        ),
        (
            "network net.toml --checkpoint m --series m",
            1,
            "--checkpoint and --series both write `m`",
        ),
        ("network", 2, "FILE"),
    ] {
        dir.npsim(command).expect(code, &[expected]);
    }
    let dir = dir.with(
        "net.toml",
        text.replace("rate = \"10Mbps\"", "rate = \"11Mbps\""),
    );
    dir.npsim("network --resume n.ckpt")
        .expect(1, &["the network file `net.toml` has changed"]);
    let dir = dir.with("net.toml", &text).with("n.csv", "x");
    dir.npsim("network --resume n.ckpt --until 50s")
        .expect(1, &["begins with"]);
    assert_eq!(dir.read("n.csv"), b"x", "it is left alone");
}

/// The project and the microcode of a chip are inputs too.
#[test]
fn changed_chip_inputs_are_reported() {
    let dir = Dir::new();
    for folder in ["forward", "lib"] {
        std::fs::create_dir(dir.path(folder)).expect("a folder");
        let from = root().join("microcode").join(folder);
        for entry in std::fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.path().is_file() {
                let to = dir.path(folder).join(entry.file_name());
                std::fs::copy(entry.path(), to).expect("copy a file");
            }
        }
    }
    let text = std::fs::read_to_string(shipped("dumbbell-chip.toml")).expect("a file");
    let text = text
        .lines()
        .filter(|line| {
            !["me.", "buffers.", "[router.set]"]
                .iter()
                .any(|it| line.starts_with(it))
        })
        .map(|line| match line.strip_prefix("system = ") {
            Some(_) => "system = \"forward\"\n".to_owned(),
            None => line.to_owned() + "\n",
        })
        .collect::<String>();
    std::fs::write(dir.path("net.toml"), text).expect("write it");
    dir.npsim("network net.toml --set until=2s --set from=1s --checkpoint n.ckpt --quiet")
        .expect(0, &[]);
    let project = String::from_utf8(dir.read("forward/npsim.toml")).expect("text");
    let dir = dir.with("forward/npsim.toml", project + "\n# another\n");
    dir.npsim("network --resume n.ckpt").expect(
        1,
        &[
            "of the router `r1`, the project file",
            "npsim.toml with settings` has changed",
        ],
    );
}
