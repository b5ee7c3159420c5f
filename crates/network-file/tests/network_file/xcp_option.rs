//! XCP as a TCP option: the effect of its header's format.

use npsim_network::counters::NetworkCounters;
use npsim_network::topology::Topology;
use npsim_network::{NoTap, Simulation};
use npsim_network_file::file::NetworkFile;

const FILE: &str = include_str!("../../../../traces/networks/dumbbell.toml");

/// Results from 30 s to 60 s with the given number of flows and header format.
fn late(flows: usize, format: &str) -> (Topology, NetworkCounters) {
    let settings = [
        format!("host.*.count={flows}"),
        "router.r1.model=xcp-option".to_owned(),
        "flow.tcp.transport=xcp-option".to_owned(),
        "flow.tcp.spread=500ms".to_owned(),
        format!("router.r1.xcp.format={format}"),
        format!("flow.tcp.host.format={format}"),
    ];
    let settings: Vec<_> = { settings.iter() }
        .map(|setting| setting.parse().expect("a setting"))
        .collect();
    let file = NetworkFile::parse_with("net.toml", FILE, &settings);
    let file = file.unwrap_or_else(|problem| panic!("{problem}"));
    let mut simulation = Simulation::new(file.topology.clone()).expect("a network");
    simulation.run_to(file.until / 4, &mut NoTap);
    let begin = simulation.counters();
    simulation.run_to(file.until / 2, &mut NoTap);
    let counters = simulation.counters().since(&begin);
    (file.topology, counters)
}

#[test]
fn mantissa_exponent_format_fills_the_line_and_integer_does_not() {
    let busiest = |counters: &NetworkCounters| {
        let lines = counters.lines.iter().filter(|line| line.rate == 10_000_000);
        lines
            .map(npsim_network::counters::LineCounters::utilisation)
            .fold(0.0, f64::max)
    };
    for flows in [1, 4] {
        let (topology, counters) = late(flows, "mantissa-exponent");
        let used = busiest(&counters);
        assert!(used > 0.98, "{flows}: {used}");
        assert!(counters.jain(&topology, 0..flows) > Some(0.99));
        let drops: u64 = counters
            .lines
            .iter()
            .map(npsim_network::counters::LineCounters::drops)
            .sum();
        assert_eq!(drops, 0);
    }
    let used = busiest(&late(1, "integer").1);
    assert!((0.28..0.9).contains(&used), "{used}");
}

#[test]
fn invalid_xcp_option_keys_are_refused() {
    let refused = |settings: &[&str]| {
        let settings: Vec<_> = { settings.iter() }
            .map(|setting| setting.parse().expect("a setting"))
            .collect();
        let file = NetworkFile::parse_with("net.toml", FILE, &settings);
        file.expect_err("a mistake").to_string()
    };
    for (settings, expected) in [
        (
            &["router.r1.model=xcp", "router.r1.xcp.format=integer"][..],
            "only `xcp-option` has several",
        ),
        (
            &["router.r1.model=xcp-option", "router.r1.xcp.stamp=arrival"],
            "behind the queue",
        ),
        (
            &["router.r1.model=xcp-option", "router.r1.xcp.format=integr"],
            "did you mean `integer`?",
        ),
        (&["flow.tcp.host.format=integer"], "only the option"),
        (&["flow.tcp.host.cap_request=false"], "only `xcp` has"),
        (
            &["flow.tcp.transport=reno", "flow.tcp.host.sack=true"],
            "without selective acknowledgements",
        ),
    ] {
        let message = refused(settings);
        assert!(message.contains(expected), "{settings:?}: {message}");
        assert!(message.contains("net.toml with settings:"), "{message}");
    }
}

#[test]
fn spread_start_times_depend_on_seed_and_name() {
    let spread = ["flow.tcp.spread=500ms".parse().expect("a setting")];
    let mut file = NetworkFile::parse_with("net.toml", FILE, &spread).expect("a network");
    let starts = |file: &NetworkFile| -> Vec<u64> {
        file.topology.flows.iter().map(|flow| flow.start).collect()
    };
    let first = starts(&file);
    assert!(first.iter().all(|start| *start < 500_000_000_000));
    assert!(first.windows(2).all(|pair| pair[0] != pair[1]), "{first:?}");
    file.reseed(2);
    assert_ne!(starts(&file), first);
    file.reseed(1);
    assert_eq!(starts(&file), first);
    // Another group of flows moves none of them, and a scale divides them.
    let fewer = [
        spread[0].clone(),
        "host.*.count=2".parse().expect("a setting"),
    ];
    let fewer = NetworkFile::parse_with("net.toml", FILE, &fewer).expect("a network");
    assert_eq!(starts(&fewer), first[..2]);
    let scaled = [spread[0].clone(), "scale=20".parse().expect("a setting")];
    let scaled = NetworkFile::parse_with("net.toml", FILE, &scaled).expect("a network");
    for (fast, start) in starts(&scaled).iter().zip(&first) {
        assert!(start.abs_diff(fast * 20) <= 20, "{start} {fast}");
    }
}
