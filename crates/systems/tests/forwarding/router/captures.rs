//! The captures in `traces`, on both chips, with few and many microengines.

use std::collections::BTreeMap;
use std::path::Path;

use npsim_net::Frame;
use npsim_net::capture::Capture;
use npsim_net::pace::{Pace, PortAssignment};

use super::bench::{Bench, PROJECTS, drain};
use super::verdict::{check_at_rest, losses};
use crate::oracle::Fate;

const CAPTURES: [&str; 4] = [
    "mixed.pcap",
    "exceptions.pcap",
    "minsize.pcap.gz",
    "two-ports.pcapng",
];

fn frames(name: &str) -> Vec<Frame> {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    Capture::open(&traces.join(name)).unwrap().frames
}

/// The capture's own pace, sped up so that it takes about a millisecond.
fn sped_up_pace(frames: &[Frame]) -> Pace {
    let span = frames.last().unwrap().time_ns - frames[0].time_ns;
    format!("{}x", (span / 1_500_000).max(1)).parse().unwrap()
}

/// Every departure and every loss is as the oracle requires, with nothing lost to load.
fn expect_routed(bench: &Bench, name: &str, frames: &[Frame], pace: Pace) {
    let mut chip = bench.chip();
    let mut lines = bench.played(frames, PortAssignment::ByInterface, pace);
    drain(&mut chip, &mut lines).unwrap();
    check_at_rest(bench, &chip, &lines, &[]).unwrap_or_else(|what| panic!("{name}: {what}"));
    let mut expected = BTreeMap::new();
    for arrival in &lines.arrivals {
        if let Fate::Dropped(reason) | Fate::Exception(reason) = bench.router.fate(&arrival.bytes) {
            *expected.entry(reason.to_owned()).or_insert(0u64) += 1;
        }
    }
    assert_eq!(losses(&chip), expected, "{name}");
    assert!(lines.drops.is_empty() && !lines.departures.is_empty());
}

fn expect_all_routed(project: &str, ids: &str) {
    let bench = Bench::new(project, &[&format!("me.processing.id={ids}")], &[]);
    for name in CAPTURES {
        let frames = frames(name);
        for pace in [sped_up_pace(&frames), Pace::Line] {
            expect_routed(&bench, name, &frames, pace);
        }
    }
}

#[test]
fn captures_are_routed_by_one_processing_microengine() {
    for project in PROJECTS {
        expect_all_routed(project, "4");
    }
}

#[test]
fn captures_are_routed_by_three_processing_microengines() {
    for project in PROJECTS {
        expect_all_routed(project, "4-6");
    }
}

#[test]
fn captures_are_routed_by_all_microengines() {
    expect_all_routed("npsim.toml", "4-7");
    expect_all_routed("ixp2800.toml", "4-15");
}

#[test]
fn captures_are_routed_with_two_queue_managers() {
    expect_all_routed("two-queue-managers.toml", "4");
    expect_all_routed("two-queue-managers.toml", "4-6");
}
