//! `npsim run --packets` and `--packet`: a row for each packet, with sums that equal the
//! statistics.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use flate2::read::GzDecoder;
use npsim_net::order::{Sequences, THRESHOLD};
use serde_json::Value;

use crate::harness::{Dir, root};

type Row = BTreeMap<String, String>;

/// The cells of a line.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

fn rows(table: &str) -> Vec<Row> {
    let mut lines = table.lines();
    let columns = cells(lines.next().expect("a head"));
    let row = |line: &str| {
        let cells = cells(line);
        assert_eq!(cells.len(), columns.len(), "{line}");
        columns.iter().cloned().zip(cells).collect()
    };
    lines.map(row).collect()
}

fn number(row: &Row, column: &str) -> u64 {
    let cell = &row[column];
    cell.parse()
        .unwrap_or_else(|_| panic!("{column} is `{cell}` in {row:?}"))
}

/// The number of rows for each drop reason, as the statistics count them.
fn drops_in_rows(rows: &[Row], by: &str) -> BTreeMap<(String, String), u64> {
    let mut all = BTreeMap::new();
    for row in rows.iter().filter(|row| row["by"] == by) {
        let key = (row["counter"].clone(), row["reason"].clone());
        *all.entry(key).or_default() += 1;
    }
    all
}

fn drops_in_stats(list: &Value, by: &str) -> BTreeMap<(String, String), u64> {
    let mut all = BTreeMap::new();
    for drop in list.as_array().expect("a list") {
        let frames = drop["frames"].as_u64().expect("a count");
        if drop["by"] == by && frames > 0 {
            let text = |key: &str| drop[key].as_str().unwrap_or_default().to_owned();
            *all.entry((text("counter"), text("reason"))).or_default() += frames;
        }
    }
    all
}

/// Runs, compares the rows with the statistics, and returns the rows.
fn run_and_check(arguments: &str) -> Vec<Row> {
    let dir = Dir::new();
    let at = root().display().to_string();
    let arguments = arguments.replace('@', &at);
    dir.npsim(&format!(
        "run {arguments} --quiet --packets rows.csv --stats stats.json"
    ))
    .expect(0, &[]);
    let rows = rows(&String::from_utf8(dir.read("rows.csv")).expect("UTF-8"));
    let stats: Value = serde_json::from_slice(&dir.read("stats.json")).expect("JSON");
    let packets = &stats["packets"];
    let count = |key: &str| packets[key].as_i64().expect(key);
    let of = |fate: &str| rows.iter().filter(|row| row["fate"] == fate).count() as i64;
    assert_eq!(of("sent"), count("sent"), "{arguments}");
    assert_eq!(of("slow-path"), count("exceptions"), "{arguments}");
    assert_eq!(of("inside"), count("unaccounted"), "{arguments}");
    for by in ["media", "microcode"] {
        assert_eq!(
            drops_in_rows(&rows, by),
            drops_in_stats(&stats["drops"], by),
            "{arguments}"
        );
    }
    let exceptions = drops_in_rows(&rows, "core");
    assert_eq!(
        exceptions,
        drops_in_stats(&stats["exceptions"], "slow-path"),
        "{arguments}"
    );
    let sum = |column: &str| {
        let known = rows.iter().filter(|row| !row[column].is_empty());
        known.map(|row| number(row, column)).sum::<u64>()
    };
    assert_eq!(sum("bytes") as i64, count("offered_bytes"), "{arguments}");
    assert_eq!(sum("bytes_out") as i64, count("sent_bytes"), "{arguments}");
    // Each packet has a row, in the order of arrival.
    let numbers: Vec<u64> = rows.iter().map(|row| number(row, "packet")).collect();
    assert!(numbers.is_sorted(), "{arguments}");
    let different: BTreeSet<_> = numbers.iter().collect();
    assert_eq!(different.len() as i64, count("offered"), "{arguments}");
    let delays: Vec<_> = { rows.iter() }
        .filter(|row| !row["delay"].is_empty())
        .map(|row| number(row, "delay"))
        .collect();
    let latency = &stats["latency"];
    assert_eq!(Some(delays.len() as u64), latency["packets"].as_u64());
    let mhz = stats["nodes"][0]["chip"]["mhz"].as_u64().expect("a clock");
    let nanoseconds = |cycles: Option<&u64>| cycles.map(|it| it * 1000 / mhz);
    assert_eq!(nanoseconds(delays.iter().max()), latency["max_ns"].as_u64());
    assert_eq!(nanoseconds(delays.iter().min()), latency["min_ns"].as_u64());
    assert_order_matches_departures(&rows);
    rows
}

/// The reordering extents of the table equal those of the order metrics.
fn assert_order_matches_departures(rows: &[Row]) {
    let mut sent: Vec<_> = rows.iter().filter(|row| row["fate"] == "sent").collect();
    // Two ports may end frames in the same cycle, but not frames of one flow.
    sent.sort_by_key(|row| number(row, "ended"));
    let mut left = Sequences::ordered();
    for row in &sent {
        left.note(row["flow"].clone(), number(row, "packet"));
    }
    let order = left.total(THRESHOLD);
    let extents: Vec<_> = sent.iter().map(|row| number(row, "reordered")).collect();
    assert_eq!(
        order.reordered,
        extents.iter().filter(|it| **it > 0).count() as u64
    );
    assert_eq!(order.extents.sum, extents.iter().sum::<u64>());
    assert_eq!(
        order.extents.largest,
        extents.iter().max().copied().unwrap_or(0)
    );
}

#[test]
fn packet_table_sums_equal_the_statistics() {
    let forward = "@/microcode/forward";
    // Lost on arrival, for lack of RBUF elements.
    let rows = run_and_check(&format!(
        "{forward} --trace @/traces/minsize.pcap.gz --pace line --ports round-robin"
    ));
    assert!(rows.iter().any(|row| row["by"] == "media"));
    // Dropped by the microcode of one microengine, and taken by the slow path.
    let rows = run_and_check(&format!(
        "{forward} --trace @/traces/exceptions.pcap --pace line"
    ));
    let by: BTreeSet<_> = rows.iter().map(|row| row["by"].as_str()).collect();
    assert!(by.contains("microcode") && by.contains("core"), "{by:?}");
    let placed = rows.iter().filter(|row| row["by"] == "microcode");
    for row in placed {
        assert!(row["place"].contains("forward.uc:"), "{row:?}");
    }
    // A router in stages drops a packet in the stage that handles it.
    let rows = run_and_check("@/microcode/router --trace @/traces/exceptions.pcap --pace line");
    assert!(
        rows.iter()
            .any(|row| row["place"].contains("processing.uc:"))
    );
}

#[test]
fn packets_dropped_and_waiting_in_queues_are_distinguished() {
    // All to one port: its queue grows, drops, and is full when the time is up.
    let rows =
        run_and_check("@/microcode/router --load 0.9 --time 600us --to 10.0.0.0/16 --until 600us");
    let queue = |row: &&Row| row["counter"] == "DROP_QUEUE";
    assert!(rows.iter().filter(queue).count() > 10);
    assert!(
        rows.iter()
            .filter(queue)
            .all(|row| row["place"].contains("queue_manager.uc:"))
    );
    assert!(rows.iter().any(|row| row["fate"] == "inside"));
}

#[test]
fn late_packets_are_found_in_a_reordering_system() {
    let rows = run_and_check(
        "@/microcode/ordering/local.toml --load 0.9 --time 300us --set disturb.dram=600",
    );
    assert!(
        rows.iter()
            .any(|row| !["", "0"].contains(&row["reordered"].as_str()))
    );
}

#[test]
fn packet_table_is_the_same_in_every_output_form() {
    let dir = Dir::new();
    let target = root().join("microcode/forward");
    let run = format!("run {} --load 0.5 --time 100us", target.display());
    dir.npsim(&format!("{run} -q --packets plain.csv"))
        .expect(0, &[]);
    dir.npsim(&format!("{run} -q --packets packed.csv.gz"))
        .expect(0, &[]);
    let out = dir.npsim(&format!("{run} --packets -")).expect(0, &[]).out;
    let mut unpacked = String::new();
    let packed = dir.read("packed.csv.gz");
    GzDecoder::new(&packed[..])
        .read_to_string(&mut unpacked)
        .expect("gzip");
    assert!(out.lines().count() > 100);
    assert_eq!(out, unpacked);
    assert_eq!(out.into_bytes(), dir.read("plain.csv"));
    // And the run is the same.
    dir.npsim(&format!("{run} -q --stats alone.json"))
        .expect(0, &[]);
    dir.npsim(&format!(
        "{run} -q --stats with.json --packets rows.csv --packet 3"
    ))
    .expect(0, &[]);
    assert_eq!(dir.read("alone.json"), dir.read("with.json"));
}

#[test]
fn path_of_a_packet_is_printed() {
    let dir = Dir::new();
    let target = root().join("microcode/router");
    let run = format!("run {} --load 0.5 --time 50us -q", target.display());
    let out = dir.npsim(&format!("{run} --packet 17")).expect(0, &[]).out;
    // Without columns, and without breaks of lines that are too long for them.
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = out.as_str();
    for event in [
        "packet 17",
        "first bit arrives at port",
        "RBUF element",
        "handed to the context",
        "moved to DRAM, at ",
        "first bytes stored in DRAM at 0x",
        "buffer put on PROCESSING_RING (scratch ring",
        "buffer taken from PROCESSING_RING",
        "first bytes read or written in DRAM",
        "buffer put on TX_RING",
        "first bytes moved from DRAM to TBUF element",
        "validated, at ",
        "last bit has left",
    ] {
        let at = rest.find(event);
        rest = &rest[at.unwrap_or_else(|| panic!("no `{event}` in\n{out}"))..];
    }
    let many = dir.npsim(&format!("{run} --packet 100000"));
    many.expect(1, &["packet 100000 did not arrive", "counted from 0"]);
}

#[test]
fn each_router_writes_its_own_packet_table() {
    let dir = Dir::new();
    let target = root().join("microcode/forward");
    let run = format!(
        "run {} --load 0.3 --time 50us --hops 2 -q",
        target.display()
    );
    dir.npsim(&format!("{run} --packets rows.csv"))
        .expect(0, &[]);
    for name in ["rows.1.csv", "rows.2.csv"] {
        let table = String::from_utf8(dir.read(name)).expect("UTF-8");
        assert!(
            rows(&table)
                .iter()
                .filter(|row| row["fate"] == "sent")
                .count()
                > 20
        );
    }
    dir.npsim(&format!("{run} --packets -"))
        .expect(1, &["one standard output", "name a file"]);
    // No table overwrites a file that the run reads.
    let dir = Dir::new().with("main.uc", "ctx_arb[kill]\n");
    let refused = dir.npsim("run main.uc --packets main.uc");
    refused.expect(1, &["--packets", "would overwrite a source"]);
}
