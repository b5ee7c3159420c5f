use proptest::prelude::*;

use super::*;
use crate::{Frame, Ratio};

const GIGABIT: PortLine = PortLine {
    bits_per_second: 1_000_000_000,
};

fn frame(time_ns: u64, port: u32, len: usize) -> Frame {
    Frame {
        time_ns,
        port,
        bytes: vec![0; len],
        original_len: len as u32,
    }
}

fn pace(text: &str) -> Pace {
    text.parse().unwrap()
}

/// An IPv4 UDP datagram between the given hosts and ports; `fragment` is the flags and offset field.
fn datagram(source: u8, destination: u8, ports: (u16, u16), fragment: u16) -> Frame {
    let mut bytes = vec![2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 10, 8, 0];
    bytes.extend([
        0x45,
        0,
        0,
        46,
        0,
        7,
        (fragment >> 8) as u8,
        fragment as u8,
        64,
        17,
        0,
        0,
    ]);
    bytes.extend([10, 1, 0, source, 10, 2, 0, destination]);
    bytes.extend(ports.0.to_be_bytes());
    bytes.extend(ports.1.to_be_bytes());
    bytes.extend([0, 26, 0, 0]);
    bytes.resize(60, 0);
    Frame {
        time_ns: 0,
        port: 0,
        original_len: 60,
        bytes,
    }
}

#[test]
fn trace_times_are_scaled_by_the_speed() {
    let frames = [
        frame(0, 0, 60),
        frame(3_000, 0, 1514),
        frame(20_000, 0, 100),
    ];
    let plan = schedule(
        &frames,
        &[GIGABIT],
        PortAssignment::default(),
        pace("trace"),
    )
    .unwrap();
    let starts: Vec<u128> = plan
        .arrivals
        .iter()
        .map(|arrival| arrival.start_ps)
        .collect();
    assert_eq!(starts, [0, 3_000_000, 20_000_000]);
    // 8 + 60 + 4 bytes of 8 ns each.
    assert_eq!(plan.arrivals[0].end_ps, 576_000);
    assert_eq!(plan.waited, 0);

    let plan = schedule(&frames, &[GIGABIT], PortAssignment::default(), pace("0.3x")).unwrap();
    assert_eq!(plan.arrivals[1].start_ps, 10_000_000);
    assert_eq!(plan.arrivals[2].start_ps, 66_666_666, "rounded down, once");
}

#[test]
fn frame_waits_for_the_previous_one_and_the_gap() {
    let frames = [frame(0, 0, 1514), frame(1_000, 0, 60), frame(50_000, 0, 60)];
    let plan = schedule(
        &frames,
        &[GIGABIT],
        PortAssignment::default(),
        pace("trace"),
    )
    .unwrap();
    assert_eq!(plan.arrivals[0].end_ps, 1526 * 8_000);
    assert_eq!(plan.arrivals[1].start_ps, 1538 * 8_000);
    assert_eq!(
        plan.arrivals[2].start_ps, 50_000_000,
        "the line is free again"
    );
    assert_eq!(
        (plan.waited, plan.max_wait_ps),
        (1, 1538 * 8_000 - 1_000_000)
    );
}

#[test]
fn short_frames_take_the_time_of_sixty_bytes() {
    let frames = [
        frame(0, 0, 0),
        frame(0, 0, 59),
        frame(0, 0, 60),
        frame(0, 0, 61),
    ];
    let plan = schedule(&frames, &[GIGABIT], PortAssignment::default(), Pace::Line).unwrap();
    assert_eq!(plan.padded, 2);
    let lasts: Vec<u128> = plan
        .arrivals
        .iter()
        .map(|arrival| arrival.end_ps - arrival.start_ps)
        .collect();
    assert_eq!(lasts, [576_000, 576_000, 576_000, 584_000]);
    assert_eq!(plan.ports[0].frame_bytes, 180);
}

#[test]
fn minimum_frames_at_line_pace_arrive_at_line_rate() {
    // A rate whose bit time is not a whole number of picoseconds must not drift: OC-12's 622.08 Mbit/s.
    for rate in [1_000_000_000u64, 622_080_000] {
        let frames = vec![frame(0, 0, 60); 100_001];
        let line = PortLine {
            bits_per_second: rate,
        };
        let plan = schedule(&frames, &[line], PortAssignment::default(), Pace::Line).unwrap();
        let exact = 100_000u128 * 672 * 1_000_000_000_000 / u128::from(rate);
        assert_eq!(plan.arrivals[100_000].start_ps, exact);
        assert_eq!(plan.ports[0].line_bits, 100_001 * 672);
    }
}

#[test]
fn a_rate_is_shared_by_the_ports_and_limited_by_the_line() {
    let frames = vec![frame(0, 0, 60); 9];
    let ports = [GIGABIT, GIGABIT];
    let plan = schedule(&frames, &ports, PortAssignment::RoundRobin, pace("3pps")).unwrap();
    let starts: Vec<(u128, u32)> = plan
        .arrivals
        .iter()
        .map(|arrival| (arrival.start_ps, arrival.port))
        .collect();
    assert_eq!(
        starts[..4],
        [
            (0, 0),
            (333_333_333_333, 1),
            (666_666_666_666, 0),
            (1_000_000_000_000, 1)
        ]
    );

    let flood = schedule(&frames, &ports, PortAssignment::RoundRobin, pace("1Gpps")).unwrap();
    let line = schedule(&frames, &ports, PortAssignment::RoundRobin, Pace::Line).unwrap();
    assert_eq!(flood.arrivals[8].start_ps, line.arrivals[8].start_ps);
    assert_eq!(flood.waited, 7);
    assert_eq!(line.waited, 0);
}

#[test]
fn frames_go_to_the_assigned_port() {
    let frames = [
        frame(0, 0, 60),
        frame(0, 1, 60),
        frame(0, 2, 60),
        frame(0, 5, 60),
    ];
    let ports = [GIGABIT; 3];
    let placed = |assignment| {
        let mut arrivals = schedule(&frames, &ports, assignment, Pace::Line)
            .unwrap()
            .arrivals;
        arrivals.sort_by_key(|arrival| arrival.frame);
        arrivals
            .iter()
            .map(|arrival| arrival.port)
            .collect::<Vec<u32>>()
    };
    assert_eq!(placed(PortAssignment::ByInterface), [0, 1, 2, 2]);
    assert_eq!(placed(PortAssignment::RoundRobin), [0, 1, 2, 0]);
    assert_eq!(placed(PortAssignment::Fixed(1)), [1, 1, 1, 1]);
}

#[test]
fn flow_assignment_keeps_flows_together_and_spreads_them() {
    let ports = [GIGABIT; 4];
    let port_of = |frame: Frame| {
        schedule(&[frame], &ports, PortAssignment::ByFlow, Pace::Line)
            .unwrap()
            .arrivals[0]
            .port
    };
    let one = port_of(datagram(1, 2, (1000, 53), 0));
    assert_eq!(port_of(datagram(1, 2, (1000, 53), 0)), one);
    let used: std::collections::BTreeSet<u32> = (0..64)
        .map(|n| port_of(datagram(1, 2, (1000 + n, 53), 0)))
        .collect();
    assert_eq!(used.len(), 4, "64 flows reach all of 4 ports");
    // The bytes in the place of the ports differ between fragments of one datagram.
    let fragments: std::collections::BTreeSet<u32> = (0..16)
        .map(|n| port_of(datagram(1, 2, (n * 257, n), 0x2000 | n)))
        .collect();
    assert_eq!(fragments.len(), 1, "fragments follow addresses only");
    for len in [0, 5, 14, 20, 33] {
        let cut = datagram(1, 2, (1, 2), 0).bytes[..len].to_vec();
        port_of(Frame {
            time_ns: 0,
            port: 0,
            original_len: 60,
            bytes: cut,
        });
    }
}

#[test]
fn impossible_requests_are_refused_with_the_reason() {
    let frames = [frame(u64::MAX, 0, 60)];
    let refused = |ports: &[PortLine], assignment, pace| {
        schedule(&frames, ports, assignment, pace).unwrap_err()
    };
    let by_interface = PortAssignment::default();
    assert_eq!(refused(&[], by_interface, Pace::Line), PaceError::NoPorts);
    let dead = [GIGABIT, PortLine { bits_per_second: 0 }];
    assert_eq!(
        refused(&dead, by_interface, Pace::Line),
        PaceError::ZeroLineRate { port: 1 }
    );
    let missing = refused(&[GIGABIT], PortAssignment::Fixed(1), Pace::Line);
    assert_eq!(missing, PaceError::NoSuchPort { port: 1, ports: 1 });
    assert!(missing.to_string().contains("only 1 ports (0 to 0)"));
    assert_eq!(
        refused(&[GIGABIT], by_interface, pace("trace")),
        PaceError::TooLong { frame: 0 }
    );
    let many = vec![frame(0, 0, 1514); 26_000];
    let slow = [PortLine { bits_per_second: 1 }];
    assert!(matches!(
        schedule(&many, &slow, by_interface, Pace::Line),
        Err(PaceError::TooLong { frame: 25_000.. })
    ));
}

#[test]
fn extreme_times_and_rates_do_not_overflow() {
    let fastest = [PortLine {
        bits_per_second: 1 << 58,
    }];
    // Nearly ten years.
    let last = 315_000_000_000_000_000;
    let frames = vec![frame(last, 0, 262_144); 3];
    let plan = schedule(&frames, &fastest, PortAssignment::default(), pace("trace"));
    assert_eq!(plan.unwrap().arrivals.len(), 3);
    let slowest = Pace::Trace {
        speed: Ratio::new(1, Ratio::LIMIT).unwrap(),
    };
    assert!(schedule(&frames, &fastest, PortAssignment::default(), slowest).is_err());
}

#[test]
fn paces_parse_and_print() {
    let rate = |numerator| Pace::Rate {
        packets_per_second: Ratio::new(numerator, 1).unwrap(),
    };
    assert_eq!(pace("100kpps"), rate(100_000));
    assert_eq!(pace("4.5Mpps"), rate(4_500_000));
    assert_eq!(pace("200pps"), rate(200));
    assert_eq!(pace("1x"), pace("trace"));
    for text in [
        "trace", "recorded", "line", "2x", "0.25x", "200pps", "0.5pps",
    ] {
        assert_eq!(pace(text).to_string(), text);
    }
    for text in ["", "fast", "100", "5mpps", "LINE", "2 x"] {
        let error = text.parse::<Pace>().unwrap_err();
        assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
    }
    assert_eq!(
        "0pps".parse::<Pace>(),
        Err(PaceError::PaceNumber {
            text: "0pps".into(),
            source: crate::RatioError::Zero
        })
    );
}

#[test]
fn assignments_parse_and_print() {
    for text in ["interface", "round-robin", "flow", "0", "17"] {
        assert_eq!(text.parse::<PortAssignment>().unwrap().to_string(), text);
    }
    for text in ["", "-1", "port", "99999999999"] {
        assert!(text.parse::<PortAssignment>().is_err(), "{text}");
    }
}

prop_compose! {
    fn any_frames()(raw in prop::collection::vec((0u64..3_000, 0u32..5, 0usize..1600), 1..120)) -> Vec<Frame> {
        let mut time = 0;
        raw.into_iter().map(|(step, port, len)| { time += step; frame(time, port, len) }).collect()
    }
}

fn any_pace() -> impl Strategy<Value = Pace> {
    prop_oneof![
        Just(Pace::Line),
        (1u64..1000, 1u64..1000).prop_map(|(a, b)| Pace::Trace {
            speed: Ratio::new(a, b).unwrap()
        }),
        (1u64..100_000_000, 1u64..1000).prop_map(|(a, b)| Pace::Rate {
            packets_per_second: Ratio::new(a, b).unwrap()
        }),
    ]
}

proptest! {
    #[test]
    fn frames_never_overlap_and_none_is_early_or_lost(
        frames in any_frames(),
        rates in prop::collection::vec(10_000_000u64..11_000_000_000, 1..5),
        round_robin in any::<bool>(),
        pace in any_pace(),
    ) {
        let ports: Vec<PortLine> = rates.iter().map(|&bits_per_second| PortLine { bits_per_second }).collect();
        let assignment = if round_robin { PortAssignment::RoundRobin } else { PortAssignment::ByInterface };
        let plan = schedule(&frames, &ports, assignment, pace).unwrap();

        prop_assert!(plan.arrivals.is_sorted_by_key(|arrival| (arrival.start_ps, arrival.port)));
        let mut seen: Vec<usize> = plan.arrivals.iter().map(|arrival| arrival.frame).collect();
        seen.sort_unstable();
        prop_assert!(seen.iter().copied().eq(0..frames.len()));

        for (port, line) in ports.iter().enumerate() {
            let rate = u128::from(line.bits_per_second);
            let here: Vec<_> = plan.arrivals.iter().filter(|arrival| arrival.port == port as u32).collect();
            for pair in here.windows(2) {
                prop_assert!(pair[0].frame < pair[1].frame, "a port keeps the order of the capture");
                let gap = pair[1].start_ps - pair[0].end_ps;
                // Both times were rounded down, so the difference may fall short of the gap by less than
                // one.
                prop_assert!(gap + 1 > 96_000_000_000_000 / rate);
            }
            for arrival in &here {
                let busy = 8 * (12 + frames[arrival.frame].bytes.len().max(60) as u128) * 1_000_000_000_000;
                let lasts = arrival.end_ps - arrival.start_ps;
                prop_assert!(lasts == busy / rate || lasts == busy / rate + 1);
                if let Pace::Trace { speed } = pace {
                    let wanted = u128::from(frames[arrival.frame].time_ns) * 1000 * u128::from(speed.denominator())
                        / u128::from(speed.numerator());
                    prop_assert!(arrival.start_ps >= wanted);
                }
            }
            if pace == Pace::Line {
                // The line is never idle: the last bit and the last gap end when all bits have been sent.
                let bits: u128 = here.iter().map(|arrival| 8 * (24 + frames[arrival.frame].bytes.len().max(60) as u128)).sum();
                prop_assert_eq!(u128::from(plan.ports[port].line_bits), bits);
                if bits > 0 {
                    prop_assert_eq!(plan.ports[port].end_ps, (bits - 96) * 1_000_000_000_000 / rate);
                }
            }
        }
    }
}
