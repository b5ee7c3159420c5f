mod flows;

use std::collections::BTreeMap;

use etherparse::{EtherType, NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;

use super::*;
use crate::LineFrame;
use crate::ethernet::line_bytes;

const GIGABIT: u64 = 1_000_000_000;

fn ports(count: u8, bits_per_second: u64) -> Vec<LoadPort> {
    (0..count)
        .map(|port| LoadPort {
            bits_per_second,
            mac: [2, 0, 0, 0, port + 1, 0],
        })
        .collect()
}

fn load(rate: &str, time: &str) -> Load {
    Load {
        rate: Some(rate.parse().unwrap()),
        time: time.parse().unwrap(),
        ..Load::default()
    }
}

fn frames(load: &Load, ports: &[LoadPort]) -> Vec<LineFrame> {
    Generator::new(load, ports).unwrap().collect()
}

fn line_bits(frames: &[LineFrame]) -> u64 {
    frames
        .iter()
        .map(|frame| line_bytes(frame.bytes.len()) * 8)
        .sum()
}

#[test]
fn a_full_load_is_back_to_back() {
    let frames = frames(&load("1", "10ms"), &ports(1, GIGABIT));
    assert_eq!(frames.len(), 14_881, "1.488095 million a second");
    for (number, frame) in (0..).zip(&frames) {
        assert_eq!(frame.start_ps, number * 672_000);
        assert_eq!(frame.end_ps - frame.start_ps, 576_000);
        assert_eq!(frame.bytes.len(), 60);
    }
}

#[test]
fn full_load_of_any_mix_keeps_the_line_busy() {
    let imix = Load {
        size: Sizes::imix(),
        ..load("100%", "5ms")
    };
    for line in [GIGABIT, 10 * GIGABIT, 622_080_000] {
        let frames = frames(&imix, &ports(1, line));
        let mut bits = 0u64;
        for frame in &frames {
            let exact = u128::from(bits) * 1_000_000_000_000 / u128::from(line);
            assert_eq!(frame.start_ps, exact);
            bits += line_bytes(frame.bytes.len()) * 8;
        }
    }
}

#[test]
fn constant_arrivals_hit_the_rate() {
    for (rate, packets) in [("1Mpps", 100_000), ("333333pps", 33_334), ("7pps", 1)] {
        let frames = frames(&load(rate, "100ms"), &ports(1, GIGABIT));
        assert_eq!(frames.len(), packets, "{rate}");
    }
    // Exactly a third of the line: 672 ns busy, 2016 ns apart.
    let third = frames(&load("1/3", "1ms"), &ports(1, GIGABIT));
    for (number, frame) in (0..).zip(&third) {
        assert_eq!(frame.start_ps, number * 2_016_000);
    }
    let bits = frames(&load("250Mbps", "10ms"), &ports(1, GIGABIT));
    assert!(
        line_bits(&bits).abs_diff(2_500_000) <= 672,
        "{}",
        line_bits(&bits)
    );
}

#[test]
fn total_rate_is_divided_among_ports() {
    let of_port =
        |frames: &[LineFrame], port: u32| frames.iter().filter(|frame| frame.port == port).count();
    let mut lines = ports(3, GIGABIT);
    lines[2].bits_per_second = 2 * GIGABIT;
    let even = frames(&load("400kpps", "10ms"), &lines);
    assert_eq!(
        [0, 1, 2].map(|port| of_port(&even, port)),
        [1000, 1000, 2000]
    );
    let spread = Load {
        spread: vec![3, 0, 1],
        ..load("400kpps", "10ms")
    };
    let uneven = frames(&spread, &lines);
    assert_eq!(
        [0, 1, 2].map(|port| of_port(&uneven, port)),
        [3000, 0, 1000]
    );
    let listed = frames(&load("100kpps,0,0.5", "10ms"), &lines);
    assert_eq!(
        [0, 1, 2].map(|port| of_port(&listed, port)),
        [1000, 0, 14_881]
    );
    // A fraction of the rate of all lines, spread over two of them.
    let fraction = Load {
        spread: vec![1, 1],
        ..load("0.25", "10ms")
    };
    let two = frames(&fraction, &ports(2, GIGABIT));
    assert_eq!(of_port(&two, 0), 3721);
}

#[test]
fn ports_start_at_different_times() {
    let frames = frames(&load("1", "1ms"), &ports(3, GIGABIT));
    let starts: Vec<_> = frames[..4]
        .iter()
        .map(|frame| (frame.start_ps, frame.port))
        .collect();
    assert_eq!(starts, [(0, 0), (224_000, 1), (448_000, 2), (672_000, 0)]);
}

#[test]
fn poisson_arrivals_have_the_rate_and_vary() {
    let poisson = Load {
        arrivals: Arrivals::Poisson,
        ..load("0.4", "200ms")
    };
    let frames = frames(&poisson, &ports(2, GIGABIT));
    for port in [0, 1] {
        let starts: Vec<u128> = frames
            .iter()
            .filter(|frame| frame.port == port)
            .map(|frame| frame.start_ps)
            .collect();
        let count = starts.len() as u64;
        assert!(count.abs_diff(119_047) < 1200, "{count}");
        let gaps: Vec<u128> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // The share of frames that arrive while the line is busy equals its utilisation, 0.4.
        let waited = gaps.iter().filter(|&&gap| gap == 672_000).count() as u64;
        assert!(
            (waited * 1000 / count).abs_diff(400) < 15,
            "{waited} of {count}"
        );
        assert!(gaps.iter().any(|&gap| gap > 10_000_000));
    }
}

#[test]
fn bursts_are_back_to_back_and_have_the_rate() {
    let bursts = Load {
        arrivals: Arrivals::Bursts,
        burst: 8,
        ..load("0.25", "200ms")
    };
    let frames = frames(&bursts, &ports(1, GIGABIT));
    let asked = 50_000_000;
    assert!(line_bits(&frames).abs_diff(asked) < asked / 200);
    let gaps: Vec<u128> = frames
        .windows(2)
        .map(|pair| pair[1].start_ps - pair[0].start_ps)
        .collect();
    let ends = gaps.iter().filter(|&&gap| gap > 672_000).count();
    let mean = frames.len() * 10 / ends;
    assert!(
        (77..84).contains(&mean),
        "bursts of {mean} tenths of a frame"
    );
    let alone = Load { burst: 1, ..bursts };
    let constant = Load {
        arrivals: Arrivals::Constant,
        ..alone.clone()
    };
    assert_eq!(
        frames_of(&alone),
        frames_of(&constant),
        "bursts of one are constant"
    );
}

fn frames_of(load: &Load) -> Vec<LineFrame> {
    frames(load, &ports(1, GIGABIT))
}

#[test]
fn size_frequencies_follow_the_weights() {
    let imix = Load {
        size: Sizes::imix(),
        ..load("0.5", "200ms")
    };
    let mut counts = BTreeMap::new();
    for frame in frames(&imix, &ports(1, GIGABIT)) {
        *counts.entry(frame.bytes.len() + 4).or_insert(0u64) += 1;
    }
    let total: u64 = counts.values().sum();
    for (size, twelfths) in [(64, 7), (594, 4), (1518, 1)] {
        let share = counts[&size] * 12_000 / total;
        assert!(share.abs_diff(twelfths * 1000) < 150, "{size}: {share}");
    }
    assert_eq!(counts.len(), 3);
}

#[test]
fn flows_take_turns_with_consecutive_numbers() {
    let few = Load {
        flows: 7,
        ..load("1", "100us")
    };
    let frames = frames(&few, &ports(3, GIGABIT));
    let mut next: BTreeMap<u32, u64> = BTreeMap::new();
    let mut places = BTreeMap::new();
    let mut ends = BTreeMap::new();
    for frame in &frames {
        let stamp = Stamp::read(&frame.bytes).unwrap();
        assert_eq!(
            (u32::from(stamp.port), stamp.kind),
            (frame.port, FrameKind::Plain)
        );
        let wanted = next.entry(stamp.flow).or_default();
        assert_eq!(stamp.sequence, *wanted);
        *wanted += 1;
        assert_eq!(*places.entry(stamp.flow).or_insert(frame.port), frame.port);
        // Addresses and ports belong to the flow.
        let tuple = frame.bytes[26..38].to_vec();
        assert_eq!(*ends.entry(stamp.flow).or_insert(tuple.clone()), tuple);
    }
    assert_eq!(next.len(), 7);
    let tuples: std::collections::BTreeSet<_> = ends.values().collect();
    assert_eq!(tuples.len(), 7, "flows differ");
    let alone = Load { flows: 1, ..few };
    let flows: std::collections::BTreeSet<u32> = self::frames(&alone, &ports(3, GIGABIT))
        .iter()
        .map(|frame| Stamp::read(&frame.bytes).unwrap().flow)
        .collect();
    assert_eq!(flows.len(), 3, "at least one a port");
}

#[test]
fn destinations_are_used_evenly_from_every_port() {
    let prefixes: Vec<Prefix> = ["10.1.0.0/16", "10.2.0.0/16", "192.0.2.0/24"]
        .map(|text| text.parse().unwrap())
        .to_vec();
    let to_three = Load {
        destinations: prefixes.clone(),
        ..load("1", "806400ns")
    };
    let mut counts = BTreeMap::new();
    for frame in frames(&to_three, &ports(3, GIGABIT)) {
        let address = Ipv4Addr::from(*frame.bytes[30..34].first_chunk::<4>().unwrap());
        let place = prefixes
            .iter()
            .position(|prefix| prefix.contains(address))
            .unwrap();
        *counts.entry((frame.port, place)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 9);
    for place in 0..3 {
        let to: i32 = (0..3).map(|port| counts[&(port, place)]).sum();
        assert_eq!(to, 1200, "each destination gets a third");
    }
}

/// Checks a frame the way a host would.
fn parsed(frame: &[u8]) -> (FrameKind, SlicedPacket<'_>) {
    let packet = SlicedPacket::from_ethernet(frame).unwrap();
    let kind = Stamp::read(frame).map_or(FrameKind::Arp, |stamp| stamp.kind);
    (kind, packet)
}

#[test]
fn frames_of_every_kind_are_valid() {
    let special = Special {
        tcp: "0.05".parse().unwrap(),
        icmp: "0.05".parse().unwrap(),
        options: "0.05".parse().unwrap(),
        ttl: "0.05".parse().unwrap(),
        checksum: "0.05".parse().unwrap(),
        fragment: "0.05".parse().unwrap(),
        arp: "0.05".parse().unwrap(),
        ipv6: "0.05".parse().unwrap(),
        broadcast: "0.05".parse().unwrap(),
        multicast: "0.05".parse().unwrap(),
        stranger: "0.05".parse().unwrap(),
        ..Special::default()
    };
    let mixed = Load {
        special,
        size: "64:1,65:1,1518:1".parse().unwrap(),
        ..load("0.9", "20ms")
    };
    let line = ports(1, GIGABIT);
    let mut counts = BTreeMap::new();
    let frames = frames(&mixed, &line);
    for frame in &frames {
        let (kind, packet) = parsed(&frame.bytes);
        *counts.entry(kind).or_insert(0u64) += 1;
        let link = packet.link.as_ref().unwrap();
        let ethernet = link.to_header().unwrap().ethernet2().unwrap();
        let to_port = ethernet.destination == line[0].mac;
        match kind {
            FrameKind::Arp => {
                let Some(NetSlice::Arp(arp)) = &packet.net else {
                    panic!("{packet:?}")
                };
                assert_eq!(arp.operation(), etherparse::ArpOperation::REQUEST);
                assert_eq!((ethernet.destination, frame.bytes.len()), ([0xff; 6], 60));
                continue;
            }
            FrameKind::Ipv6 => {
                assert_eq!(ethernet.ether_type, EtherType::IPV6);
                let Some(NetSlice::Ipv6(ip)) = &packet.net else {
                    panic!("{packet:?}")
                };
                let Some(TransportSlice::Udp(udp)) = &packet.transport else {
                    panic!("{packet:?}")
                };
                let sum = udp
                    .to_header()
                    .calc_checksum_ipv6_raw(
                        ip.header().source(),
                        ip.header().destination(),
                        udp.payload(),
                    )
                    .unwrap();
                assert_eq!(udp.checksum(), sum);
                continue;
            }
            FrameKind::Broadcast => assert_eq!(ethernet.destination, [0xff; 6]),
            FrameKind::Multicast => assert_eq!(ethernet.destination[..3], [1, 0, 0x5e]),
            FrameKind::Stranger => assert!(!to_port),
            _ => assert!(to_port),
        }
        let Some(NetSlice::Ipv4(ip)) = &packet.net else {
            panic!("{packet:?}")
        };
        let header = ip.header().to_header();
        assert_eq!(
            header.header_checksum == header.calc_header_checksum(),
            kind != FrameKind::Checksum
        );
        assert_eq!(
            header.time_to_live,
            if kind == FrameKind::Ttl { 1 } else { 64 }
        );
        assert_eq!(ip.destination_multicast(), kind == FrameKind::Multicast);
        let option = if kind == FrameKind::Options { 8 } else { 0 };
        assert_eq!(header.options.len(), option);
        if option > 0 {
            assert_eq!(header.options[..2], [0x19, 8]);
        }
        assert_eq!(ip.is_payload_fragmented(), kind == FrameKind::Fragment);
        match (&packet.transport, kind) {
            (None, FrameKind::Fragment | FrameKind::Options) => {}
            (Some(TransportSlice::Tcp(tcp)), FrameKind::Tcp) => {
                let sum = tcp
                    .calc_checksum_ipv4(header.source, header.destination)
                    .unwrap();
                assert_eq!(tcp.checksum(), sum);
            }
            (Some(TransportSlice::Icmpv4(icmp)), FrameKind::Icmp) => {
                let echo = icmp.header();
                assert!(matches!(
                    echo.icmp_type,
                    etherparse::Icmpv4Type::EchoRequest(_)
                ));
                assert_eq!(
                    echo.icmp_type.calc_checksum(icmp.payload()),
                    icmp.checksum()
                );
            }
            (Some(TransportSlice::Udp(udp)), _) => {
                let sum = udp
                    .to_header()
                    .calc_checksum_ipv4(&header, udp.payload())
                    .unwrap();
                assert_eq!(udp.checksum(), sum);
            }
            (other, kind) => panic!("{kind:?} has {other:?}"),
        }
    }
    assert_eq!(counts.len(), FrameKind::ALL.len());
    let total = frames.len() as u64;
    for (kind, count) in counts {
        let percent = if kind == FrameKind::Plain { 45 } else { 5 };
        assert!(
            (count * 1000 / total).abs_diff(percent * 10) < 20,
            "{kind:?}: {count} of {total}"
        );
    }
}

/// Stands in for a `destination_multicast` of a slice.
trait Destination {
    fn destination_multicast(&self) -> bool;
}

impl Destination for etherparse::Ipv4Slice<'_> {
    fn destination_multicast(&self) -> bool {
        Ipv4Addr::from(self.header().destination()).is_multicast()
    }
}

#[test]
fn same_seed_gives_the_same_traffic() {
    let first = Load {
        arrivals: Arrivals::Poisson,
        size: Sizes::imix(),
        seed: 5,
        ..load("0.7", "1ms")
    };
    let lines = ports(3, GIGABIT);
    assert_eq!(frames(&first, &lines), frames(&first, &lines));
    let other = Load {
        seed: 6,
        ..first.clone()
    };
    assert_ne!(frames(&first, &lines), frames(&other, &lines));
    let sums = frames(&first, &lines).iter().fold(0u64, |sum, frame| {
        let bytes = frame.bytes.iter().fold(0u64, |sum, &byte| {
            sum.wrapping_mul(31).wrapping_add(byte.into())
        });
        sum.wrapping_mul(1_000_003)
            .wrapping_add(bytes ^ frame.start_ps as u64 ^ u64::from(frame.port))
    });
    assert_eq!(
        sums, 6_807_751_994_741_861_157,
        "the traffic of a load has changed; so do all results that were made with it"
    );
}

#[test]
fn random_phase_changes_the_start_of_each_port() {
    let even = load("0.7", "1ms");
    let lines = ports(3, GIGABIT);
    let starts = |load: &Load| {
        let frames = frames(load, &lines);
        [0, 1, 2].map(|port| frames.iter().find(|f| f.port == port).unwrap().start_ps)
    };
    let random = |seed| Load {
        phase: Phase::Random,
        seed,
        ..even.clone()
    };
    let [first, second] = [1, 2].map(|seed| starts(&random(seed)));
    assert_eq!(starts(&random(1)), first);
    assert_ne!(first, second);
    assert_ne!(first, starts(&even));
    // At the same rate: a 64-byte frame takes 672 ns of the line, here out of 960.
    assert!(first.iter().all(|&start| start < 960_000), "{first:?}");
    let count = frames(&even, &lines).len();
    assert!(frames(&random(1), &lines).len().abs_diff(count) <= 3);
    assert!(random(1).to_string().contains("constant of random phase"));
}

#[test]
fn load_round_trips_through_json() {
    let text = r#"{
        "rate": 0.33, "arrivals": "bursts", "burst": 4, "size": [{"bytes": 64, "weight": 3}, {"bytes": 512}],
        "flows": 9, "sources": "10.9.0.0/16", "destinations": ["10.1.0.0/16"], "spread": [1, 2], "ttl": 9,
        "special": {"tcp": 0.1, "option": "94 04 00 00"}, "time": "5us", "seed": 3
    }"#;
    let read: Load = serde_json::from_str(text).unwrap();
    assert_eq!(read.rate, Some("33%".parse().unwrap()));
    assert_eq!(read.size.to_string(), "64:3,512:1");
    let again: Load = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!(again, read);
    let listed: Load = serde_json::from_str(r#"{"rate": [0.5, 0, "1kpps"], "size": 128}"#).unwrap();
    let again: Load = serde_json::from_str(&serde_json::to_string(&listed).unwrap()).unwrap();
    assert_eq!(again, listed);
    assert_eq!(serde_json::from_str::<Load>("{}").unwrap(), Load::default());
    for (text, what) in [
        (r#"{"rat": 1}"#, "rat"),
        (r#"{"rate": 2}"#, "more than the lines carry"),
        (r#"{"rate": true}"#, "a rate such as"),
        (r#"{"size": 10}"#, "10 bytes"),
        (r#"{"size": [{"bytes": 64, "wait": 1}]}"#, "wait"),
        (r#"{"destinations": ["10.1.0.1/16"]}"#, "10.1.0.0/16"),
        (r#"{"special": {"tcp": 7}}"#, "at most 1"),
        (r#"{"arrivals": "random"}"#, "poisson"),
    ] {
        let error = serde_json::from_str::<Load>(text).unwrap_err().to_string();
        assert!(error.contains(what), "{text}: {error}");
    }
}

#[test]
fn impossible_loads_are_refused_with_the_reason() {
    let refused = |load: &Load, ports: &[LoadPort]| Generator::new(load, ports).unwrap_err();
    let one = ports(1, GIGABIT);
    let fast = load("1.489Mpps", "1ms");
    assert!(matches!(
        refused(&fast, &one),
        LoadError::ExceedsLineRate { port: 0, .. }
    ));
    assert!(Generator::new(&load("1.488Mpps", "1ms"), &one).is_ok());
    assert!(matches!(
        refused(&load("1.1Gbps", "1ms"), &one),
        LoadError::ExceedsLineRate { .. }
    ));
    let one_of_two = Load {
        spread: vec![0, 1],
        ..load("0.6", "1ms")
    };
    assert!(matches!(
        refused(&one_of_two, &ports(2, GIGABIT)),
        LoadError::ExceedsLineRate { port: 1, .. }
    ));
    let half = load("0.5", "1ms");
    assert_eq!(refused(&half, &[]), LoadError::NoPorts);
    assert!(matches!(
        refused(&half, &ports(1, 0)),
        LoadError::Line { port: 0, .. }
    ));
    assert_eq!(refused(&Load::default(), &one), LoadError::NoRate);
    assert_eq!(
        refused(&load("0,0", "1ms"), &ports(2, GIGABIT)),
        LoadError::NoTraffic
    );
    assert!(matches!(
        refused(&load("0.1,0.1", "1ms"), &one),
        LoadError::TooManyEntries { .. }
    ));
    for wrong in [
        Load {
            flows: 0,
            ..half.clone()
        },
        Load {
            burst: 0,
            ..half.clone()
        },
        Load {
            ttl: 1,
            ..half.clone()
        },
    ] {
        assert!(matches!(refused(&wrong, &one), LoadError::Range { .. }));
    }
    let special = Special {
        tcp: "0.6".parse().unwrap(),
        icmp: "0.6".parse().unwrap(),
        ..Special::default()
    };
    assert_eq!(
        refused(&Load { special, ..half }, &one),
        LoadError::SharesExceedOne
    );
}

#[test]
fn long_headers_count_in_the_rate() {
    let special = Special {
        options: "0.5".parse().unwrap(),
        tcp: "0.5".parse().unwrap(),
        ..Special::default()
    };
    for arrivals in [Arrivals::Constant, Arrivals::Poisson, Arrivals::Bursts] {
        let longer = Load {
            special: special.clone(),
            arrivals,
            ..load("0.5", "100ms")
        };
        let bits = line_bits(&frames_of(&longer));
        assert!(bits.abs_diff(50_000_000) < 750_000, "{arrivals}: {bits}");
    }
}

fn any_load() -> impl Strategy<Value = Load> {
    let rate = prop_oneof![
        (1u64..=1000, 1000u64..1010)
            .prop_map(|(a, b)| Amount::Line(crate::Ratio::new(a, b).unwrap())),
        (1u64..400_000, 1u64..20)
            .prop_map(|(a, b)| Amount::Packets(crate::Ratio::new(a, b).unwrap())),
        (1u64..900_000_000).prop_map(|bits| Amount::Bits(crate::Ratio::new(bits, 1).unwrap())),
    ];
    let arrivals = prop_oneof![
        Just(Arrivals::Constant),
        Just(Arrivals::Poisson),
        Just(Arrivals::Bursts)
    ];
    let sizes = prop::collection::vec((64u32..2000, 1u32..9), 1..5).prop_map(|sizes| {
        let sizes = sizes
            .into_iter()
            .map(|(bytes, weight)| Size { bytes, weight });
        Sizes::mix(sizes.collect()).unwrap()
    });
    let shares = prop::collection::vec(prop_oneof![2 => Just(0u32), 1 => 1u32..80], 11);
    (
        rate,
        arrivals,
        sizes,
        1u32..300,
        shares,
        1u32..40,
        any::<u64>(),
    )
        .prop_map(|(amount, arrivals, size, flows, shares, burst, seed)| {
            let share = |place: usize| {
                format!("{}/1000", shares[place])
                    .parse()
                    .unwrap_or(Share::NONE)
            };
            Load {
                rate: Some(LoadRate::Total(amount)),
                arrivals,
                size,
                flows,
                burst,
                seed,
                time: TimeSpan::from_picoseconds(300_000_000),
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
                ..Load::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_never_overlap_and_are_all_valid(
        load in any_load(),
        rates in prop::collection::vec(10_000_000u64..11_000_000_000, 1..5),
    ) {
        let ports: Vec<LoadPort> = rates
            .iter()
            .zip(1..)
            .map(|(&bits_per_second, number)| LoadPort { bits_per_second, mac: [2, 0, 0, 0, number, 0] })
            .collect();
        let generator = match Generator::new(&load, &ports) {
            Ok(generator) => generator,
            Err(LoadError::ExceedsLineRate { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let frames: Vec<LineFrame> = generator.clone().collect();
        prop_assert!(frames.is_sorted_by_key(|frame| (frame.start_ps, frame.port)));
        prop_assert_eq!(&frames, &generator.collect::<Vec<_>>());
        if let Some(first) = frames.first() {
            prop_assert_eq!((first.start_ps, first.port), (0, 0));
        }
        let mut sequences: BTreeMap<(FrameKind, u32), u64> = BTreeMap::new();
        for (port, line) in ports.iter().enumerate() {
            let rate = u128::from(line.bits_per_second);
            let here: Vec<_> = frames.iter().filter(|frame| frame.port == port as u32).collect();
            for pair in here.windows(2) {
                let gap = pair[1].start_ps - pair[0].end_ps;
                prop_assert!(gap + 1 >= 96_000_000_000_000 / rate);
            }
            for frame in &here {
                prop_assert!(frame.start_ps < u128::from(load.time.picoseconds()));
                let busy = 8 * (12 + frame.bytes.len() as u128) * 1_000_000_000_000 / rate;
                prop_assert!((frame.end_ps - frame.start_ps).abs_diff(busy) <= 1);
                let (kind, _) = parsed(&frame.bytes);
                if let Some(stamp) = Stamp::read(&frame.bytes) {
                    let wanted = sequences.entry((kind, stamp.flow)).or_default();
                    prop_assert_eq!(stamp.sequence, *wanted);
                    *wanted += 1;
                }
            }
        }
    }
}
