//! The captures in `traces/` are as described in their README.

use std::collections::BTreeMap;
use std::fs;

use npsim_net::capture::Capture;
use npsim_net::pace::{Pace, PortAssignment, PortLine, schedule};

use crate::traces;

/// File name to frames, bytes, shortest, longest.
fn table() -> BTreeMap<String, Vec<u64>> {
    let readme = fs::read_to_string(traces().join("README.md")).unwrap();
    let mut rows = BTreeMap::new();
    for line in readme.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, name, numbers @ .., _] = &cells[..]
            && name.contains(".pcap")
        {
            rows.insert(
                name.trim_matches('`').to_string(),
                numbers.iter().map(|cell| cell.parse().unwrap()).collect(),
            );
        }
    }
    rows
}

#[test]
fn readme_table_matches_the_captures() {
    let rows = table();
    let mut files: Vec<String> = fs::read_dir(traces())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".pcap"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    assert_eq!(rows.keys().cloned().collect::<Vec<_>>(), files);

    for (name, row) in &rows {
        let capture = Capture::open(&traces().join(name)).unwrap();
        let lengths: Vec<u64> = capture
            .frames
            .iter()
            .map(|frame| frame.bytes.len() as u64)
            .collect();
        let found = [
            lengths.len() as u64,
            lengths.iter().sum(),
            *lengths.iter().min().unwrap(),
            *lengths.iter().max().unwrap(),
        ];
        assert_eq!(found[..], row[..4], "{name}");
        assert_eq!(
            capture.notes.truncated_frames, 0,
            "{name}: frames are whole"
        );
        assert!(
            capture.first_timestamp_ns > 1_700_000_000_000_000_000,
            "{name}: times are dates"
        );
        assert!(
            capture.frames.iter().any(|frame| frame.time_ns % 1000 != 0),
            "{name}: times have nanoseconds"
        );
    }
}

#[test]
fn the_two_port_capture_has_frames_of_both_interfaces() {
    let capture = Capture::open(&traces().join("two-ports.pcapng")).unwrap();
    assert_eq!(capture.interfaces.len(), 2);
    for port in [0, 1] {
        assert!(
            capture
                .frames
                .iter()
                .filter(|frame| frame.port == port)
                .count()
                > 50
        );
    }
    let gigabit = PortLine {
        bits_per_second: 1_000_000_000,
    };
    let plan = schedule(
        &capture.frames,
        &[gigabit; 2],
        PortAssignment::default(),
        Pace::Line,
    )
    .unwrap();
    assert_eq!(
        plan.ports.iter().map(|load| load.frames).sum::<u64>(),
        capture.frames.len() as u64
    );
    assert!(plan.ports.iter().all(|load| load.frames > 50));
}

#[test]
fn minimum_size_datagrams_fill_eight_flows() {
    let capture = Capture::open(&traces().join("minsize.pcap.gz")).unwrap();
    let mut flows: BTreeMap<&[u8], u32> = BTreeMap::new();
    for frame in capture
        .frames
        .iter()
        .filter(|frame| frame.bytes.len() == 60)
    {
        // Addresses, then ports, behind an IPv4 header without options.
        *flows.entry(&frame.bytes[26..38]).or_default() += 1;
    }
    assert_eq!(flows.values().copied().collect::<Vec<_>>(), [500; 8]);
}
