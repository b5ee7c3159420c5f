//! A thousand flows at the loads for which the system is designed.

use npsim_net::Random;

use super::bench::{Bench, STEP, Traffic, arrivals, udp};
use super::model::{Run, SLACK, SLOT, check, spread};

const FLOWS: u32 = 1000;

/// Cycles that the wheel takes to start, when it clears its local memory.
const START: u64 = 2700;
/// The cycle of the first packet.
const BEGIN: u64 = 20_000;

/// The arriving packets, and the rates of the flows.
struct Load {
    /// Bytes of a frame.
    size: usize,
    /// Cycles from one packet to the next.
    every: u64,
    packets: u64,
    /// The rate of a flow in bits of IP packets a second, and its gap in 2^-8 steps.
    rate: &'static str,
    gap: u64,
    /// Whether flows send in turn, or the flow of each packet is drawn at random.
    drawn: bool,
    /// Cycles after the last packet in which all packets leave.
    rest: u64,
}

/// Runs the load and prints the result; returns the wheel's cycles per packet.
fn run(load: &Load) -> (Run, u64) {
    let &Load {
        size,
        every,
        packets,
        rate,
        gap,
        drawn,
        rest,
    } = load;
    let packet = size - 14;
    let more = format!(
        "[[flow]]\nsource = \"10.0.0.2\"\ndestination = \"10.1.0.2\"\nprotocol = 17\n\
         source_port = 1024\ndestination_port = 5001\ncount = {FLOWS}\nclass = 1\n\
         [[gpp.srp.class]]\nclass = 1\npacket = {packet}\nrate = {rate:?}\n"
    );
    let mut bench = Bench::new(&more, &[]);
    assert_eq!(
        u64::from(bench.record(FLOWS, 12)),
        gap,
        "the gap of the rate"
    );
    let mut random = Random::new(7, 0);
    let frames = (0..packets).map(|n| {
        let flow = if drawn {
            random.below(u64::from(FLOWS))
        } else {
            n % u64::from(FLOWS)
        };
        (BEGIN + n * every, udp(flow as u32 + 1, size))
    });
    let mut traffic: Traffic = arrivals(frames);
    bench.run(BEGIN + packets * every + rest, &mut traffic);
    assert_eq!(bench.counter("DROP_FLOW_BEHIND"), 0);
    let run = check(&bench, &traffic, |_, _| gap);
    let seen = &bench.seen;
    let cycles = (seen.wheel_instructions + seen.wheel_aborted - START) / packets;
    let held = run.due.iter().zip(&seen.paced);
    let held: Vec<u64> = held
        .map(|((_, due), (_, at))| due.saturating_sub(at / STEP))
        .collect();
    eprintln!(
        "{size} bytes, held {:?} steps (p50, p99, most): late {:?}, first bit {:?}; \
         {cycles} cycles and {} commands of the wheel a packet",
        spread(&held),
        spread(&run.late),
        spread(&run.line),
        seen.wheel_commands / packets,
    );
    (run, cycles)
}

#[test]
fn thousand_flows_at_a_million_packets_per_second_leave_on_time() {
    // A flow may send 1,100 a second. About half of the packets are held for more than a turn.
    let (run, cycles) = run(&Load {
        size: 60,
        every: 600,
        packets: 4000,
        rate: "404.8kbps",
        gap: 8_727_273,
        drawn: true,
        rest: 6_000_000,
    });
    let [_, late, _] = spread(&run.late);
    assert!(late <= SLOT + SLACK, "{late}");
    assert!(cycles < 200, "{cycles}");
}

#[test]
fn packet_held_less_than_a_turn_costs_under_150_cycles() {
    let (run, cycles) = run(&Load {
        size: 60,
        every: 600,
        packets: 3000,
        rate: "404.8kbps",
        gap: 8_727_273,
        drawn: false,
        rest: 600_000,
    });
    let [_, late, _] = spread(&run.late);
    assert!(late <= SLOT + SLACK, "{late}");
    assert!(cycles < 150, "{cycles}");
}

#[test]
fn thousand_flows_at_a_gigabit_leave_on_time() {
    // A frame every 12.304 us, as the line delivers them; a flow may send 90 a second.
    let (run, _) = run(&Load {
        size: 1514,
        every: 7383,
        packets: 3000,
        rate: "1.08Mbps",
        gap: 106_666_667,
        drawn: true,
        rest: 60_000_000,
    });
    let [_, late, _] = spread(&run.late);
    assert!(late <= SLOT + SLACK, "{late}");
}
