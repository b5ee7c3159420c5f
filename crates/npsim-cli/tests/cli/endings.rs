//! Every command ends soon by itself, or on request by Ctrl-C, `kill` or `timeout`.
//!
//! The commands are those with a row in [`command_rules`](crate::command_rules). No test measures how soon: the commands
//! interrupted here would run far longer than a test may.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command_rules::{Lines, Row, command, ended, folder, rows};
use crate::harness::root;

/// How a command ends if it is interrupted long before it is done.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OnInterrupt {
    /// The command saves its results and reports that it was interrupted.
    Saves,
    /// There is nothing to save: it ends where it is.
    AtOnce,
}

/// Commands that would run far longer than a test may. Those that read standard input wait for
/// input.
fn endless_commands() -> Vec<(Row, OnInterrupt)> {
    let root = root().canonicalize().expect("the repository");
    let root = root.display();
    let row = |command, arguments: &str, ends| {
        let row = Row {
            command,
            arguments: arguments.to_owned(),
            lines: Lines::Free,
        };
        (row, ends)
    };
    let forward = format!("{root}/microcode/forward");
    let networks = format!("{root}/traces/networks");
    let load = "--load 1 --time 1000s";
    vec![
        row("run", &format!("{forward} {load}"), OnInterrupt::Saves),
        row(
            "run",
            &format!("{forward} {load} --hops 2"),
            OnInterrupt::Saves,
        ),
        row(
            "run",
            &format!("{forward} {load} --timeline t.json --packets p.csv --report page"),
            OnInterrupt::Saves,
        ),
        row("run", "loop.uc --no-skip --until 1000s", OnInterrupt::Saves),
        row(
            "run",
            "loop.uc --no-skip --until 1000s --core reference",
            OnInterrupt::Saves,
        ),
        row(
            "debug",
            &format!("{forward} {load} --script go.txt --batch"),
            OnInterrupt::Saves,
        ),
        row("debug", "loop.uc --batch", OnInterrupt::Saves),
        row("debug", "loop.uc", OnInterrupt::Saves),
        row(
            "network",
            &format!("{networks}/dumbbell.toml --until 1000000s"),
            OnInterrupt::Saves,
        ),
        row(
            "network",
            &format!("{networks}/dumbbell-chip.toml --until 10000s"),
            OnInterrupt::Saves,
        ),
        row(
            "live",
            &format!("{forward}/arp.toml --stats live.json"),
            OnInterrupt::Saves,
        ),
        row("sweep", "long.toml --out r", OnInterrupt::Saves),
        row("sweep", "long-net.toml --out r", OnInterrupt::Saves),
        row("sweep", "long-network.toml --out r", OnInterrupt::Saves),
        row("reproduce", "long.toml --out r", OnInterrupt::Saves),
        row(
            "sensitivity",
            &format!("hauger --root {root} --out r"),
            OnInterrupt::Saves,
        ),
        row(
            "bundle make",
            &format!("-- run {forward} {load}"),
            OnInterrupt::Saves,
        ),
        row(
            "trace gen",
            &format!("{load} -o gen.pcap"),
            OnInterrupt::AtOnce,
        ),
        row("dap", "", OnInterrupt::AtOnce),
        row("lsp", "", OnInterrupt::AtOnce),
    ]
}

/// Commands that have no endless work. They leave Ctrl-C to the system.
const SHORT_COMMANDS: [&str; 19] = [
    "asm",
    "bundle info",
    "bundle replay",
    "check",
    "check-exercise",
    "checks",
    "chip",
    "codes",
    "completions",
    "disasm",
    "docs",
    "explain",
    "fmt",
    "isa",
    "man",
    "new",
    "pp",
    "trace info",
    "trace order",
];

/// Whether a process has a handler for the signal of `kill`.
fn has_signal_handler(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 1 << 14 != 0)
}

#[test]
fn long_commands_end_when_interrupted() {
    let forward = root().join("microcode/forward").canonicalize().expect("it");
    let dumbbell = root().join("traces/networks/dumbbell.toml");
    let dumbbell = dumbbell.canonicalize().expect("it");
    let long = |sweep: &str, metric: &str| {
        format!(
            "name = \"long\"\ntitle = \"Long\"\n[window]\nmeasure = \"1000s\"\n\
             [metric.rate]\n{metric}\n[sweep.a]\nset = {{ {sweep}\n"
        )
    };
    let rate = "measure = \"egress-bit-rate\"\nfcs = true";
    let chip = format!(
        "\"load.rate\" = 1.0, \"load.time\" = \"1000s\" }}\nsystem = {:?}",
        forward.display()
    );
    let network = format!(
        "until = \"1000000s\" }}\nnetwork = {:?}",
        dumbbell.display()
    );
    let dir = folder()
        .with("go.txt", "continue\n")
        .with("long.toml", long(&chip, rate))
        .with(
            "long-net.toml",
            long("packets = 5000000 }\nnet = true", rate),
        )
        .with("long-network.toml", long(&network, "measure = \"goodput\""));
    let before = dir.files();
    for (row, ends) in endless_commands() {
        let what = format!("npsim {} {}", row.command, row.arguments);
        let mut command = command(&dir, &row);
        command.stdin(Stdio::piped());
        let mut child = command.spawn().expect("run npsim");
        let stdin = child.stdin.take();
        let begun = Instant::now();
        while ends == OnInterrupt::Saves && !has_signal_handler(child.id()) {
            assert!(begun.elapsed() < Duration::from_mins(2), "`{what}`");
            assert!(child.try_wait().expect("its state").is_none(), "`{what}`");
            std::thread::sleep(Duration::from_millis(10));
        }
        // By then, the run is in progress or about to start.
        std::thread::sleep(Duration::from_millis(200));
        let asked = Command::new("kill").arg(child.id().to_string()).status();
        assert!(asked.expect("kill").success(), "`{what}`");
        let came = ended(child, &what);
        drop(stdin);
        let code = (ends == OnInterrupt::Saves).then_some(130);
        assert_eq!(came.code, code, "`{what}`:\n{}{}", came.out, came.err);
        for name in dir.files() {
            assert!(!name.contains(".part"), "`{what}` leaves {name}");
            let path = dir.path(&name);
            if before.contains(&name) {
                continue;
            }
            assert_eq!(ends, OnInterrupt::Saves, "`{what}` leaves {name}");
            if path.is_dir() {
                std::fs::remove_dir_all(path).expect("remove it");
            } else {
                std::fs::remove_file(path).expect("remove it");
            }
        }
    }
}

#[test]
fn every_command_is_short_or_tested_for_interruption() {
    let rows: BTreeSet<_> = rows().iter().map(|row| row.command).collect();
    let endless_commands: BTreeSet<_> = endless_commands()
        .iter()
        .map(|(row, _)| row.command)
        .collect();
    let soon: BTreeSet<_> = SHORT_COMMANDS.into_iter().collect();
    assert!(endless_commands.is_disjoint(&soon));
    assert_eq!(rows, &endless_commands | &soon);
}
