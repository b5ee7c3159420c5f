//! The shipped forwarder on the shipped captures, against an independent
//! statement of what a router does with each frame.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::command::{root, run_outputs};
use crate::oracle::{Fate, Router, checksum};
use npsim_net::capture::Capture;

struct Outcome {
    frames: Vec<Vec<u8>>,
    stats: serde_json::Value,
}

/// Each chip: the project's own, and the other one with ports of its board.
const CHIPS: [&[&str]; 2] = [&[], &["--board", "ixp2800-6g"]];

/// On both chips, with further arguments.
fn expect_forwarded_on_both(trace: &str, arguments: &[&str]) {
    for hardware in CHIPS {
        expect_forwarded(trace, &[hardware, arguments].concat());
    }
}

fn forward(trace: &Path, arguments: &[&str]) -> Outcome {
    forward_with_project(Path::new("microcode/forward"), trace, arguments)
}

fn forward_with_project(project: &Path, trace: &Path, arguments: &[&str]) -> Outcome {
    let (capture, stats) = run_outputs(project, trace, arguments);
    Outcome {
        frames: Capture::from_bytes("out.pcap", &capture)
            .unwrap()
            .frames
            .into_iter()
            .map(|f| f.bytes)
            .collect(),
        stats: serde_json::from_slice(&stats).unwrap(),
    }
}

/// Drops and exceptions by name, from the stats file.
fn losses(stats: &serde_json::Value) -> BTreeMap<String, u64> {
    let named = |list: &str, key: &str| {
        stats[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let name = row[key].as_str().or(row["reason"].as_str()).unwrap();
                (name.to_owned(), row["frames"].as_u64().unwrap())
            })
            .collect::<Vec<_>>()
    };
    named("drops", "counter")
        .into_iter()
        .chain(named("exceptions", "reason"))
        .filter(|(_, n)| *n > 0)
        .collect()
}

fn expect_forwarded(trace: &str, arguments: &[&str]) {
    let path = root().join("traces").join(trace);
    let router = Router::of("forward/npsim.toml");
    let fates: Vec<Fate> = Capture::open(&path)
        .unwrap()
        .frames
        .iter()
        .map(|frame| router.fate(&frame.bytes))
        .collect();
    let outcome = forward(&path, arguments);

    let mut expected_losses = BTreeMap::new();
    let mut expected_frames = Vec::new();
    for fate in &fates {
        match fate {
            Fate::Forwarded(_, bytes) => expected_frames.push(bytes.clone()),
            Fate::Dropped(name) | Fate::Exception(name) => {
                *expected_losses.entry((*name).to_owned()).or_insert(0u64) += 1;
            }
        }
    }
    assert!(
        !expected_frames.is_empty(),
        "the trace has something to forward"
    );
    assert_eq!(
        losses(&outcome.stats),
        expected_losses,
        "{trace}: losses by reason"
    );

    // Every forwardable frame once, with the right contents.
    let sorted = |frames: &[Vec<u8>]| {
        let mut frames = frames.to_vec();
        frames.sort();
        frames
    };
    assert_eq!(
        outcome.frames.len(),
        expected_frames.len(),
        "{trace}: frames"
    );
    assert!(
        sorted(&outcome.frames) == sorted(&expected_frames),
        "{trace}: contents"
    );
    assert_eq!(outcome.stats["packets"]["unaccounted"], 0, "{trace}");
}

/// The fingerprint in the stats identifies the parameters of a run's chip.
#[test]
fn chip_fingerprint_identifies_the_board() {
    let trace = root().join("traces/exceptions.pcap");
    let print = |arguments: &[&str]| {
        let chip =
            &forward(&trace, &[arguments, &["--pace", "line"]].concat()).stats["nodes"][0]["chip"];
        let text = |key: &str| chip[key].as_str().unwrap().to_owned();
        (text("chip"), text("board"), text("profile_hash"))
    };
    let seen = [
        print(&[]),
        print(&["--board", "enp-2611"]),
        print(&["--chip", "ixp2800"]),
        print(&["--board", "ixp2800-6g"]),
    ];
    let again = print(&["--board", "ixp2800-6g", "--drain", "50us"]);
    assert_eq!(again, seen[3]);
    let boards: Vec<_> = seen.iter().map(|s| (s.0.as_str(), s.1.as_str())).collect();
    assert_eq!(
        boards,
        [
            ("ixp2400", "ixp2400-plain"),
            ("ixp2400", "enp-2611"),
            ("ixp2800", "ixp2800-plain"),
            ("ixp2800", "ixp2800-6g"),
        ]
    );
    let different: BTreeSet<_> = seen.iter().map(|s| &s.2).collect();
    assert_eq!(different.len(), 4);
}

/// Addresses, protocol and ports of a flow, which must stay in order.
fn flow(frame: &[u8]) -> Vec<u8> {
    [&frame[23..24], &frame[26..38]].concat()
}

#[test]
fn a_mixed_capture_is_forwarded_frame_for_frame() {
    expect_forwarded_on_both("mixed.pcap", &[]);
}

#[test]
fn a_mixed_capture_at_line_rate_is_forwarded_frame_for_frame() {
    expect_forwarded_on_both("mixed.pcap", &["--pace", "line"]);
}

/// A DRAM of another kind than in the shipped chips, as in a chip file.
const OPEN_ROWS: &str = r#"
name = "open-rows"
title = "an IXP2400 whose DRAM leaves rows open and refreshes all banks at a time"
extends = "ixp2400"

[dram]
rows = { value = "open", provenance = "assumed", basis = "as most DDR controllers" }
refresh = { value = "all-bank", provenance = "likely", basis = "auto refresh of DDR" }
"#;

#[test]
fn chip_file_with_open_row_dram_forwards_correctly() {
    let folder = tempfile::tempdir().unwrap();
    let chip = folder.path().join("open-rows.toml");
    std::fs::write(&chip, OPEN_ROWS).unwrap();
    let open = ["--pace", "line", "--chip", chip.to_str().unwrap()];
    expect_forwarded("mixed.pcap", &open);
    expect_forwarded("exceptions.pcap", &open);
    let trace = root().join("traces/mixed.pcap");
    let dram = |arguments: &[&str]| {
        let stats = forward(&trace, arguments).stats;
        let units = stats["nodes"][0]["chip"]["units"].as_array().unwrap();
        let dram = units.iter().find(|unit| unit["name"] == "dram0").unwrap();
        (dram.clone(), stats["latency"]["mean_ns"].as_u64().unwrap())
    };
    let ((open, sooner), (closed, later)) = (dram(&open), dram(&["--pace", "line"]));
    assert_eq!(open["words"], closed["words"]);
    assert!(open["row_hits"].as_u64().unwrap() > 1000, "{open}");
    assert!(closed["row_hits"].is_null(), "{closed}");
    assert!(sooner < later, "{sooner} {later}");
}

#[test]
fn exceptions_and_bad_headers_are_counted_by_reason() {
    expect_forwarded("exceptions.pcap", &[]);
    expect_forwarded(
        "exceptions.pcap",
        &["--pace", "line", "--board", "ixp2800-6g"],
    );
}

#[test]
fn minimum_frames_at_line_rate_are_forwarded() {
    expect_forwarded_on_both("minsize.pcap.gz", &["--pace", "line"]);
}

#[test]
fn two_ports_are_forwarded_frame_for_frame() {
    expect_forwarded("two-ports.pcapng", &[]);
    expect_forwarded("two-ports.pcapng", &["--pace", "line"]);
}

#[test]
fn order_within_a_flow_is_kept() {
    let path = root().join("traces/mixed.pcap");
    let router = Router::of("forward/npsim.toml");
    let mut expected: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for frame in &Capture::open(&path).unwrap().frames {
        if let Fate::Forwarded(_, bytes) = router.fate(&frame.bytes) {
            expected.entry(flow(&bytes)).or_default().push(bytes);
        }
    }
    let mut seen: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for bytes in forward(&path, &["--pace", "line"]).frames {
        seen.entry(flow(&bytes)).or_default().push(bytes);
    }
    assert!(expected.len() > 3, "several flows");
    assert!(seen == expected);
}

/// Without the define that the shipped project has for third-party captures, frames must be
/// addressed to the port on which they arrive.
#[test]
fn frames_for_other_stations_are_refused_unless_any_mac_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let shipped = root().join("microcode/forward");
    for name in ["forward.uc", "transmit.uc"] {
        std::fs::copy(shipped.join(name), folder.path().join(name)).unwrap();
    }
    let library = root().join("microcode/lib").canonicalize().unwrap();
    let text = std::fs::read_to_string(shipped.join("npsim.toml")).unwrap();
    // Port 0 gets the address that the capture's frames were sent to.
    let strict = text
        .replace("define = { ACCEPT_ANY_MAC = 1 }\n", "")
        .replace(
            "\"../lib\"",
            &format!("{:?}", library.display().to_string()),
        )
        .replace("02:00:5e:00:00:00", "02:00:00:00:01:01");
    assert_ne!(text, strict);
    std::fs::write(folder.path().join("npsim.toml"), strict).unwrap();

    let trace = root().join("traces/exceptions.pcap");
    let capture = Capture::open(&trace).unwrap();
    let is_other = |frame: &&npsim_net::Frame| {
        frame.bytes[12..14] == [8, 0]
            && frame.bytes[0] & 1 == 0
            && frame.bytes[..6] != [2, 0, 0, 0, 1, 1]
    };
    let others = capture.frames.iter().filter(is_other).count() as u64;
    assert!(others > 0, "the capture has a frame for another station");

    let outcome = forward_with_project(folder.path(), &trace, &[]);
    let lost = losses(&outcome.stats);
    assert_eq!(lost.get("not addressed to this router"), Some(&others));
    assert!(!outcome.frames.is_empty());
    assert_eq!(outcome.stats["packets"]["unaccounted"], 0);

    // On another port all of them are for another station.
    let outcome = forward_with_project(folder.path(), &trace, &["--ports", "2"]);
    assert!(outcome.frames.is_empty());
}

/// The oracle itself, on RFC 1071's terms and by breaking a frame.
#[test]
fn oracle_distinguishes_valid_and_invalid_frames() {
    let router = Router::of("forward/npsim.toml");
    let capture = Capture::open(&root().join("traces/minsize.pcap.gz")).unwrap();
    let good = capture
        .frames
        .iter()
        .find(|f| f.bytes[12..14] == [8, 0])
        .unwrap()
        .bytes
        .clone();
    let Fate::Forwarded(_, out) = router.fate(&good) else {
        panic!("forwardable")
    };
    assert_eq!(out[22], good[22] - 1);
    assert_eq!(checksum(&out[14..34]), 0);
    let mut bad = good.clone();
    bad[24] ^= 1;
    assert_eq!(router.fate(&bad), Fate::Dropped("DROP_CHECKSUM"));
    let mut old = good;
    old[22] = 1;
    let change = checksum(&[&old[14..24], &[0, 0], &old[26..34]].concat());
    old[24..26].copy_from_slice(&change.to_be_bytes());
    assert_eq!(router.fate(&old), Fate::Exception("time to live exceeded"));
}
