//! The wheel when it is idle.

use super::bench::{Bench, arrivals, udp};

/// Flows 1 to 10, with a packet each every 30 ms.
const SLOW: &str = "[[flow]]\nsource = \"10.0.0.2\"\ndestination = \"10.1.0.2\"\nprotocol = 17\n\
    source_port = 1024\ndestination_port = 5001\ncount = 10\nclass = 1\n\
    [[gpp.srp.class]]\nclass = 1\npacket = 46\nrate = \"12266bps\"\n";

#[test]
fn empty_wheel_sleeps() {
    let mut bench = Bench::new(SLOW, &[]);
    bench.run(50_000, &mut arrivals([]));
    let start = bench.seen.wheel_instructions;
    assert!(start > 0);
    bench.run(6_000_000, &mut arrivals([]));
    assert_eq!(bench.seen.wheel_instructions, start, "10 ms of nothing");
    let frames = (1..=10).map(|flow| (6_000_000, udp(flow, 60)));
    let mut traffic = arrivals(frames);
    bench.run(6_100_000, &mut traffic);
    assert_eq!(traffic.left.len(), 10);
    let after = bench.seen.wheel_instructions;
    bench.run(12_000_000, &mut arrivals([]));
    assert_eq!(bench.seen.wheel_instructions, after, "and of nothing again");
}

#[test]
fn wheel_with_distant_packets_wakes_once_per_turn() {
    let mut bench = Bench::new(SLOW, &[]);
    let mut traffic = arrivals((0..2).map(|_| (20_000, udp(1, 60))));
    bench.run(200_000, &mut traffic);
    assert_eq!(traffic.left.len(), 1, "the second one is due in 30 ms");
    let (before, commands) = (bench.seen.wheel_instructions, bench.seen.wheel_commands);
    // 40 turns of 16384 steps of 16 cycles.
    let turns = 40;
    bench.run(200_000 + turns * 262_144, &mut traffic);
    let instructions = bench.seen.wheel_instructions - before;
    assert!(instructions <= (turns + 1) * 60, "{instructions}");
    assert!(
        bench.seen.wheel_commands - commands <= turns + 1,
        "a bucket each"
    );
    bench.run(19_000_000, &mut traffic);
    assert_eq!(traffic.left.len(), 2);
}
