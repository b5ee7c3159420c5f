//! Every arriving frame leaves, is dropped under a name, or ends on the slow path, exactly once;
//! and the forwarder returns all resources that it took.

use std::collections::{BTreeMap, BTreeSet};

use super::bench::{Forwarder, drain};
use crate::oracle::{Fate, Router, checksum};
use crate::recorded_lines::RecordedLines;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::observer::NoObserver;
use npsim_inspect::stats::Stats;
use npsim_net::Frame;
use npsim_net::pace::{Pace, PortAssignment};
use proptest::prelude::*;

/// Losses that depend on load, not on the frame.
const CONGESTION: [&str; 3] = ["DROP_NO_BUFFER", "DROP_TX_RING_FULL", "DROP_SLOW_PATH_FULL"];

/// Drops of the microcode and packets of the slow path, by name.
fn losses(stats: &Stats) -> BTreeMap<String, u64> {
    let drops = stats
        .counters
        .iter()
        .filter(|c| c.drop)
        .map(|c| (c.name.clone(), c.value));
    let exceptions = stats
        .gpp
        .reasons
        .iter()
        .map(|r| (r.reason.clone(), r.frames));
    drops
        .chain(exceptions)
        .filter(|(_, frames)| *frames > 0)
        .collect()
}

/// Runs to rest and checks everything that must be conserved.
fn expect_conserved(mut lines: RecordedLines) -> (Stats, RecordedLines) {
    let mut chip = Forwarder::shipped().chip();
    expect_no_more_out_than_in(&mut chip, &mut lines);
    drain(&mut chip, &mut lines, &mut NoObserver);
    let stats = Stats::collect(&chip);
    let losses = losses(&stats);

    // Offered = sent + dropped + slow path, and nothing is left inside.
    let (sent, lost) = (lines.departures.len() as u64, lines.drops.len() as u64);
    let counted: u64 = losses.values().sum();
    assert_eq!(
        lines.arrivals.len() as u64,
        sent + lost + counted,
        "sent {sent}, lost {lost}, {losses:?}"
    );
    for port in &stats.ports {
        assert_eq!(
            (port.waiting_frames, port.sending_frames),
            (0, 0),
            "port {}",
            port.port
        );
    }

    expect_correct_frames(&lines);
    expect_correct_losses(&lines, &losses);
    expect_all_resources_returned(&chip, &stats);
    (stats, lines)
}

/// Stops now and then during the run: all frames accounted for must have arrived before.
fn expect_no_more_out_than_in(chip: &mut Chip, lines: &mut RecordedLines) {
    let end = lines.arrivals_end();
    for part in 1..=8 {
        let until = end * part / 8;
        assert_eq!(chip.run(until, lines, &mut NoObserver), Stop::Reached);
        let come = lines
            .arrivals
            .iter()
            .filter(|arrival| arrival.start <= until)
            .count() as u64;
        let counted: u64 = losses(&Stats::collect(chip)).values().sum();
        let out = lines.departures.len() as u64 + lines.drops.len() as u64 + counted;
        assert!(
            out <= come,
            "{come} frames have come by cycle {until}, {out} are accounted for"
        );
    }
}

/// Every frame that left is one that arrived, with the right contents, by the right port, once, and
/// in order between any two ports.
fn expect_correct_frames(lines: &RecordedLines) {
    let router = Router::of("forward/npsim.toml");
    let mut gone: BTreeSet<u64> = BTreeSet::new();
    let mut last: BTreeMap<(u8, u8), u64> = BTreeMap::new();
    for sent in &lines.departures {
        let frame = sent.frame.expect("every departure can be traced");
        let arrival = &lines.arrivals[frame as usize];
        assert!(gone.insert(frame), "frame {frame} left twice");
        let expected = Fate::Forwarded(usize::from(sent.port), sent.bytes.clone());
        assert!(
            router.fate(&arrival.bytes) == expected,
            "frame {frame} left as {sent:?}"
        );
        assert!(
            sent.start > arrival.start,
            "frame {frame} left before it came"
        );
        if let Some(before) = last.insert((arrival.port, sent.port), frame) {
            assert!(
                before < frame,
                "frame {frame} from port {} was overtaken",
                arrival.port
            );
        }
    }
    for lost in &lines.drops {
        let frame = lost
            .frame
            .expect("a frame lost at the media interface is known");
        assert!(gone.insert(frame), "frame {frame} left and was lost");
    }
}

/// Without congestion, each loss has the reason that the frame implies; with congestion, no reason
/// has more frames than there were.
fn expect_correct_losses(lines: &RecordedLines, losses: &BTreeMap<String, u64>) {
    let router = Router::of("forward/npsim.toml");
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for arrival in &lines.arrivals {
        if let Fate::Dropped(name) | Fate::Exception(name) = router.fate(&arrival.bytes) {
            *expected.entry(name.to_owned()).or_default() += 1;
        }
    }
    let congested =
        !lines.drops.is_empty() || CONGESTION.iter().any(|name| losses.contains_key(*name));
    if congested {
        for (name, frames) in losses
            .iter()
            .filter(|(name, _)| !CONGESTION.contains(&name.as_str()))
        {
            assert!(
                expected.get(name).is_some_and(|most| frames <= most),
                "{name}: {frames}"
            );
        }
    } else {
        assert_eq!(*losses, expected);
    }
}

/// All buffers are on the free list or spare in a context, each once; no RBUF
/// or TBUF element is in use; the rings are empty.
fn expect_all_resources_returned(chip: &Chip, stats: &Stats) {
    let forwarder = Forwarder::shipped();
    let buffers = forwarder.project.boot.buffers.as_ref().unwrap();
    let mut emptied = chip.clone();
    let queued = emptied
        .units()
        .sram
        .entry(buffers.channel, buffers.entry)
        .unwrap()
        .count();
    let mut free: Vec<u32> = (0..queued)
        .map(|_| {
            emptied
                .units_mut()
                .sram
                .dequeue(buffers.channel, buffers.entry)
                .unwrap()
        })
        .collect();

    let image = chip.microengines()[0].program().image();
    let spare = image
        .registers
        .iter()
        .find(|register| register.name == "spare")
        .unwrap();
    let spares = (0..8).map(|context| chip.microengines()[0].read_register(spare.operand, context));
    free.extend(spares.filter(|handle| *handle != 0));
    free.sort_unstable();
    let all: Vec<u32> = (0..buffers.count)
        .map(|index| buffers.descriptor(index))
        .collect();
    assert_eq!(
        free, all,
        "{queued} of {} buffers are on the free list",
        buffers.count
    );

    assert_eq!(chip.units().msf.leaks(), []);
    let fresh = Stats::collect(&forwarder.chip()).media.rbuf_free;
    assert_eq!(stats.media.rbuf_free, fresh, "RBUF elements");
    assert_eq!(stats.media.rbuf_handed, stats.media.rbuf_freed);
    assert_eq!(stats.media.tbuf_valid, 0);
    for ring in 0..16 {
        assert_eq!(chip.units().scratch.ring(ring).count(), 0, "ring {ring}");
    }
}

/// Special properties of a frame.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Plain,
    /// The IP packet ends before the frame does.
    Padded,
    TimeToLive(u8),
    WrongChecksum,
    Options,
    OtherVersion,
    ShortHeader,
    TooLongTotal,
    TooShortTotal,
    NotIpv4,
    LinkMulticast,
    FromLoopback,
    ToLoopback,
    ToMulticast,
    ToReserved,
    ToBroadcast,
    ToRouter,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        24 => Just(Kind::Plain),
        2 => Just(Kind::Padded),
        2 => (0..3u8).prop_map(Kind::TimeToLive),
        1 => Just(Kind::WrongChecksum),
        1 => Just(Kind::Options),
        1 => Just(Kind::OtherVersion),
        1 => Just(Kind::ShortHeader),
        1 => Just(Kind::TooLongTotal),
        1 => Just(Kind::TooShortTotal),
        1 => Just(Kind::NotIpv4),
        1 => Just(Kind::LinkMulticast),
        1 => Just(Kind::FromLoopback),
        1 => Just(Kind::ToLoopback),
        1 => Just(Kind::ToMulticast),
        1 => Just(Kind::ToReserved),
        1 => Just(Kind::ToBroadcast),
        1 => Just(Kind::ToRouter),
    ]
}

/// A UDP datagram in a frame of `length` bytes to one of the routes, with a special property; its
/// payload identifies the frame.
fn frame(number: u32, kind: Kind, length: usize, route: u8) -> Vec<u8> {
    let mut frame = vec![0x02, 0, 0x5e, 0, 0, 0, 0x02, 0, 0x5e, 0x20, 0, 1, 0x08, 0];
    let total = (length - 14) as u16;
    let host = number as u8;
    let destination = match route {
        0 => [10, 1, 3, host],
        1 => [10, 2, 4, host],
        2 => [192, 0, 2, host],
        _ => [198, 51, 100, host],
    };
    frame.extend([0x45, 0]);
    frame.extend(total.to_be_bytes());
    frame.extend((number as u16).to_be_bytes());
    frame.extend([0x40, 0, 64, 17, 0, 0, 10, 9, 8, 7]);
    frame.extend(destination);
    frame.extend((number as u16).to_be_bytes());
    frame.extend([0, 9]);
    frame.extend((total - 20).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend((0..length - frame.len()).map(|at| (number as usize * 7 + at) as u8));
    match kind {
        Kind::Plain | Kind::WrongChecksum => {}
        Kind::Padded => frame[16..18].copy_from_slice(&40u16.to_be_bytes()),
        Kind::TimeToLive(hops) => frame[22] = hops,
        Kind::Options => frame[14] = 0x46,
        Kind::OtherVersion => frame[14] = 0x65,
        Kind::ShortHeader => frame[14] = 0x44,
        Kind::TooLongTotal => frame[16..18].copy_from_slice(&(total + 1).to_be_bytes()),
        Kind::TooShortTotal => frame[16..18].copy_from_slice(&19u16.to_be_bytes()),
        Kind::NotIpv4 => frame[12..14].copy_from_slice(&[0x86, 0xdd]),
        Kind::LinkMulticast => frame[0] = 0x03,
        Kind::FromLoopback => frame[26] = 127,
        Kind::ToLoopback => frame[30] = 127,
        Kind::ToMulticast => frame[30] = 230,
        Kind::ToReserved => frame[30] = 244,
        Kind::ToBroadcast => frame[30..34].fill(255),
        Kind::ToRouter => frame[30..34].copy_from_slice(&[10, 2, 0, 1]),
    }
    let sum = checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    if let Kind::WrongChecksum = kind {
        frame[25] ^= 0x10;
    }
    frame
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(60usize), 1 => Just(1514usize), 4 => 60..200usize, 4 => 60..=1514usize]
}

fn assignment() -> impl Strategy<Value = PortAssignment> {
    prop_oneof![
        Just(PortAssignment::ByInterface),
        Just(PortAssignment::RoundRobin),
        Just(PortAssignment::ByFlow),
        (0..3u32).prop_map(PortAssignment::Fixed),
    ]
}

fn pace() -> impl Strategy<Value = Pace> {
    let pace = prop_oneof![
        2 => Just("line".to_owned()),
        1 => (1..40u32).prop_map(|n| format!("{}kpps", 50 * n)),
        1 => (1..4u32).prop_map(|n| format!("{n}x")),
    ];
    pace.prop_map(|text| text.parse().unwrap())
}

fn traffic() -> impl Strategy<Value = Vec<Frame>> {
    let one = (kind(), length(), 0..4u8, 0..3u32, 0..3_000u64);
    prop::collection::vec(one, 1..400).prop_map(|frames| {
        let mut time_ns = 0;
        (0..)
            .zip(frames)
            .map(|(number, (kind, length, route, port, gap_ns))| {
                time_ns += gap_ns;
                let bytes = frame(number, kind, length, route);
                Frame {
                    time_ns,
                    port,
                    original_len: bytes.len() as u32,
                    bytes,
                }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_traffic_is_conserved(frames in traffic(), ports in assignment(), pace in pace()) {
        expect_conserved(Forwarder::shipped().lines(&frames, ports, pace));
    }
}

/// Equal frames to one route, back to back on all three ports.
fn flood(count: u32, length: usize, route: u8) -> RecordedLines {
    let frames: Vec<Frame> = (0..count)
        .map(|number| Frame {
            time_ns: 0,
            port: number % 3,
            bytes: frame(number, Kind::Plain, length, route),
            original_len: length as u32,
        })
        .collect();
    Forwarder::shipped().lines(&frames, PortAssignment::ByInterface, Pace::Line)
}

#[test]
fn three_ports_into_one_lose_frames_at_the_transmit_ring() {
    let (stats, lines) = expect_conserved(flood(1500, 1514, 2));
    assert!(
        losses(&stats)
            .get("DROP_TX_RING_FULL")
            .is_some_and(|frames| *frames > 0),
        "{:?}",
        losses(&stats)
    );
    assert!(lines.departures.iter().all(|sent| sent.port == 2));
}

#[test]
fn excess_small_frames_are_dropped_at_the_media_interface() {
    let (stats, lines) = expect_conserved(flood(3000, 60, 0));
    assert!(!lines.drops.is_empty(), "{:?}", losses(&stats));
    let overflows: u64 = stats.ports.iter().map(|port| port.overflow_frames).sum();
    assert_eq!(overflows, lines.drops.len() as u64);
}

/// A burst of exceptions keeps the slow path busy long after the last frame has arrived; the run
/// does not end before it has taken them all.
#[test]
fn run_does_not_end_while_the_slow_path_is_busy() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/exceptions.pcap");
    let folder = tempfile::tempdir().unwrap();
    let stats = folder.path().join("stats.json");
    let result = std::process::Command::new(env!("CARGO_BIN_EXE_npsim-under-test"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args([
            "run",
            "microcode/forward",
            "--pace",
            "line",
            "--drain",
            "20us",
            "--trace",
        ])
        .arg(path)
        .arg("--stats")
        .arg(&stats)
        .output()
        .unwrap();
    assert!(result.status.success());
    let stats: serde_json::Value = serde_json::from_slice(&std::fs::read(stats).unwrap()).unwrap();
    assert_eq!(stats["ending"], "drained");
    assert_eq!(stats["packets"]["exceptions"], 40);
    assert_eq!(stats["packets"]["unaccounted"], 0);
}
