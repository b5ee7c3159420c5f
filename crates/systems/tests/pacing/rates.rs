//! Flows that follow SRP: the microcode's counts of their acknowledgements, and the resulting gaps.

use npsim_chip::Cycle;
use npsim_protocols::srp::gap;
use npsim_protocols::srp::task::SrpTask;

use super::bench::{Bench, arrivals, frame};

const US: Cycle = 600;
/// Bytes of a segment's data.
const DATA: u32 = 1000;
const FIRST: u32 = 5_000_000;

const SENDER: &str = "[[flow]]\nsource = \"10.0.0.2\"\ndestination = \"10.1.0.2\"\nprotocol = 6\n\
    source_port = 1024\ndestination_port = 5001\nclass = 7\nreverse = true\n\
    [gpp.srp]\nperiod = \"10us\"\n\
    [[gpp.srp.class]]\nclass = 7\npacket = 1040\nrate = \"srp\"\nmost = \"400Mbps\"\n";

/// A TCP header: ports, numbers, flags.
fn tcp(ports: [u16; 2], sequence: u32, acknowledgement: u32, flags: u16) -> Vec<u8> {
    let mut header: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
    header.extend(sequence.to_be_bytes());
    header.extend(acknowledgement.to_be_bytes());
    header.extend((5 << 12 | flags).to_be_bytes());
    header.extend([0; 6]);
    header
}

/// The segment at the given number of segments from the first.
fn data(segment: u32) -> Vec<u8> {
    let header = tcp([1024, 5001], FIRST + segment * DATA, 1, 0x10);
    frame([10, 0, 0, 2], [10, 1, 0, 2], 6, &header, 40 + DATA as usize)
}

/// The acknowledgement of the given number of segments.
fn ack(segments: u32) -> Vec<u8> {
    let header = tcp([5001, 1024], 1, FIRST + segments * DATA, 0x10);
    frame([10, 1, 0, 2], [10, 0, 0, 2], 6, &header, 40)
}

/// Highest acknowledgement, repetitions, bytes, losses, round-trip times.
fn counted(bench: &Bench) -> [u32; 5] {
    [16, 20, 24, 28, 36].map(|byte| bench.record(1, byte))
}

fn send(bench: &mut Bench, at: Cycle, frames: Vec<Vec<u8>>) {
    let frames = frames.into_iter().map(|frame| (at * US, frame));
    let mut traffic = arrivals(frames);
    bench.run(at * US + 60 * US, &mut traffic);
}

#[test]
fn acknowledgements_losses_and_round_trips_are_counted() {
    let mut bench = Bench::new(SENDER, &[]);
    let most = gap(1040, 50_000_000, 600);
    assert_eq!(
        bench.record(1, 12),
        most,
        "until a round-trip time is known"
    );
    send(&mut bench, 50, vec![data(0), data(1), data(2)]);
    let due = bench.record(1, 44);
    assert_eq!(due & 1, 1, "the first one is timed");
    send(&mut bench, 250, vec![ack(1)]);
    assert_eq!(counted(&bench), [FIRST + DATA, 0, 0, 0, 1]);
    let rtt = u64::from(bench.record(1, 32)) * 16;
    // The segment took 8.6 us to arrive; both took about 5 us to be processed.
    assert!((190 * US..194 * US).contains(&rtt), "{rtt}");
    send(&mut bench, 330, vec![ack(3)]);
    assert_eq!(counted(&bench), [FIRST + 3 * DATA, 0, 2 * DATA, 0, 1]);
    send(
        &mut bench,
        400,
        vec![data(3), data(4), ack(3), ack(2), ack(3)],
    );
    assert_eq!(counted(&bench), [FIRST + 3 * DATA, 2, 2 * DATA, 0, 1]);
    send(&mut bench, 480, vec![ack(3), ack(3)]);
    assert_eq!(counted(&bench), [FIRST + 3 * DATA, 4, 2 * DATA, 1, 1]);
    assert_eq!(bench.record(1, 44), 0, "what a loss ended is not measured");
    send(&mut bench, 560, vec![data(3), data(3), ack(5)]);
    assert_eq!(counted(&bench), [FIRST + 5 * DATA, 0, 4 * DATA, 1, 1]);
    assert_eq!(bench.record(1, 44), 0, "nor what was sent again");
    assert_eq!(bench.record(1, 8), 7, "segments with a due time");
}

#[test]
fn gap_follows_the_round_trip_time_and_grows_after_a_loss() {
    let mut bench = Bench::new(SENDER, &[]);
    send(&mut bench, 50, vec![data(0)]);
    send(&mut bench, 250, vec![ack(1)]);
    let rtt = u128::from(bench.record(1, 32)) * 16;
    // Three packets in a round-trip time: byte/s, rounded down.
    let rate = 3 * 1040 * 600_000_000 / rtt;
    let first = bench.record(1, 12);
    assert!(first.abs_diff(gap(1040, rate as u64, 600)) <= 1, "{first}");
    let task = |bench: &Bench| {
        let task = bench.chip.gpp().task::<SrpTask>().unwrap();
        let flow = task.flows().next().unwrap();
        (flow.law.rate(), flow.gap, flow.events)
    };
    assert_eq!(task(&bench).1, first);
    // One segment per round-trip time for each acknowledged segment.
    for segments in 2..=8 {
        send(
            &mut bench,
            250 + u64::from(segments) * 80,
            vec![ack(segments)],
        );
    }
    let grown = bench.record(1, 12);
    assert!(grown < first * 4 / 10, "{grown} after {first}");
    send(&mut bench, 1_000, vec![ack(8), ack(8), ack(8)]);
    let (rate, after, events) = task(&bench);
    assert_eq!((after, events), (bench.record(1, 12), 1));
    assert_eq!(after, gap(1040, rate, 600));
    assert!(after > grown * 3 / 2, "{after} after {grown}");
}

#[test]
fn packets_of_the_opposite_direction_are_not_paced() {
    let mut bench = Bench::new(SENDER, &[]);
    let answer = |total: usize| {
        let header = tcp([5001, 1024], 1, FIRST, 0x10);
        frame([10, 1, 0, 2], [10, 0, 0, 2], 6, &header, total)
    };
    let mut traffic = arrivals((0..10).map(|_| (30_000, answer(1040))));
    bench.run(60_000 + 200 * US, &mut traffic);
    assert_eq!(traffic.left.len(), 10);
    assert_eq!(counted(&bench), [0; 5], "with data they count for nothing");
    assert_eq!(bench.record(1, 8), 0);
}
