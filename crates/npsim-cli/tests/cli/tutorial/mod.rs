//! The tutorials in `docs/src` work as written.
//!
//! A page is followed from top to bottom in a folder of its own that holds
//! copies of `microcode/` and `traces/`, as the reader would at the root of the
//! repository:
//!
//! * a block that opens with `uc,file=NAME` is written to that file, one that opens
//!   with `toml,append=NAME` is added at its end, or begins it;
//! * `uc,same=NAME` must be the same as that file of the repository;
//! * `json,from=FILE,at=POINTER` must be the value in that file;
//! * of a `console` block, lines after `$ ` are run, and what follows is what
//!   they print. `[..]` stands for anything in a line, a line `...` for any
//!   lines.
//!
//! Blocks that open with `console,thorough` are run where `NPSIM_THOROUGH` is set: whole studies.
//!
//! With `NPSIM_UPDATE_DOCS=1` in the environment, console blocks that differ are rewritten, with
//! the speed of the host elided. Lines `...` stay if the lines around them are still there; other
//! elisions have to be made again.

pub mod console;
mod page;

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use npsim_net::capture::Capture;
use npsim_net::load::Stamp;
use page::Page;

use crate::harness::root;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("make a folder");
    for entry in fs::read_dir(from).expect("list a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copy a file");
        }
    }
}

/// Follows a page; returns the folder with all resulting files.
fn follow(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for shared in ["microcode", "traces"] {
        copy(&root().join(shared), &folder.path().join(shared));
    }
    let path = root().join("docs/src").join(name);
    let page = Page::read(&path);
    let outcome = page.follow(folder.path(), &root());
    if std::env::var_os("NPSIM_UPDATE_DOCS").is_some() {
        fs::write(&path, outcome.text).expect("write the page");
    }
    assert!(
        outcome.failures.is_empty(),
        "{name}:\n{}",
        outcome.failures.join("\n")
    );
    assert!(outcome.commands > 0, "{name} has no console block");
    folder
}

/// The frames of a capture as on a wire, where they have at least 60 bytes, by port; `ports`
/// assigns them to ports in turn.
fn frames(path: &Path, ports: Option<usize>) -> Vec<VecDeque<Vec<u8>>> {
    let mut queues = vec![VecDeque::new(); 3];
    let capture = Capture::open(path).expect("a capture");
    for (number, mut frame) in capture.frames.into_iter().enumerate() {
        frame.bytes.resize(frame.bytes.len().max(60), 0);
        let port = ports.map_or(frame.port as usize, |count| number % count);
        queues[port].push_back(frame.bytes);
    }
    queues
}

/// Whether a capture of departures, which has no ports, contains all frames of all queues, with
/// each queue in order.
fn assert_merged(departures: &Path, mut queues: Vec<VecDeque<Vec<u8>>>) {
    let departures = frames(departures, None)
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    assert!(!departures.is_empty());
    for (number, frame) in departures.iter().enumerate() {
        let queue = queues.iter_mut().find(|queue| queue.front() == Some(frame));
        let queue =
            queue.unwrap_or_else(|| panic!("frame {number} was changed or is out of order"));
        queue.pop_front();
    }
    assert!(queues.iter().all(VecDeque::is_empty), "frames are missing");
}

#[test]
fn first_firmware() {
    let folder = follow("first-firmware.md");
    let mut frames = frames(&folder.path().join("traces/two-ports.pcapng"), None);
    let as_they_were = frames.clone();
    assert_merged(&folder.path().join("first/wire.pcap"), as_they_were);
    for frame in frames.iter_mut().flatten() {
        let (receiver, sender) = frame[..12].split_at_mut(6);
        receiver.swap_with_slice(sender);
    }
    assert_merged(&folder.path().join("first/reply.pcap"), frames);
}

#[test]
fn where_the_cycles_went() {
    let folder = follow("where-the-cycles-went.md");
    let frames = frames(&folder.path().join("traces/mixed.pcap"), Some(3));
    assert_merged(&folder.path().join("wire8.pcap"), frames);
}

#[test]
fn traceroute() {
    let folder = follow("traceroute.md");
    let page = fs::read_to_string(root().join("docs/src/traceroute.md")).expect("the page");
    // The output of tshark on the page, if tshark is installed.
    for hop in 1..=3 {
        let command = format!(
            "tshark -r hop{hop}.pcap -T fields -E occurrence=f -e ip.src -e icmp.type -e ip.ttl"
        );
        let mut words = command.split(' ');
        let program = words.next().expect("a program");
        let output = std::process::Command::new(program)
            .args(words)
            .current_dir(folder.path())
            .output();
        let Ok(output) = output else {
            eprintln!("tshark is not asked");
            return;
        };
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(text.lines().count(), 3);
        let shown = format!("$ {command}\n{text}");
        assert!(page.contains(&shown), "{shown}");
    }
}

#[test]
fn slow_path_in_c() {
    let folder = follow("slow-path-in-c.md");
    let frames = |name: &str| frames(&folder.path().join(name), None);
    assert_eq!(frames("task.pcap"), frames("program.pcap"));
    let kept = fs::read_to_string(folder.path().join("shell.txt")).expect("text of the UART");
    assert!(kept.contains("> route add 198.51.100.0/24"), "{kept}");
    assert!(kept.contains("routes: added 1"), "{kept}");
}

#[test]
fn networks() {
    follow("networks.md");
}

#[test]
fn standing_queue() {
    follow("standing-queue.md");
}

#[test]
fn lost_packet() {
    follow("lost-packet.md");
}

#[test]
fn checkpoints() {
    follow("checkpoints.md");
}

#[test]
fn coprocessor() {
    follow("coprocessor.md");
}

#[test]
fn timing() {
    follow("timing.md");
}

#[test]
fn troubleshooting() {
    follow("troubleshooting.md");
}

#[test]
fn govind() {
    follow("govind.md");
}

#[test]
fn sensitivity() {
    let folder = follow("sensitivity.md");
    let table = folder
        .path()
        .join("npsim-results/baseline-sensitivity/sensitivity.md");
    assert!(
        fs::read_to_string(table)
            .unwrap()
            .contains("COUNTER_BITS 32")
    );
}

#[test]
fn hauger() {
    follow("hauger.md");
}

#[test]
fn zhang() {
    follow("zhang.md");
}

#[test]
fn shang() {
    follow("shang.md");
}

#[test]
fn baseline() {
    let folder = follow("baseline.md");
    let results = folder.path().join("npsim-results/baseline/results.json");
    assert!(results.is_file());
}

#[test]
fn experiments() {
    let folder = follow("experiments.md");
    let results = folder.path().join("npsim-results/under-load/results.json");
    let text = fs::read_to_string(results).expect("results.json");
    let results: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(results["points"].as_array().map(Vec::len), Some(8));
}

#[test]
fn report() {
    let folder = follow("report.md");
    let page = fs::read_to_string(folder.path().join("report/index.html")).expect("a page");
    assert!(
        page.contains("Nothing is saturated"),
        "the last run's verdict"
    );
}

#[test]
fn explain() {
    follow("explain.md");
}

#[test]
fn profile() {
    let folder = follow("profile.md");
    let picture = fs::read_to_string(folder.path().join("flame.svg")).expect("a picture");
    assert!(picture.ends_with("</svg>\n"), "{picture}");
}

#[test]
fn timeline() {
    let folder = follow("timeline.md");
    let bytes = fs::read(folder.path().join("wire.json.gz")).expect("a timeline");
    assert_eq!(bytes[..2], [0x1f, 0x8b], "compressed");
}

#[test]
fn traffic() {
    follow("traffic.md");
}

#[test]
fn hops() {
    follow("hops.md");
}

#[test]
fn order_metrics() {
    let folder = follow("order-metrics.md");
    // The page states that both ways of identifying packets agree.
    let counters = |options: &str| {
        let out = assert_cmd::Command::new(env!("CARGO_BIN_EXE_npsim"))
            .current_dir(folder.path())
            .args(["trace", "order", "loose.pcap", "--format", "json"])
            .args(options.split_whitespace())
            .output()
            .expect("run npsim");
        let mut report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let missing = report["order"]["missing"].take().as_u64();
        (report["order"].take(), missing)
    };
    let (by_stamps, gaps) = counters("");
    let (by_frames, missing) = counters("--against in.pcapng");
    assert_eq!(by_stamps, by_frames);
    assert!(by_stamps["reordered"].as_u64() > Some(100));
    assert!(gaps > Some(0) && missing > gaps, "{gaps:?} {missing:?}");
}

#[test]
fn chips() {
    follow("chips.md");
}

#[test]
fn find_the_bottleneck() {
    let folder = follow("find-the-bottleneck.md");
    let page = fs::read_to_string(folder.path().join("report/index.html")).expect("a page");
    assert!(page.contains("(queue_manager.uc) is the limit"));
}

#[test]
fn debugger() {
    follow("debugger.md");
}

#[test]
fn build_quick_start() {
    let folder = follow("build-quick-start.md");
    let own = folder.path().join("my-quick-start");
    for step in ["all", "counter", "lock", "atomic", "windows"] {
        assert!(own.join(step).join("grant.uc").is_file(), "step `{step}`");
    }
}

/// The numbers that the first 64 frames of a capture have in their flow, in the
/// order in which they left, eight in a line.
fn numbers(path: &Path) -> String {
    let capture = Capture::open(path).expect("a capture");
    let numbers: Vec<String> = capture.frames[..64]
        .iter()
        .map(|frame| {
            let stamp = Stamp::read(&frame.bytes).expect("a stamp");
            format!("{:4}", stamp.sequence)
        })
        .collect();
    numbers.chunks(8).map(|row| row.concat() + "\n").collect()
}

#[test]
fn keep_order() {
    let folder = follow("keep-order.md");
    let page = fs::read_to_string(root().join("docs/src/keep-order.md")).expect("the page");
    for capture in ["rows.pcap", "columns.pcap"] {
        let numbers = numbers(&folder.path().join(capture));
        assert!(page.contains(&numbers), "{capture}:\n{numbers}");
    }
}

#[test]
fn course_contexts() {
    follow("course-1.md");
}

#[test]
fn course_locks() {
    follow("course-2.md");
}

#[test]
fn course_order() {
    follow("course-3.md");
}

#[test]
fn packets() {
    follow("packets.md");
}

#[test]
fn every_page_with_commands_is_followed() {
    let tests = include_str!("mod.rs");
    for entry in fs::read_dir(root().join("docs/src")).expect("list docs/src") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        let has_commands =
            path.extension().is_some_and(|e| e == "md") && Page::read(&path).has_commands();
        assert!(
            !has_commands || tests.contains(&format!("follow(\"{name}\")")),
            "no test follows {name}"
        );
    }
}
