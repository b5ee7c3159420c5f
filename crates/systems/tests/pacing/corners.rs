//! Corner cases of the wheel: turns, no packets, many packets in a slot, due times that have passed or are far away.

use npsim_chip::Cycle;
use npsim_net::Random;

use super::bench::{Bench, STEP, arrivals, udp};
use super::model::{SLACK, SLOT, check};

/// Cycles per microsecond.
const US: Cycle = 600;
/// The cycle of the first packet, when the system is ready.
const BEGIN: Cycle = 20_000;

/// Flows of classes 1, 2, ..., one each, whose packets of 46 bytes have the given gaps in steps.
fn flows(gaps: &[u64]) -> String {
    let mut text = String::new();
    for (place, gap) in gaps.iter().enumerate() {
        let (class, port) = (place + 1, 1024 + place);
        let flow = format!(
            "[[flow]]\nsource = \"10.0.0.2\"\ndestination = \"10.1.0.2\"\nprotocol = 17\n\
             source_port = {port}\ndestination_port = 5001\nclass = {class}\n"
        );
        text.push_str(&flow);
        // A rate is rounded down to bytes, so the resulting gap is read from the record.
        if *gap > 0 {
            let rate = 46 * 8 * 37_500_000 / gap;
            let class =
                format!("[[gpp.srp.class]]\nclass = {class}\npacket = 46\nrate = \"{rate}bps\"\n");
            text.push_str(&class);
        }
    }
    if gaps.iter().all(|gap| *gap == 0) {
        text += "[gpp.srp]\nclass = []\n";
    }
    text
}

/// Runs packets (cycle, flow) and compares them with the model; the greatest delay is a slot, 2 us and `more` steps.
fn expect_paced(
    gaps: &[u64],
    set: &[&str],
    packets: &[(Cycle, u32)],
    rest: Cycle,
    more: u64,
) -> Bench {
    expect_paced_with_project(gaps, "", set, packets, rest, more)
}

/// Runs packets through a bench with additions to its project file.
fn expect_paced_with_project(
    gaps: &[u64],
    text: &str,
    set: &[&str],
    packets: &[(Cycle, u32)],
    rest: Cycle,
    more: u64,
) -> Bench {
    let mut bench = Bench::new(&(flows(gaps) + text), set);
    let last = packets.last().unwrap().0;
    let frames = packets
        .iter()
        .map(|&(at, flow)| (BEGIN + at, udp(flow, 60)));
    let mut traffic = arrivals(frames);
    bench.run(BEGIN + last + rest, &mut traffic);
    let real: Vec<u64> = (0..=gaps.len() as u32)
        .map(|flow| bench.record(flow, 12).into())
        .collect();
    for (gap, real) in gaps.iter().zip(&real[1..]) {
        assert!(real.abs_diff(gap << 8) <= 256 + gap / 100, "{gap}: {real}");
    }
    let run = check(&bench, &traffic, |flow, _| real[flow as usize]);
    let late = run.late.iter().max().unwrap();
    assert!(*late <= SLOT + SLACK + more, "{late}");
    bench
}

/// `count` packets of a flow at once.
fn burst(flow: u32, count: usize) -> Vec<(Cycle, u32)> {
    vec![(0, flow); count]
}

#[test]
fn burst_is_paced_over_several_turns() {
    // 100 us, 4.4 in a turn.
    expect_paced(&[3_750], &[], &burst(1, 40), 4_200 * US, 0);
}

#[test]
fn flows_with_different_gaps_are_paced_independently() {
    let gaps = [450, 3_750, 20_000, 64, 1_000, 16_384, 33_000];
    let packets: Vec<_> = (0..210)
        .map(|n| (n * 2 * US, (n * 5 % 7) as u32 + 1))
        .collect();
    expect_paced(&gaps, &[], &packets, 30_000 * US, 0);
}

#[test]
fn wheel_restarts_after_a_long_idle_time() {
    let packets: Vec<_> = [0, 1, 400, 900, 5_000, 5_001, 12_345]
        .iter()
        .map(|at| (at * US, 1))
        .collect();
    expect_paced(&[3_750], &[], &packets, 1_000 * US, 0);
}

#[test]
fn many_packets_of_one_slot_leave_in_order() {
    // The second packet of each of 60 flows is due at the same time, whenever the first one
    // arrived: one frame per microsecond.
    let gaps: Vec<u64> = (0..60).map(|flow| 15_000 - flow * 75 / 2).collect();
    let mut packets: Vec<(Cycle, u32)> = (0..60).map(|n| (n * US, n as u32 + 1)).collect();
    let again: Vec<_> = (0..60).map(|n| ((80 + n) * US, n as u32 + 1)).collect();
    packets.extend(again);
    // 60 packets at one time: the last is handed on after those before it.
    expect_paced(&gaps, &[], &packets, 600 * US, 60 * 240 / STEP);
}

#[test]
fn flows_without_a_gap_are_not_held() {
    expect_paced(&[0, 0], &[], &burst(1, 50), 100 * US, 0);
}

#[test]
fn packets_due_in_the_past_leave_at_once() {
    // The wheel is stalled for 60 us while packets arrive that are due every 10 us.
    let (from, until) = (80 * US, 140 * US);
    let stall = "[[stall]]\nme = \"2\"\ncontext = \"0\"\nfrom = \"80us\"\nfor = \"60us\"\n";
    let packets: Vec<_> = (0..20).map(|n| (n * 5 * US, n as u32 % 2 + 1)).collect();
    let bench = expect_paced_with_project(
        &[375, 0],
        stall,
        &[],
        &packets,
        400 * US,
        (until - from) / STEP,
    );
    // Packets released before are handed on by the other context.
    let during = (from + 2 * US..until).contains(
        &bench.seen.released[bench
            .seen
            .released
            .partition_point(|at| *at < from + 2 * US)],
    );
    assert!(!during, "nothing is released while the wheel is stalled");
}

#[test]
fn packets_due_beyond_the_buckets_leave_in_order() {
    // Four buckets: eras of two turns, 0.87 ms. Packets are due up to 12 ms ahead.
    let small = ["me.wheel.define.BUCKET_BITS=2"];
    let mut packets = burst(1, 12);
    packets.extend(burst(2, 40));
    packets.extend((0..60).map(|n| (n * 50 * US, n as u32 % 3 + 1)));
    expect_paced(&[40_000, 9_000, 5], &small, &packets, 50_000 * US, 0);
}

/// Packets that arrive while packets due at the same time move from one level to the next. The first packet of each
/// flow sets the time at which all others are due, a step apart, since the gap is then shortened. A frame arrives every
/// `every` cycles until long after.
fn assert_order_is_kept(wait: u64, every: Cycle, set: &[&str], seed: u64) {
    const FLOWS: u32 = 60;
    let gaps: Vec<u64> = (0..u64::from(FLOWS))
        .map(|flow| wait + flow * 300)
        .collect();
    let mut bench = Bench::new(&flows(&gaps), set);
    let real: Vec<u64> = (0..=FLOWS)
        .map(|flow| bench.record(flow, 12).into())
        .collect();
    let begin = 200_000;
    let first = (1..=FLOWS).map(|flow| (BEGIN, udp(flow, 60)));
    let mut random = Random::new(seed, wait);
    let last = (wait + 18_000) * STEP / every + 100;
    let others = (0..last).map(|n| {
        let flow = random.below(FLOWS.into()) as u32 + 1;
        (begin + n * every, udp(flow, 60))
    });
    let mut traffic = arrivals(first.chain(others));
    bench.run(begin - 10_000, &mut traffic);
    assert_eq!(
        traffic.left.len(),
        FLOWS as usize,
        "the first ones are not held"
    );
    for flow in 1..=FLOWS {
        bench.set_record(flow, 12, 1 << 8);
    }
    bench.run(begin + last * every + 2_000 * US, &mut traffic);
    assert_eq!(bench.counter("DROP_PROCESSING_FULL"), 0);
    check(&bench, &traffic, |flow, nth| {
        if nth == 0 {
            real[flow as usize]
        } else {
            1 << 8
        }
    });
}

#[test]
fn packets_arriving_while_a_bucket_is_emptied_stay_in_order() {
    for seed in 0..4 {
        assert_order_is_kept(40_000, US, &[], seed);
        assert_order_is_kept(52_000, US, &[], seed);
    }
}

#[test]
fn packets_arriving_while_the_list_is_moved_stay_in_order() {
    for seed in 0..4 {
        assert_order_is_kept(90_000, 4 * US, &["me.wheel.define.BUCKET_BITS=2"], seed);
        assert_order_is_kept(150_000, 4 * US, &["me.wheel.define.BUCKET_BITS=2"], seed);
    }
}

#[test]
fn flow_beyond_the_horizon_drops_packets_and_keeps_its_gap() {
    // 4 ms apart, and no packet may wait longer than 10 ms.
    let mut bench = Bench::new(&flows(&[150_000]), &["me.pacer.define.HORIZON=375000"]);
    let mut traffic = arrivals(
        burst(1, 10)
            .into_iter()
            .map(|(at, flow)| (BEGIN + at, udp(flow, 60))),
    );
    bench.run(BEGIN + 14_000 * US, &mut traffic);
    assert_eq!(
        bench.counter("DROP_FLOW_BEHIND"),
        7,
        "0, 4 and 8 ms are near enough"
    );
    assert_eq!(traffic.left.len(), 3);
    assert_eq!(bench.record(1, 8), 3, "packets that have a due time");
    let apart = |at: usize| bench.seen.released[at + 1] - bench.seen.released[at];
    for at in 0..2 {
        assert!(
            apart(at).abs_diff(4_000 * US) <= (SLOT + SLACK) * STEP,
            "{}",
            apart(at)
        );
    }
}

#[test]
fn gap_saturates_at_its_maximum() {
    let bench = Bench::new(
        "[[flow]]\nsource = \"10.0.0.2\"\ndestination = \"10.1.0.2\"\nprotocol = 17\n\
         source_port = 1024\ndestination_port = 5001\nclass = 1\n\
         [[gpp.srp.class]]\nclass = 1\npacket = 9000\nrate = \"8bps\"\n",
        &[],
    );
    assert_eq!(bench.record(1, 12), u32::MAX - 255);
}
