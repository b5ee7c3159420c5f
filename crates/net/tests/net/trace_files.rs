//! Captures of several ports are read back as they were written.

use std::path::Path;

use npsim_net::Frame;
use npsim_net::capture::{Capture, CaptureReader};
use npsim_net::census::{Census, Oddities};
use npsim_net::egress::{CaptureFormat, CapturePort, TraceSink};
use npsim_net::load::{Generator, Load, LoadPort, Special};

fn ports() -> Vec<CapturePort> {
    let rates = [1_000_000_000, 100_000_000, 10_000_000_000];
    let ports = rates.into_iter().enumerate();
    ports
        .map(|(number, rate)| CapturePort::port(number, rate))
        .collect()
}

#[test]
fn ports_and_nanoseconds_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [
        ("a.pcapng", "pcapng"),
        ("b.pcapng.gz", "pcapng, gzipped"),
        ("c.pcap", "pcap, nanoseconds"),
        ("d.cap.gz", "pcap, nanoseconds, gzipped"),
        ("e.pcapng.zst", "pcapng, zstd"),
    ] {
        let path = folder.path().join(name);
        let form = CaptureFormat::of_name(&path).unwrap();
        let mut sink = TraceSink::create(&path, form, &ports()).unwrap();
        let written: Vec<(u32, u64, Vec<u8>)> = (0..500u32)
            .map(|n| {
                (
                    n % 3,
                    u64::from(n) * 1_234_567_891,
                    vec![n as u8; 14 + n as usize],
                )
            })
            .collect();
        for (port, time_ns, bytes) in &written {
            sink.write(*port, *time_ns, bytes).unwrap();
        }
        assert!(!path.exists(), "the name comes last");
        sink.finish().unwrap();
        assert_eq!(CaptureReader::open(&path).unwrap().format(), format);
        let capture = Capture::open(&path).unwrap();
        let ports = if form == CaptureFormat::PcapNg { 3 } else { 1 };
        assert_eq!(capture.interfaces.len(), ports);
        assert_eq!(capture.frames.len(), written.len());
        for (read, (port, time_ns, bytes)) in capture.frames.iter().zip(&written) {
            let port = if ports == 3 { *port } else { 0 };
            assert_eq!(
                (read.port, read.time_ns, &read.bytes),
                (port, *time_ns, bytes)
            );
        }
    }
}

#[test]
fn capture_format_follows_the_file_name() {
    let form = |name: &str| CaptureFormat::of_name(Path::new(name));
    assert_eq!(form("x/a.PCAP"), Some(CaptureFormat::Pcap));
    assert_eq!(form("a.b.pcapng.gz"), Some(CaptureFormat::PcapNg));
    assert_eq!(form("a.ntar.ZST"), Some(CaptureFormat::PcapNg));
    for name in ["a", "a.gz", "pcap", "a.pcap.xz", ".."] {
        assert_eq!(form(name), None, "{name}");
    }
}

#[test]
fn abandoned_sink_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng.gz");
    let mut sink = TraceSink::create(&path, CaptureFormat::PcapNg, &ports()).unwrap();
    sink.write(0, 0, &[1; 60]).unwrap();
    assert!(sink.write(3, 0, &[1; 60]).is_err(), "there is no such port");
    drop(sink);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn census_matches_the_generated_load() {
    let share = || "0.1".parse().unwrap();
    let load = Load {
        rate: Some("1".parse().unwrap()),
        time: "2ms".parse().unwrap(),
        special: Special {
            tcp: share(),
            options: share(),
            ttl: share(),
            checksum: share(),
            fragment: share(),
            arp: share(),
            ipv6: share(),
            multicast: share(),
            ..Special::default()
        },
        ..Load::default()
    };
    let port = LoadPort {
        bits_per_second: 1_000_000_000,
        mac: [2, 0, 0, 0, 1, 0],
    };
    let mut census = Census::default();
    for made in Generator::new(&load, &[port]).unwrap() {
        census.add(&Frame {
            time_ns: (made.start_ps / 1000) as u64,
            port: made.port,
            original_len: made.bytes.len() as u32,
            bytes: made.bytes,
        });
    }
    let about = |count: u64, percent: u64| {
        let expected = census.frames * percent / 100;
        assert!(
            count.abs_diff(expected) < census.frames / 50,
            "{count} of {}",
            census.frames
        );
    };
    let Oddities {
        fragments,
        options,
        expired,
        bad_header_checksums,
        bad_payload_checksums,
        group_addressed,
        tagged,
        truncated,
        unreadable,
    } = census.oddities;
    for count in [fragments, options, expired, bad_header_checksums] {
        about(count, 10);
    }
    about(group_addressed, 20);
    assert_eq!(
        (bad_payload_checksums, tagged, truncated, unreadable),
        (0, 0, 0, 0)
    );
    for (protocol, percent) in [
        ("ipv4 udp", 60),
        ("ipv4 tcp", 10),
        ("arp", 10),
        ("ipv6 udp", 10),
        // Packets with options carry an experimental protocol.
        ("ipv4 protocol 253", 10),
    ] {
        about(census.protocols[protocol], percent);
    }
    assert_eq!(census.protocols.len(), 5);
    assert_eq!(census.ports[0].frames, census.frames);
    assert_eq!(census.sizes.iter().sum::<u64>(), census.frames);
    assert!(census.flows() >= 120 && !census.flow_limit_reached());
}
