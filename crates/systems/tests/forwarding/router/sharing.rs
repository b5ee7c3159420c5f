//! How the classes of a port share its line, and that an overloaded port takes nothing from the
//! others.

use npsim_net::LineFrame;
use npsim_net::load::Load;

use super::bench::{Bench, PROJECTS, RecordedLines, drain};
use super::classes::CLASSES;
use super::verdict::{check_at_rest, losses};
use crate::oracle::checksum;

/// A code point of each class in the shipped table.
const CODE_POINTS: [u8; CLASSES] = [8, 0, 16, 46];

/// A load to one prefix from some ports, whose flows have the classes in turn.
fn load_to(bench: &Bench, prefix: &str, rate: &str, classes: &[usize]) -> Vec<LineFrame> {
    let load = Load {
        rate: Some(rate.parse().unwrap()),
        size: "512".parse().unwrap(),
        destinations: vec![prefix.parse().unwrap()],
        flows: 24,
        time: "3ms".parse().unwrap(),
        ..Load::default()
    };
    let mut frames = bench.loaded(load);
    for (number, frame) in frames.iter_mut().enumerate() {
        // In step neither with ports nor with flows.
        let class = classes[(number / 2 + number / 7) % classes.len()];
        frame.bytes[15] = CODE_POINTS[class] << 2;
        frame.bytes[24..26].fill(0);
        let sum = checksum(&frame.bytes[14..34]);
        frame.bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    }
    frames
}

/// Bytes by class that leave by a port while frames arrive, after a start-up phase.
fn shares(bench: &Bench, lines: &RecordedLines, port: u8) -> [u64; CLASSES] {
    let end = lines.arrivals_end();
    let mut shares = [0; CLASSES];
    for sent in &lines.departures {
        if sent.port == port && (end / 4..end).contains(&sent.start) {
            let arrival = &lines.arrivals[sent.frame.unwrap() as usize];
            shares[bench.classes.class(&arrival.bytes)] += sent.bytes.len() as u64;
        }
    }
    shares
}

/// Two ports send at line rate to the third, in these classes.
fn expect_shared(classes: &[usize]) {
    let bench = Bench::new("npsim.toml", &[], &[]);
    let frames = load_to(&bench, "10.2.0.0/16", "950Mbps,950Mbps,0", classes);
    let mut lines = bench.lines(frames);
    let mut chip = bench.chip();
    drain(&mut chip, &mut lines).unwrap();
    check_at_rest(&bench, &chip, &lines, &[]).unwrap();
    let shares = shares(&bench, &lines, 2);
    let all: u64 = shares.iter().sum();
    // A gigabit in three quarters of 3 ms, with 24 bytes of the line for each
    // frame of 508.
    assert!(all > 281_250 * 508 / 532 * 95 / 100, "{shares:?}");
    let weights: u64 = classes.iter().map(|class| *class as u64 + 1).sum();
    for (class, bytes) in shares.iter().enumerate() {
        let due = if classes.contains(&class) {
            all * (class as u64 + 1) / weights
        } else {
            0
        };
        assert!(
            bytes.abs_diff(due) * 100 <= due * 10,
            "{shares:?}: class {class} is due {due}"
        );
    }
}

#[test]
fn two_classes_share_by_their_weights() {
    for pair in [[0, 1], [0, 3], [1, 2], [2, 3]] {
        expect_shared(&pair);
    }
}

#[test]
fn four_classes_share_by_their_weights() {
    expect_shared(&[0, 1, 2, 3]);
}

/// Two gigabits a second for port 2, beside two lines that are not overloaded.
#[test]
fn overloaded_port_takes_nothing_from_others() {
    let bench = Bench::new("npsim.toml", &[], &[]);
    let heavy = load_to(&bench, "10.2.0.0/16", "700Mbps,700Mbps,0", &[1]);
    let light = [
        load_to(&bench, "10.1.0.0/17", "200Mbps,0,0", &[0, 1, 2, 3]),
        load_to(&bench, "10.0.0.0/17", "0,200Mbps,0", &[0, 1, 2, 3]),
        load_to(&bench, "10.1.0.0/17", "0,0,300Mbps", &[0, 1, 2, 3]),
    ];
    let mut frames: Vec<_> = heavy
        .into_iter()
        .chain(light.into_iter().flatten())
        .collect();
    frames.sort_by_key(|frame| (frame.start_ps, frame.port));
    // One line carries both: the later one waits.
    let mut free = [0; 3];
    for frame in &mut frames {
        let line = &mut free[frame.port as usize];
        let length = frame.end_ps - frame.start_ps;
        frame.start_ps = frame.start_ps.max(*line);
        frame.end_ps = frame.start_ps + length;
        *line = frame.end_ps + 96_000;
    }
    frames.sort_by_key(|frame| (frame.start_ps, frame.port));
    let stamps_are_not_of_one_load = |frame: &mut LineFrame| frame.bytes[42..44].fill(0);
    frames.iter_mut().for_each(stamps_are_not_of_one_load);
    let mut lines = bench.lines(frames);
    let mut chip = bench.chip();
    drain(&mut chip, &mut lines).unwrap();
    check_at_rest(&bench, &chip, &lines, &[]).unwrap();

    let lost: Vec<u64> = (0..3 * CLASSES)
        .map(|queue| bench.counter32(&chip, "QUEUE_COUNTERS", queue * 64 + 32))
        .collect();
    assert!(lost[2 * CLASSES + 1] > 50, "{lost:?}");
    assert_eq!(lost.iter().sum::<u64>(), lost[2 * CLASSES + 1], "{lost:?}");
    let all = losses(&chip);
    assert_eq!(all.keys().collect::<Vec<_>>(), ["DROP_QUEUE"], "{all:?}");
    assert!(lines.drops.is_empty());
}

#[test]
fn slow_port_takes_nothing_from_fast_ports() {
    let bench = Bench::new("npsim.toml", &["port.2.rate=100Mbps"], &[]);
    let slow = load_to(&bench, "10.2.0.0/16", "150Mbps,0,0", &[1]);
    let fast = load_to(&bench, "10.1.0.0/17", "0,200Mbps,0", &[1]);
    let mut frames: Vec<_> = slow.into_iter().chain(fast).collect();
    frames.sort_by_key(|frame| (frame.start_ps, frame.port));
    let stamps_are_not_of_one_load = |frame: &mut LineFrame| frame.bytes[42..44].fill(0);
    frames.iter_mut().for_each(stamps_are_not_of_one_load);
    let mut lines = bench.lines(frames);
    let mut chip = bench.chip();
    drain(&mut chip, &mut lines).unwrap();
    check_at_rest(&bench, &chip, &lines, &[]).unwrap();
    let of_port = |port: usize| -> u64 {
        (0..CLASSES)
            .map(|class| {
                let queue = port * CLASSES + class;
                bench.counter32(&chip, "QUEUE_COUNTERS", queue * 64 + 32)
            })
            .sum()
    };
    assert_eq!((of_port(0), of_port(1)), (0, 0));
    let all = losses(&chip);
    assert!(all.keys().all(|name| name == "DROP_QUEUE"), "{all:?}");
}

/// The scheduler counts cycles in 32 bits: a port that was idle for more than half of that range is
/// not taken for busy.
#[test]
fn long_idle_port_sends_at_once() {
    for project in PROJECTS {
        let bench = Bench::new(project, &[], &[]);
        for idle in [1_u64 << 31, 3 << 30, (1 << 32) + (1 << 31)] {
            let load = Load {
                rate: Some("200kpps".parse().unwrap()),
                time: "60us".parse().unwrap(),
                ..Load::default()
            };
            let mut lines = bench.lines(bench.loaded(load));
            let half = lines.arrivals.len() / 2;
            assert!(half > 3, "{half}");
            for arrival in &mut lines.arrivals[half..] {
                arrival.start += idle;
                arrival.end += idle;
            }
            let mut chip = bench.chip();
            drain(&mut chip, &mut lines).unwrap();
            check_at_rest(&bench, &chip, &lines, &[]).unwrap();
            assert_eq!(lines.departures.len(), lines.arrivals.len());
            for sent in &lines.departures {
                let arrival = &lines.arrivals[sent.frame.unwrap() as usize];
                assert!(
                    sent.start < arrival.end + 100_000,
                    "{project}: in at {}, out at {}",
                    arrival.end,
                    sent.start
                );
            }
        }
    }
}
