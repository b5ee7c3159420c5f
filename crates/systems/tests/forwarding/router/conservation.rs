//! Random loads and random faults: every frame leaves, is dropped under a name, or ends on the slow
//! path, once, and all resources are returned.

use std::sync::OnceLock;

use npsim_chip::Cycle;
use npsim_net::LineFrame;
use npsim_net::load::{Arrivals, Load, Special, Stamp};
use proptest::prelude::*;

use super::bench::{Bench, Edit, drain, run_until};
use super::rests::GROWING;
use super::verdict::{accounted, check_at_rest};
use crate::oracle::checksum;

/// A context stands still for about fifty packet times with one packet in 32.
pub const STALLS: &[Edit] = &[Edit {
    file: "router/processing/processing.uc",
    from: "    statistics_forwarded()\n",
    to: "    statistics_forwarded()
    local_csr_rd[PSEUDO_RANDOM_NUMBER]
    immed[place, 0]
    alu[--, place, AND, 0x1f]
    bne[calm#]
    timer_wait(250, rung)
    sram[read, $entry, port_counters, 0, 1], ctx_swap[fetched]
    timer_wait(250, rung)
calm#:
",
}];

/// Queues that are long with a few packets.
const SHORT_QUEUES: &[Edit] = &[
    Edit {
        file: "router/queue-manager/queue_manager.uc",
        from: "#define RED_LEAST   48",
        to: "#define RED_LEAST   4",
    },
    Edit {
        file: "router/queue-manager/queue_manager.uc",
        from: "#define RED_MOST    112",
        to: "#define RED_MOST    12",
    },
];

/// Routes to nowhere, also for some of a load's sources.
const DISCARDS: &[Edit] = &[Edit {
    file: "router/npsim.toml",
    from: "# ---- the general-purpose core ----",
    to: "[[route]]
prefix = \"198.18.0.0/27\"
discard = true

[[route]]
prefix = \"10.2.192.0/18\"
discard = true

# ---- the general-purpose core ----",
}];

/// Routers with a different initial configuration.
fn benches() -> &'static [Bench] {
    static BENCHES: OnceLock<Vec<Bench>> = OnceLock::new();
    BENCHES.get_or_init(|| {
        let stalled_short = [STALLS, SHORT_QUEUES].concat();
        let mut both_growing = GROWING.to_vec();
        both_growing.push("me.second_queue_manager.define.REST_LONGEST=255");
        vec![
            Bench::new("npsim.toml", &[], &[]),
            Bench::new("npsim.toml", &["me.processing.id=4"], SHORT_QUEUES),
            Bench::new("npsim.toml", &["me.processing.id=4-7"], &stalled_short),
            Bench::new("npsim.toml", &["buffers.count=20"], STALLS),
            Bench::new("npsim.toml", &["gpp.exceptions.period=80us"], DISCARDS),
            Bench::new("two-queue-managers.toml", &[], STALLS),
            Bench::new(
                "two-queue-managers.toml",
                &["me.processing.id=4"],
                &stalled_short,
            ),
            Bench::new("npsim.toml", &GROWING, STALLS),
            Bench::new("two-queue-managers.toml", &both_growing, &stalled_short),
            Bench::new("ixp2800.toml", &[], SHORT_QUEUES),
            Bench::new("ixp2800.toml", &["me.processing.id=4-15"], STALLS),
        ]
    })
}

/// Gives the flows of a load code points of all classes.
pub fn spread_classes(frames: &mut [LineFrame]) {
    for frame in frames {
        let Some(stamp) = Stamp::read(&frame.bytes) else {
            continue;
        };
        let bytes = &mut frame.bytes;
        if bytes[12..14] != [8, 0] {
            continue;
        }
        let end = 14 + usize::from(bytes[14] & 15) * 4;
        let was_right = checksum(&bytes[14..end]) == 0;
        bytes[15] = (stamp.flow.wrapping_mul(29) as u8) << 2;
        if was_right {
            bytes[24..26].fill(0);
            let sum = checksum(&bytes[14..end]);
            bytes[24..26].copy_from_slice(&sum.to_be_bytes());
        }
    }
}

fn load() -> impl Strategy<Value = Load> {
    let rate = prop_oneof![1 => 50..400u32, 2 => 400..=1000u32];
    let arrivals = prop_oneof![
        Just(Arrivals::Constant),
        Just(Arrivals::Poisson),
        Just(Arrivals::Bursts)
    ];
    let size = prop_oneof![
        3 => Just("64".to_owned()),
        1 => Just("1518".to_owned()),
        2 => Just("imix".to_owned()),
        3 => (64..=1518u32).prop_map(|bytes| bytes.to_string()),
    ];
    let destinations = prop_oneof![
        3 => Just(Vec::new()),
        1 => Just(vec!["10.1.0.0/16".parse().unwrap()]),
    ];
    let shares = prop::collection::vec(prop_oneof![2 => Just(0), 1 => 1..7u32], 11);
    let rest = (1..60u32, 3..90u32, any::<u64>());
    (rate, arrivals, size, destinations, shares, rest).prop_map(
        |(rate, arrivals, size, destinations, shares, (burst, flows, seed))| {
            let share = |n: usize| format!("{}%", shares[n]).parse().unwrap();
            Load {
                rate: Some(
                    format!("0.{rate:03}")
                        .replace("0.1000", "1")
                        .parse()
                        .unwrap(),
                ),
                arrivals,
                burst,
                size: size.parse().unwrap(),
                flows: flows + 3,
                destinations,
                special: Special {
                    tcp: share(0),
                    icmp: share(1),
                    options: share(2),
                    ttl: share(3),
                    checksum: share(4),
                    fragment: share(5),
                    arp: share(6),
                    ipv6: share(7),
                    broadcast: share(8),
                    multicast: share(9),
                    stranger: share(10),
                    ..Special::default()
                },
                time: "120us".parse().unwrap(),
                seed,
                ..Load::default()
            }
        },
    )
}

/// A port that goes down during a run, and the part of the run for which it is down, in hundredths.
fn outage() -> impl Strategy<Value = Option<(usize, u64, u64)>> {
    prop::option::of((0..3usize, 0..80u64, 1..100u64))
}

fn expect_conserved(
    bench: &Bench,
    load: Load,
    outage: Option<(usize, u64, u64)>,
) -> Result<(), String> {
    let mut frames = bench.loaded(load);
    spread_classes(&mut frames);
    let mut lines = bench.lines(frames);
    let mut chip = bench.chip();
    let end = lines.arrivals_end();
    let mut stops: Vec<(Cycle, Option<bool>)> =
        (1..=5).map(|part| (end * part / 5, None)).collect();
    if let Some((_, from, length)) = outage {
        stops.push((end * from / 100, Some(false)));
        stops.push((end * (from + length) / 100, Some(true)));
    }
    stops.sort_unstable();
    for (until, change) in stops {
        run_until(&mut chip, until, &mut lines)?;
        let arrivals = lines.arrivals.iter();
        let come = arrivals.filter(|arrival| arrival.start <= until).count() as u64;
        let out = accounted(&chip, &lines);
        if out > come {
            return Err(format!("{come} have come, {out} are accounted for"));
        }
        if let (Some(up), Some((port, ..))) = (change, outage) {
            let at = bench.value("PORT_STATE") + port as u32 * 4;
            assert!(chip.units_mut().sram.write_word(at, u32::from(up)));
        }
    }
    drain(&mut chip, &mut lines)?;
    let down: Vec<usize> = outage.iter().map(|(port, ..)| *port).collect();
    check_at_rest(bench, &chip, &lines, &down)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_loads_with_faults_are_conserved(
        bench in 0..9usize,
        load in load(),
        outage in outage(),
    ) {
        let verdict = expect_conserved(&benches()[bench], load, outage);
        prop_assert!(verdict.is_ok(), "bench {bench}: {}", verdict.unwrap_err());
    }
}

/// All lines full of minimum frames, more than the router can process.
#[test]
fn saturated_routers_conserve_frames() {
    for (number, bench) in benches().iter().enumerate() {
        let load = Load {
            rate: Some("1".parse().unwrap()),
            time: "200us".parse().unwrap(),
            ..Load::default()
        };
        expect_conserved(bench, load, None).unwrap_or_else(|what| panic!("{number}: {what}"));
    }
}
