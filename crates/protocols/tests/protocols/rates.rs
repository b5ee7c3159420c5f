//! Rates worked out by hand for RCP, through the task: the threads' counts in an interval, and the
//! rate published at its end.

use npsim_chip::Cycle;
use npsim_chip::gpp::LongwordAddress;
use npsim_chip::gpp::boot::{BootPlan, Space};
use npsim_protocols::rcp::task::{RcpGroup, RcpSetup, RcpTask};
use npsim_protocols::rcp::{LinkRate, RcpSettings};
use npsim_protocols::thread_counters::ThreadCounters;
use npsim_testkit::slow_path::{Bench, load, plan};

const RATE: LongwordAddress = LongwordAddress {
    space: Space::Scratch,
    address: 0x800,
};
const COUNTERS: LongwordAddress = LongwordAddress {
    space: Space::Sram(1),
    address: 0x2000,
};
const QUEUES: LongwordAddress = LongwordAddress {
    space: Space::Sram(0),
    address: 0x8000,
};

/// Threads, numbers with gaps.
const THREADS: [u16; 3] = [0, 9, 63];

const MS: u64 = 1_000_000;
/// Cycles in ten milliseconds.
const INTERVAL: Cycle = 6_000_000;
/// Cycles in which a rate is computed.
const LAW: Cycle = 10_000;

/// Longwords of a thread's counters, and of a queue's arrival counters.
const BYTES: u32 = 0;
const RTT_BYTES: u32 = 1;
const RTT_SUM: u32 = 2;
const QUEUED: u32 = 3;

fn bench(parameters: RcpSettings) -> Bench {
    let setup = RcpSetup {
        rate: RATE,
        counters: ThreadCounters {
            place: COUNTERS,
            threads: THREADS.to_vec(),
        },
        groups: vec![RcpGroup {
            rate: LinkRate::new(parameters).unwrap(),
            queues: vec![QUEUES],
        }],
    };
    let boot = BootPlan {
        tasks: vec![Box::new(RcpTask::new(setup))],
        ..plan()
    };
    load(&boot).unwrap()
}

fn thread(number: usize) -> LongwordAddress {
    COUNTERS.after(16 * u32::from(THREADS[number]))
}

#[test]
fn rates_match_hand_computed_vectors() {
    let usual = RcpSettings::for_capacity(125_000_000);
    let careful = RcpSettings {
        target: 118_750_000,
        beta: 1_000_000,
        ..usual
    };
    // Parameters, rate, round-trip time in ms, input in byte/s, queue; rate afterwards.
    #[rustfmt::skip]
    let vectors = [
        ("R1", usual, 6_250_000, 100, 0, 0, 6_500_000),
        ("R2", usual, 6_250_000, 100, 62_500_000, 0, 6_375_000),
        ("R3", usual, 12_500_000, 100, 125_000_000, 1_000_000, 12_460_000),
        ("R4", usual, 12_500_000, 100, 187_500_000, 6_250_000, 12_000_000),
        ("R5", usual, 12_500_000, 10, 250_000_000, 1_250_000, 2_500_000),
        ("R6", usual, 124_000_000, 100, 0, 0, 125_000_000),
        ("R7", usual, 1_000, 10, 250_000_000, 12_500_000, 1_000),
        ("R8", careful, 10_000_000, 200, 100_000_000, 500_000, 10_021_052),
        ("R9", usual, 7_654_321, 100, 125_000_000, 0, 7_654_321),
    ];
    for (name, parameters, initial_rate, rtt, input, queue, expected) in vectors {
        let mut bench = bench(RcpSettings {
            initial_rate,
            initial_rtt: rtt * MS,
            ..parameters
        });
        assert_eq!(bench.word(RATE, 0), initial_rate, "{name}");
        bench.run_until(INTERVAL / 2);
        let bytes: u32 = input / 100;
        bench.set(thread(0), BYTES, bytes / 2);
        bench.set(thread(1), BYTES, bytes / 4);
        bench.set(thread(2), BYTES, bytes - bytes / 2 - bytes / 4);
        bench.set(QUEUES, QUEUED, queue);
        bench.run_until(INTERVAL + LAW);
        assert_eq!(bench.word(RATE, 0), expected, "{name}");
        let state = bench
            .gpp
            .task::<RcpTask>()
            .unwrap()
            .groups()
            .next()
            .unwrap();
        let seen = (state.updates, state.input, state.queue);
        assert_eq!(seen, (1, u64::from(input), queue), "{name}");
        assert_eq!(state.rate.rtt(), rtt * MS, "{name}");
    }
}

/// Packets with a mean of 1/6 s, on a link whose rate is 5 % of its capacity.
#[test]
fn average_round_trip_times_match_hand_computed_values() {
    for (before, after) in [(200 * MS, 199_930_555), (100 * MS, 106_666_666)] {
        let mut bench = bench(RcpSettings {
            initial_rtt: before,
            ..RcpSettings::for_capacity(125_000_000)
        });
        bench.run_until(INTERVAL / 2);
        for (number, bytes, sum) in [(0, 1_000, (1 << 14) * 100), (1, 500, (1 << 14) * 150)] {
            bench.set(thread(number), BYTES, bytes);
            bench.set(thread(number), RTT_BYTES, bytes);
            bench.set(thread(number), RTT_SUM, sum);
        }
        // A packet that does not carry its round-trip time.
        bench.set(thread(2), BYTES, 40);
        bench.run_until(INTERVAL + LAW);
        let state = bench
            .gpp
            .task::<RcpTask>()
            .unwrap()
            .groups()
            .next()
            .unwrap();
        assert_eq!(state.rate.rtt(), after);
    }
}
