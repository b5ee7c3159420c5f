//! Rules for every command: lines fit, no styles, no panic if the output is not read or the disk is full, output paths
//! are checked first, and at most one output is standard output.
//!
//! The commands are those that the help lists. A command without a row in [`rows`] fails.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Dir, LOOP, pcap, root};

/// Commands whose lines are as wide as the sources, words or scripts that they print.
#[derive(Clone, Copy, PartialEq)]
pub enum Lines {
    Fit,
    Free,
}

/// A command, arguments with which it soon ends, and whether its lines fit.
pub struct Row {
    pub command: &'static str,
    pub arguments: String,
    pub lines: Lines,
}

pub fn rows() -> Vec<Row> {
    let root = root().canonicalize().expect("the repository");
    let root = root.display();
    let row = |command, arguments: &str, lines| Row {
        command,
        arguments: arguments.to_owned(),
        lines,
    };
    let forward = format!("{root}/microcode/forward");
    let load = "--load 0.5 --time 100us";
    vec![
        row(
            "run",
            &format!("{forward} {load} --profile --packet 3"),
            Lines::Fit,
        ),
        row(
            "run",
            &format!("{forward} {load} --report page"),
            Lines::Fit,
        ),
        row("run", &format!("{forward} {load} --hops 2"), Lines::Fit),
        row(
            "run",
            &format!("{forward} {load} --format json"),
            Lines::Free,
        ),
        row("debug", "loop.uc --batch", Lines::Fit),
        row("dap", "", Lines::Fit),
        row("asm", "loop.uc", Lines::Fit),
        row("asm", "loop.uc --listing", Lines::Free),
        row("disasm", "loop.hex", Lines::Free),
        row("explain", "loop.uc:2", Lines::Fit),
        row("pp", "loop.uc", Lines::Free),
        row("fmt", "--check crooked.uc", Lines::Fit),
        row("new", "--from loop.uc --out made", Lines::Fit),
        row(
            "network",
            &format!("{root}/traces/networks/dumbbell.toml --until 60s"),
            Lines::Fit,
        ),
        row(
            "live",
            &format!("{forward}/arp.toml --until 100ms"),
            Lines::Fit,
        ),
        row("sweep", "turns.toml --list", Lines::Fit),
        row("sweep", "turns.toml", Lines::Fit),
        row("reproduce", "", Lines::Fit),
        row("reproduce", "study.toml", Lines::Fit),
        row("sensitivity", "study.toml --list", Lines::Fit),
        row("chip", "", Lines::Fit),
        row("chip", "ixp2800", Lines::Fit),
        row("chip", "enp-2611 --sources", Lines::Fit),
        row("chip", "ixp2400 --latencies", Lines::Fit),
        row("checks", "", Lines::Fit),
        row("checks", "deadlock", Lines::Fit),
        row("check", "loop.uc", Lines::Fit),
        row(
            "check-exercise",
            &format!("{root}/microcode/course/one-reader"),
            Lines::Fit,
        ),
        row("docs", "", Lines::Fit),
        row("docs", "course-1", Lines::Fit),
        row("codes", "", Lines::Fit),
        row("codes", "bank-conflict", Lines::Fit),
        row("isa", "", Lines::Fit),
        row("isa", "local", Lines::Fit),
        row("isa", "ctx_arb", Lines::Fit),
        row("completions", "bash", Lines::Free),
        row("man", "pages", Lines::Fit),
        row("lsp", "", Lines::Fit),
        row(
            "trace gen",
            "--load 0.5 --time 50us -o made.pcap",
            Lines::Fit,
        ),
        row(
            "bundle make",
            "-o made.npsim-bundle -- asm loop.uc",
            Lines::Fit,
        ),
        row("bundle info", "loop.npsim-bundle", Lines::Free),
        row("bundle replay", "loop.npsim-bundle", Lines::Fit),
        row("trace info", "in.pcap", Lines::Fit),
        row("trace order", "flows.pcap --each", Lines::Fit),
    ]
}

const SWEEP: &str = r#"
name = "turns"
title = "Turns"
[window]
measure = "20us"
[metric.busy_of_the_microengine_in_the_window]
measure = "count"
of = ["microengines.0.executing"]
[metric.instructions_of_the_microengine_in_the_window]
measure = "count"
of = ["microengines.0.instructions"]
[metric.idle_of_the_microengine_in_the_window]
measure = "count"
of = ["microengines.0.idle"]
[sweep.count]
system = "loop.uc"
[[sweep.count.axis]]
name = "turns"
key = "define.TURNS"
values = [10, 100]
"#;

pub fn folder() -> Dir {
    let dir = Dir::new()
        .with("loop.uc", LOOP)
        .with("crooked.uc", "  here#:\nctx_arb[ voluntary ],br[here#]\n")
        .with("in.pcap", pcap(1, &[(0, 60), (9, 61)]))
        .with("turns.toml", SWEEP)
        .with("study.toml", SWEEP);
    dir.npsim("asm loop.uc -o loop.hex").expect(0, &[]);
    dir.npsim("bundle make -o loop.npsim-bundle -- asm loop.uc")
        .expect(0, &[]);
    dir.npsim("trace gen --load 0.5 --time 50us --quiet -o flows.pcap")
        .expect(0, &[]);
    dir
}

pub fn command(dir: &Dir, row: &Row) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_npsim"));
    command
        .current_dir(dir.path("."))
        .args(row.command.split(' '))
        .args(row.arguments.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR");
    command
}

/// The result of a command; a command that does not end is a failure.
pub struct Finished {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

fn read_in_thread(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).expect("its output");
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

pub fn ended(mut child: Child, what: &str) -> Finished {
    let (out, err) = (
        read_in_thread(child.stdout.take()),
        read_in_thread(child.stderr.take()),
    );
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("its state") {
            break status;
        }
        if begun.elapsed() > Duration::from_mins(2) {
            child.kill().expect("end it");
            panic!("`{what}` does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let came = Finished {
        code: status.code(),
        out: out.join().expect("a reader"),
        err: err.join().expect("a reader"),
    };
    for sign in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
        assert!(!came.err.contains(sign), "`{what}`:\n{}", came.err);
    }
    came
}

fn run(mut command: Command, row: &Row) -> Finished {
    let what = format!("npsim {} {}", row.command, row.arguments);
    ended(command.spawn().expect("run npsim"), &what)
}

/// The commands that the help of `npsim` lists, and those below them.
fn listed(dir: &Dir, parent: &str) -> Vec<String> {
    let help = dir.npsim(&format!("{parent} --help")).expect(0, &[]).out;
    let Some((_, commands)) = help.split_once("Commands:\n") else {
        return vec![parent.to_owned()];
    };
    let names = commands.lines().map_while(|line| {
        let text = line.strip_prefix("  ")?;
        Some((!text.starts_with(' ')).then(|| text.split(' ').next().expect("a name")))
    });
    let names = names.flatten().filter(|name| !["help", ""].contains(name));
    let below = names.flat_map(|name| listed(dir, format!("{parent} {name}").trim()));
    below.collect()
}

#[test]
fn every_command_has_a_row() {
    let listed: BTreeSet<String> = listed(&Dir::new(), "").into_iter().collect();
    let known: BTreeSet<String> = rows().iter().map(|row| row.command.to_owned()).collect();
    assert!(listed.len() > 20, "{listed:?}");
    assert_eq!(listed, known, "what the help lists, and what has a row");
}

#[test]
fn lines_fit_the_width() {
    let dir = folder();
    for row in rows().iter().filter(|row| row.lines == Lines::Fit) {
        for width in ["80", "100", "200"] {
            let mut command = command(&dir, row);
            command.env("COLUMNS", width);
            let came = run(command, row);
            let most: usize = width.parse().expect("a number");
            for line in came.out.lines() {
                let wide = line.chars().count() > most && line.trim().contains(' ');
                assert!(
                    !wide,
                    "`{} {}` at {width}:\n{line}",
                    row.command, row.arguments
                );
            }
            std::fs::remove_dir_all(dir.path("made")).ok();
        }
        // Without a terminal a page has 100 columns.
        let came = run(command(&dir, row), row);
        let widest = came.out.lines().filter(|line| line.trim().contains(' '));
        let widest = widest.map(|line| line.chars().count()).max();
        assert!(
            widest <= Some(100),
            "`{} {}`:\n{}",
            row.command,
            row.arguments,
            came.out
        );
        std::fs::remove_dir_all(dir.path("made")).ok();
    }
}

#[test]
fn no_color_suppresses_styles() {
    let dir = folder();
    for row in rows() {
        let mut command = command(&dir, &row);
        command.env("NO_COLOR", "1");
        let came = run(command, &row);
        for text in [&came.out, &came.err] {
            assert!(
                !text.contains('\u{1b}'),
                "`{} {}`",
                row.command,
                row.arguments
            );
        }
    }
}

#[test]
fn closed_output_pipe_is_no_error() {
    let dir = folder();
    for row in rows() {
        let what = format!("npsim {} {}", row.command, row.arguments);
        let whole = run(command(&dir, &row), &row);
        std::fs::remove_dir_all(dir.path("made")).ok();
        let mut child = command(&dir, &row).spawn().expect("run npsim");
        drop(child.stdout.take());
        let came = ended(child, &what);
        let codes = [Some(0), whole.code];
        assert!(
            codes.contains(&came.code),
            "`{what}`: {:?}\n{}",
            came.code,
            came.err
        );
        std::fs::remove_dir_all(dir.path("made")).ok();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_is_reported() {
    let dir = folder();
    for row in rows() {
        let what = format!("npsim {} {}", row.command, row.arguments);
        let whole = run(command(&dir, &row), &row);
        std::fs::remove_dir_all(dir.path("made")).ok();
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full");
        let mut command = command(&dir, &row);
        command.stdout(full);
        let came = run(command, &row);
        std::fs::remove_dir_all(dir.path("made")).ok();
        if whole.out.is_empty() {
            assert_eq!(came.code, whole.code, "`{what}`");
            continue;
        }
        assert_eq!(came.code, Some(1), "`{what}`:\n{}", came.err);
        assert!(
            came.err.contains("No space left"),
            "`{what}`:\n{}",
            came.err
        );
    }
}

/// A run that does not end by itself.
const ENDLESS: &str = "run loop.uc --trace in.pcap --no-skip --until 1000s";

/// Options of `npsim run` that write, with the text before and after the path.
const OUTPUTS: [(&str, &str); 10] = [
    ("--out", ""),
    ("--stats", ""),
    ("--report", ""),
    ("--dump", "free_buffers="),
    ("--uart", ""),
    ("--profile", ""),
    ("--flame", ""),
    ("--flame-waits", ""),
    ("--timeline", ""),
    ("--packets", ""),
];

#[test]
fn unwritable_output_is_reported_before_the_run() {
    let dir = folder().with("file", "not a folder");
    for (option, before) in OUTPUTS {
        let words = format!("{ENDLESS} {option}={before}file/x");
        // A missing name is reported first, and also ends the run.
        let row = Row {
            command: "run",
            arguments: words.strip_prefix("run ").expect("a run").to_owned(),
            lines: Lines::Fit,
        };
        let came = run(command(&dir, &row), &row);
        assert_eq!(came.code, Some(1), "{option}:\n{}", came.err);
    }
    assert_eq!(dir.read("file"), b"not a folder");
}

#[test]
fn failed_assembly_leaves_existing_files_unchanged() {
    let dir = Dir::new()
        .with("out.json", "old")
        .with("broken.uc", "nonsense[\n");
    dir.npsim("run broken.uc --until 1us --stats out.json")
        .expect(1, &[]);
    assert_eq!(dir.read("out.json"), b"old");
    assert_eq!(dir.files(), ["broken.uc", "out.json"]);
}

#[test]
fn a_dash_is_standard_output() {
    let dir = folder();
    let run = "run loop.uc --trace in.pcap --until 20us";
    for (options, begin) in [
        ("--stats -", "{"),
        ("--timeline -", ""),
        ("--packets -", ""),
        ("--profile=-", "{"),
        ("--flame -", ""),
        ("--out -", "M<"),
    ] {
        let row = Row {
            command: "run",
            arguments: format!("{} {options}", run.strip_prefix("run ").expect("a run")),
            lines: Lines::Free,
        };
        let came = self::run(command(&dir, &row), &row);
        assert_eq!(came.code, Some(0), "{options}:\n{}", came.err);
        assert!(
            !came.out.is_empty() && came.out.starts_with(begin),
            "{options}:\n{}",
            came.out
        );
        assert!(!came.out.contains("simulated "), "{options}:\n{}", came.out);
        assert!(came.err.contains("simulated "), "{options}:\n{}", came.err);
    }
    let done = dir
        .npsim(&format!("{run} --stats - --quiet"))
        .expect(0, &[]);
    let stats: serde_json::Value = serde_json::from_str(&done.out).expect("JSON alone");
    assert!(stats["schema"].is_string());
    assert_eq!(done.err, "");
}

#[test]
fn standard_output_is_used_by_one_option_only() {
    let dir = folder();
    let run = "run loop.uc --trace in.pcap --until 20us";
    dir.npsim(&format!("{run} --stats - --packets -")).expect(
        2,
        &[
            "--stats and --packets both ask for standard output",
            "npsim run",
        ],
    );
    dir.npsim(&format!("{run} --flame - --flame -"))
        .expect(2, &["--flame asks for standard output twice"]);
    dir.npsim(&format!("{run} --format json --out -"))
        .expect(2, &["--out and --format json"]);
    dir.npsim(&format!("{run} --report -"))
        .expect(2, &["the output is a folder"]);
    dir.npsim(&format!("{run} --checkpoint -"))
        .expect(2, &["replaced repeatedly"]);
    dir.npsim(&format!("{run} --checkpoint x.ckpt --out -"))
        .expect(1, &["could not go on with standard output"]);
    dir.npsim(&format!("{run} --hops 2 --packets -"))
        .expect(1, &["several routers"]);
    assert!(!dir.files().contains(&"-".to_owned()));
}
