//! `npsim trace order`, and the keys that choose the flows.

use std::path::Path;

use npsim_net::capture::Capture;
use npsim_net::egress::{CaptureFormat, CapturePort, TraceSink};
use serde_json::{Value, json};

use crate::harness::{Dir, LOOP, pcap};

fn frames(dir: &Dir, name: &str) -> Vec<Vec<u8>> {
    let capture = Capture::open(&dir.path(name)).expect("a capture");
    capture
        .frames
        .into_iter()
        .map(|frame| frame.bytes)
        .collect()
}

fn write<'a>(dir: &Dir, name: &str, frames: impl IntoIterator<Item = &'a Vec<u8>>) {
    let path = dir.path(name);
    let mut sink = TraceSink::create(
        &path,
        CaptureFormat::Pcap,
        &[CapturePort::port(0, 1_000_000_000)],
    )
    .expect("a file");
    for (place, frame) in frames.into_iter().enumerate() {
        sink.write(0, place as u64 * 1000, frame).expect("write");
    }
    sink.finish().expect("finish");
}

fn report(dir: &Dir, arguments: &str) -> Value {
    let done = dir.npsim(&format!("trace order --format json {arguments}"));
    serde_json::from_str(&done.expect(0, &[]).out).expect("JSON")
}

/// 40 frames of two flows in turn, of four packets each.
fn generated_capture() -> (Dir, Vec<Vec<u8>>) {
    let dir = Dir::new();
    dir.npsim("trace gen -q --rate 40kpps --flows 2 --flow-packets 4 -o in.pcap")
        .expect(0, &[]);
    let frames = frames(&dir, "in.pcap");
    assert_eq!(frames.len(), 40);
    (dir, frames)
}

#[test]
fn reordered_lost_and_duplicated_frames_are_counted() {
    let (dir, frames) = generated_capture();
    // In flow 0 (frames 0, 2, 4 and 6), the first leaves after the others. In flow 1 (frames 1, 3, 5 and 7), the second
    // never leaves and the third leaves twice. Flows 2 and 3 follow.
    let places = [2, 1, 4, 5, 6, 0, 5, 7, 8, 9, 10, 11];
    write(&dir, "out.pcap", places.map(|place| &frames[place]));
    let stamps = report(&dir, "out.pcap --each");
    assert_eq!(
        (&stamps["by"], &stamps["against"]),
        (&json!("stamps"), &Value::Null)
    );
    let order = &stamps["order"];
    for (key, value) in [
        ("flows", json!(4)),
        ("reordered_flows", json!(1)),
        ("packets", json!(11)),
        ("duplicates", json!(1)),
        ("missing", json!(1)),
        ("duplicate_acks", json!(3)),
        ("fast_retransmits", json!(1)),
        ("third_duplicates", json!(1)),
        ("episode_duplicates", json!(1)),
        ("late_by_three", json!(1)),
        ("reordered", json!(1)),
        ("extents", json!({"largest": 3, "sum": 3})),
        ("degrees", json!({"3": 1})),
        ("displacements", json!({"-1": 3, "0": 7, "3": 1})),
        ("displaced_beyond", json!(0)),
        ("held", json!({"0": 8, "1": 1, "2": 1, "3": 1})),
    ] {
        assert_eq!(order[key], value, "{key}");
    }
    let names: Vec<_> = stamps["flows"].as_array().expect("a list").iter().collect();
    assert_eq!(names.len(), 4);
    assert_eq!(
        (&names[3]["name"], &names[3]["number"]),
        (&json!("flow 3"), &json!(3))
    );
    assert_eq!(names[1]["order"]["missing"], 1);

    // The capture of the arrivals gives the same order except for the missing frames at the end: 40 arrived.
    let mut against = report(&dir, "out.pcap --against in.pcap");
    assert_eq!(against["by"], "against");
    assert_eq!(against["order"]["missing"], 29);
    assert_eq!(against.get("flows"), None, "only with --each");
    against["order"]["missing"] = 1.into();
    assert_eq!(against["order"], *order);

    for (choice, packets) in [("0", 4), ("1/2", 5), ("0/2", 6), ("flow", 11)] {
        let chosen = report(&dir, &format!("out.pcap --flow {choice}"));
        assert_eq!(chosen["order"]["packets"], packets, "{choice}");
    }
    let two = report(&dir, "out.pcap --flow 0 --flow 3");
    assert_eq!(two["order"]["packets"], 6);
    let near = report(&dir, "out.pcap --displacement 2");
    assert_eq!(
        (&near["threshold"], &near["order"]["displaced_beyond"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(near["order"]["displacements"], json!({"0": 10}));

    dir.npsim("trace order out.pcap").expect(
        0,
        &[
            "order from   the stamps of generated traffic\n",
            "flows        4, 1 with reordered packets\n",
            "packets      11, 1 missing, 1 duplicates\n",
            "duplicate ACKs             3   27.27%\n",
            "extents      of reordered packets: mean 3.00, largest 3\n",
            "in place     7 packets (63.64%), 0 displaced by more than 64\n",
        ],
    );
    dir.npsim("trace order in.pcap --each").expect(
        0,
        &[
            "in order     each packet left after all those",
            "flow 9        4        0           0",
        ],
    );
}

#[test]
fn frames_not_in_the_input_are_ignored() {
    let (dir, frames) = generated_capture();
    write(&dir, "some.pcap", &frames[..8]);
    write(&dir, "rest.pcap", &frames[8..]);
    let report = report(&dir, "in.pcap --against some.pcap");
    assert_eq!(
        (&report["frames"], &report["left_out"]),
        (&json!(40), &json!(32))
    );
    assert_eq!(
        (&report["order"]["packets"], &report["order"]["missing"]),
        (&json!(8), &json!(0))
    );
    dir.npsim("trace order in.pcap --against some.pcap")
        .expect(0, &["left out     32 frames that did not enter"]);
    dir.npsim("trace order some.pcap --against rest.pcap")
        .expect(
            1,
            &[
                "none of the 8 frames of `some.pcap` is among those of `rest.pcap`",
                "identification and payload",
            ],
        );
}

#[test]
fn tcp_order_uses_sequence_numbers() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/mixed.pcap");
    let dir = Dir::new();
    let report = report(&dir, &format!("{} --each", trace.display()));
    assert_eq!(report["by"], "tcp");
    assert_eq!(report["order"]["missing"], Value::Null);
    let flows = report["flows"].as_array().expect("a list");
    let sum: u64 = flows
        .iter()
        .filter_map(|flow| flow["order"]["packets"].as_u64())
        .sum();
    assert_eq!(report["order"]["packets"], sum);
    assert!(flows.iter().all(|flow| {
        let name = flow["name"].as_str().expect("a name");
        name.contains(" > ") && name.ends_with(" tcp")
    }));
    let done = dir.npsim(&format!("trace order {} --flow :41001", trace.display()));
    done.expect(0, &["order from   TCP sequence numbers", "flows        1,"]);
}

#[test]
fn unusable_captures_and_options_are_refused() {
    let none = pcap(1, &[]);
    let plain = pcap(1, &[(0, 60), (10, 60)]);
    let cut = plain[..plain.len() - 1].to_vec();
    let dir = Dir::new()
        .with("none.pcap", none)
        .with("plain.pcap", plain)
        .with("cut.pcap", cut)
        .with("text.pcap", "text");
    for (arguments, code, phrases) in [
        ("", 2, &["<FILE>"][..]),
        ("no.pcap", 1, &["no.pcap", "No such file"]),
        ("text.pcap", 1, &["not a pcap or pcapng capture"]),
        ("cut.pcap", 1, &["cut.pcap", "is cut off"]),
        (
            "plain.pcap --against cut.pcap",
            1,
            &["cut.pcap", "is cut off"],
        ),
        ("plain.pcap --against no.pcap", 1, &["no.pcap"]),
        ("none.pcap", 1, &["`none.pcap` has no frames"]),
        ("none.pcap --against plain.pcap", 1, &["has no frames"]),
        (
            "plain.pcap --against none.pcap",
            1,
            &["none of the 2 frames"],
        ),
        (
            "plain.pcap",
            1,
            &["cannot identify the packets of the 2 frames", "--against"],
        ),
        (
            "plain.pcap --against plain.pcap --flow 10.0.0.1",
            1,
            &["no flow of `plain.pcap` is chosen", "--each"],
        ),
        ("plain.pcap --flow 0/0", 2, &["at least 1"]),
        ("plain.pcap --flow 4294967296", 2, &["4294967295"]),
        (
            "plain.pcap --displacement few",
            2,
            &["--displacement", "few"],
        ),
        ("plain.pcap --format xml", 2, &["xml"]),
    ] {
        dir.npsim(&format!("trace order {arguments}"))
            .expect(code, phrases);
    }
    // The same frame without IP, twice: it is found, and in order.
    dir.npsim("trace order plain.pcap --against plain.pcap --displacement 18446744073709551615")
        .expect(0, &["packets      2, 0 missing", "in order"]);
}

#[test]
fn flow_length_and_interleaving_follow_project_and_options() {
    let table = "\n[load]\nrate = \"1Mpps\"\nflows = 10\nflow_packets = 5\ninterleave = \"random\"\ntime = \"200us\"\n";
    let project = format!("[[me]]\nid = 0\nsource = \"a.uc\"\n[[port]]\nrate = \"1Gbps\"\n{table}");
    let dir = Dir::new().with("a.uc", LOOP).with("npsim.toml", &project);
    dir.npsim("run . --stats out.json --until 300us")
        .expect(0, &["10 flows of 5 frames drawn at random, seed 0"]);
    let stats: Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    assert_eq!(
        (&stats["load"]["flow_packets"], &stats["load"]["interleave"]),
        (&json!(5), &json!("random"))
    );
    dir.npsim("trace gen --project . -o drawn.pcap")
        .expect(0, &["200 frames", "drawn at random"]);
    dir.npsim("trace gen --project . --interleave turn --flow-packets 0 -o turn.pcap")
        .expect(0, &["10 flows, seed 0"]);
    let endless = report(&dir, "turn.pcap");
    assert_eq!(endless["order"]["flows"], 10);
    let drawn = report(&dir, "drawn.pcap --each");
    let flows = drawn["flows"].as_array().expect("a list");
    assert!(flows.len() > 30, "{}", flows.len());
    let sizes: Vec<_> = flows
        .iter()
        .filter_map(|flow| flow["order"]["packets"].as_u64())
        .collect();
    assert!(sizes.iter().all(|&packets| packets <= 5));
    assert_eq!(sizes.iter().sum::<u64>(), 200);
    for (wrong, phrases) in [
        (
            table.replace("\"random\"", "\"both\""),
            &["npsim.toml", "both", "turn"],
        ),
        (
            table.replace("= 5", "= -5"),
            &["npsim.toml", "-5", "whole number"],
        ),
    ] {
        let project = project.replace(table, &wrong);
        let dir = Dir::new().with("a.uc", LOOP).with("npsim.toml", project);
        dir.npsim("run . --until 1us").expect(1, phrases);
    }
    dir.npsim("run . --load 0.1 --interleave both")
        .expect(2, &["write turn or random"]);
    dir.npsim("run a.uc --until 1us --flow-packets 5")
        .expect(1, &["--flow-packets"]);
    dir.npsim("run a.uc --trace drawn.pcap --interleave turn")
        .expect(2, &["--interleave"]);
}

const SWEEP: &str = r#"
name = "loose"
title = "Packets leave as they like"
[metric.a]
measure = "order"
of = "duplicate-acks"
[metric.b]
measure = "order"
of = "fast-retransmits"
[metric.c]
measure = "order"
of = "third-duplicates"
[metric.d]
measure = "order"
of = "late-by-three"
[metric.e]
measure = "order"
of = "reordered"
[metric.f]
measure = "order"
of = "reordered"
flows = "one"
[sweep.loose]
system = "SYSTEM"
[[sweep.loose.axis]]
key = "hops"
values = [1, 3]
"#;

#[test]
fn sweep_order_metrics_match_the_capture() {
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/tests/firmware/loose.toml");
    let system = system.display().to_string();
    let dir = Dir::new().with("loose.toml", SWEEP.replace("SYSTEM", &system));
    dir.npsim("sweep loose.toml")
        .expect(0, &["2 points: 2 run now"]);
    let results = dir.read("npsim-results/loose/results.json");
    let results: Value = serde_json::from_slice(&results).expect("JSON");
    let value = |point: usize, metric: &str| {
        let reading = &results["points"][point]["metrics"][metric];
        reading["value"]
            .as_f64()
            .unwrap_or_else(|| panic!("{metric}: {reading}"))
    };
    dir.npsim(&format!("run {system} -q --out out.pcap"))
        .expect(0, &[]);
    let order = &report(&dir, "out.pcap")["order"];
    let one = &report(&dir, "out.pcap --flow 0/10")["order"];
    assert!(order["fast_retransmits"].as_u64() > Some(0), "{order}");
    for (metric, order, counter) in [
        ("a", order, "duplicate_acks"),
        ("b", order, "fast_retransmits"),
        ("c", order, "third_duplicates"),
        ("d", order, "late_by_three"),
        ("e", order, "reordered"),
        ("f", one, "reordered"),
    ] {
        let number = |key: &str| order[key].as_f64().expect(key);
        let expected = number(counter) * 100.0 / number("packets");
        let value = value(0, metric);
        assert!(
            (value - expected).abs() < 1e-9,
            "{metric}: {value} {expected}"
        );
    }
    // Each router disturbs the order further.
    for metric in ["a", "b", "c", "d", "e"] {
        assert!(value(1, metric) > value(0, metric), "{metric}");
    }
}
