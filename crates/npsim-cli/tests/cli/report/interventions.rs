//! The verdict names the cause: making it a tenth slower reduces the throughput, or making it
//! faster increases it, and nothing else does.
//!
//! A stage is made slower by stalling all its contexts for 2 of every 20 microseconds, which rings
//! and buffers absorb if something else is the limit.

use std::path::Path;
use std::process::Command;

use crate::harness::root;

/// Simulated time in microseconds: long enough for the first frames not to count.
const TIME_US: usize = 400;

/// The least loss of throughput when the cause is made a tenth slower, in thousandths of the frames
/// sent.
const MIN_CAUSE_LOSS: i64 = 50;
/// The greatest loss when something else is made slower. A different order of events alone causes
/// half of it.
const MAX_OTHER_LOSS: i64 = 30;

/// A system under more load than it can carry.
struct Case<'a> {
    target: &'a str,
    /// A phrase of the headline.
    verdict: &'a str,
    /// The stage that is the cause.
    cause: &'a [u8],
    /// Other stages.
    others: &'a [&'a [u8]],
}

/// Runs a system for [`TIME_US`] at line rate; returns its output and the number of frames that
/// left.
fn run(target: &str, arguments: &[String], folder: &Path) -> (String, i64) {
    let stats = folder.join("stats.json");
    let time = format!("{TIME_US}us");
    let output = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .args(["run", target, "--load", "1", "--time", &time])
        .args(["--until", &time, "--stats"])
        .arg(&stats)
        .args(arguments)
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{target} {arguments:?}: {messages}"
    );
    let stats = std::fs::read_to_string(stats).unwrap();
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    let ports = stats["nodes"][0]["chip"]["ports"].as_array().unwrap();
    let sent = ports
        .iter()
        .map(|port| port["sent_frames"].as_i64().unwrap());
    (String::from_utf8(output.stdout).unwrap(), sent.sum())
}

/// Stalls of all contexts of microengines for a tenth of the time.
fn stalls(microengines: &[u8]) -> Vec<String> {
    let times = (10..TIME_US).step_by(20);
    let each = times.flat_map(|from| {
        let one = move |me: &u8| ["--stall".to_owned(), format!("{me}.0-7@{from}us+2us")];
        microengines.iter().flat_map(one)
    });
    each.collect()
}

fn check(case: &Case<'_>) {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let report = ["--report".to_owned(), report.display().to_string()];
    let (said, sent) = run(case.target, &report, folder.path());
    let headline = said.lines().find(|line| line.starts_with("bottleneck"));
    let headline = headline.expect("a verdict");
    let target = case.target;
    assert!(headline.contains(case.verdict), "{target}: {headline}");
    let lost = |stage: &[u8]| {
        let (_, slowed) = run(target, &stalls(stage), folder.path());
        (sent - slowed) * 1000 / sent
    };
    let moved = lost(case.cause);
    assert!(
        moved >= MIN_CAUSE_LOSS,
        "{target}: {:?}, {moved} permille",
        case.cause
    );
    for &other in case.others {
        let moved = lost(other);
        assert!(
            moved <= MAX_OTHER_LOSS,
            "{target}: {other:?}, {moved} permille"
        );
    }
}

#[test]
fn the_router_is_limited_by_its_queue_manager() {
    check(&Case {
        target: "microcode/router",
        verdict: "Microengine 1 (queue_manager.uc) is the limit",
        cause: &[1],
        others: &[&[0], &[2], &[3], &[4, 5], &[6]],
    });
}

#[test]
fn protocol_routers_are_limited_by_their_queue_manager() {
    for target in [
        "microcode/rcp",
        "microcode/quick-start/lock.toml",
        "microcode/quick-start/atomic.toml",
        "microcode/quick-start/coprocessor.toml",
        "microcode/xcp/lock.toml",
        "microcode/xcp/sums.toml",
        "microcode/xcp/split.toml",
        "microcode/xcp/coprocessor.toml",
    ] {
        check(&Case {
            target,
            verdict: "Microengine 1 (queue_manager.uc) is the limit",
            cause: &[1],
            others: &[&[0], &[4, 5]],
        });
    }
}

#[test]
fn ixp2800_router_is_nearly_limited_by_its_queue_manager() {
    check(&Case {
        target: "microcode/router/ixp2800.toml",
        verdict: "Microengine 1 (queue_manager.uc) comes nearest, used 9",
        cause: &[1],
        others: &[&[0], &[2], &[3], &[4, 5], &[6]],
    });
}

#[test]
fn ordered_systems_are_limited_by_a_turn_or_lock() {
    for (name, verdict) in [
        ("global", "The lock in SLOT_LOCK is the limit"),
        ("its", "The turn `finish` is the limit"),
        ("any-size-its", "The turn `start` is the limit"),
        ("any-size-in-order", "The turn `start` is the limit"),
    ] {
        check(&Case {
            target: &format!("microcode/ordering/{name}.toml"),
            verdict,
            cause: &[0, 1, 2, 3, 4, 5, 6, 7],
            others: &[],
        });
    }
}

#[test]
fn aisr_is_limited_by_its_reorder_stage() {
    for name in ["aisr", "any-size-aisr", "ixp2800-aisr"] {
        check(&Case {
            target: &format!("microcode/ordering/{name}.toml"),
            verdict: "Microengine 5 (aisr_reorder.uc) holds the frames up",
            cause: &[5],
            others: &[&[0], &[1, 2, 3, 4], &[6, 7]],
        });
    }
}

#[test]
fn packet_sort_is_limited_by_its_processing_turn() {
    check(&Case {
        target: "microcode/ordering/any-size-packet-sort.toml",
        verdict: "The turn `start` is the limit",
        cause: &[0, 1, 2, 3],
        others: &[&[4], &[5], &[6, 7]],
    });
}

/// The frames of a capture that leave by one of three ports share its line: at ten times its rate
/// fewer of them are lost, and a faster line elsewhere changes nothing.
#[test]
fn busiest_outgoing_line_limits_a_burst() {
    let folder = tempfile::tempdir().unwrap();
    let trace = |more: &[&str]| {
        let stats = folder.path().join("stats.json");
        let output = Command::new(env!("CARGO_BIN_EXE_npsim"))
            .current_dir(root())
            .args(["run", "microcode/forward", "--trace", "traces/mixed.pcap"])
            .args(["--pace", "line", "--ports", "round-robin", "--stats"])
            .arg(&stats)
            .args(more)
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{messages}");
        let stats = std::fs::read_to_string(stats).unwrap();
        let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
        let counters = stats["nodes"][0]["chip"]["counters"].as_array().unwrap();
        let full = { counters.iter() }.find(|counter| counter["name"] == "DROP_TX_RING_FULL");
        let lost = full.unwrap()["value"].as_i64().unwrap();
        (String::from_utf8(output.stdout).unwrap(), lost)
    };
    let report = folder.path().join("report").display().to_string();
    let (said, lost) = trace(&["--report", &report]);
    let verdict = "bottleneck   The line out of port 1 is the limit";
    assert!(said.contains(verdict), "{said}");
    let (_, faster) = trace(&["--set", "port.1.rate=1.1Gbps"]);
    assert!(faster * 100 < lost * 95, "{lost}, then {faster}");
    let stage: Vec<String> = (10..3000)
        .step_by(20)
        .flat_map(|from| ["--stall".to_owned(), format!("1.0-7@{from}us+2us")])
        .collect();
    let stage: Vec<&str> = stage.iter().map(String::as_str).collect();
    let (_, stalled) = trace(&stage);
    assert!(
        (stalled - lost).abs() * 100 <= lost * 3,
        "{lost}, then {stalled}"
    );
}
