//! The effect of routers' control laws on flows.

use npsim_network::counters::NetworkCounters;
use npsim_network::{Network, NoTap, Simulation};
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;

/// A dumbbell of 10 Mb/s and 100 ms.
fn network(model: &str, queue: &str, flows: &str) -> String {
    format!(
        "name = \"laws\"\nuntil = \"30s\"\n\
         [[host]]\nname = \"s\"\ncount = 4\naddress = \"10.0.0.1\"\n\
         [[host]]\nname = \"d\"\ncount = 4\naddress = \"10.1.0.1\"\n\
         [[switch]]\nname = \"left\"\n\
         [[router]]\nname = \"r\"\n{model}\n\
         [[link]]\nbetween = [\"s\", \"left\"]\nrate = \"100Mbps\"\ndelay = \"1ms\"\n\
         [[link]]\nname = \"trunk\"\nbetween = [\"left\", \"r\"]\nrate = \"1Gbps\"\ndelay = \"1ms\"\n\
         [[link]]\nname = \"bottleneck\"\nbetween = [\"r\", \"d\"]\nrate = \"10Mbps\"\n\
         delay = \"48ms\"\nqueue = {{ limit = \"{queue}\", rtt = \"100ms\" }}\n{flows}"
    )
}

fn run(text: &str) -> (NetworkCounters, Results) {
    let file = NetworkFile::parse("net.toml", text).unwrap_or_else(|problem| panic!("{problem}"));
    let mut network = without_chips(&file);
    let begin = network.packet_simulation().counters();
    network
        .packet_simulation_mut()
        .run_to(file.until, &mut NoTap);
    let counters = network.packet_simulation().counters();
    (counters, Results::of(&file, &network, &begin))
}

fn without_chips(file: &NetworkFile) -> Network {
    let simulation = Simulation::new(file.topology.clone()).expect("a network");
    Network::new(simulation, Vec::new()).expect("no chips")
}

fn completion(results: &Results, flow: &str) -> f64 {
    let mut flows = results.flows.iter();
    let flow = flows.find(|it| it.name == flow).expect("the flow");
    flow.completion_s
        .unwrap_or_else(|| panic!("{} is not done", flow.name))
}

fn bottleneck(results: &Results) -> &npsim_network_file::results::LineResult {
    let mut lines = results.lines.iter();
    lines.find(|line| line.link == "bottleneck").expect("it")
}

#[test]
fn rcp_shares_the_line_fairly_with_a_short_queue() {
    let flows = "[[flow]]\nfrom = \"s\"\nto = \"d\"\ntransport = \"rcp\"\nstep = \"2s\"\n";
    let (_, results) = run(&network("model = \"rcp\"", "2bdp", flows));
    let line = bottleneck(&results);
    assert!(line.utilisation > 0.9, "{}", line.utilisation);
    assert!(
        line.mean_queue_bytes < 60_000.0,
        "{}",
        line.mean_queue_bytes
    );
    // In the last seconds, all four have been active for a long time.
    let shares: Vec<f64> = results.flows.iter().filter_map(|flow| flow.share).collect();
    assert!(
        shares[0] > shares[3],
        "the first has had more time: {shares:?}"
    );
    assert!(results.jain > Some(0.98), "{shares:?}");
}

#[test]
fn quick_start_completes_short_flows_sooner() {
    let flow = |transport: &str, more: &str| {
        format!(
            "[[flow]]\nname = \"short\"\nfrom = \"s\"\nto = \"d\"\nbytes = 100000\ntransport = \"{transport}\"\n{more}"
        )
    };
    let done = |model: &str, transport: &str, more: &str| {
        let flows = flow(transport, more);
        completion(&run(&network(model, "2bdp", &flows)).1, "short0")
    };
    let tcp = done("model = \"fifo\"", "sack", "");
    let quick = done(
        "model = \"quick-start\"",
        "quick-start",
        "rate = \"2Mbps\"\n",
    );
    let denied = done(
        "model = \"quick-start\"\nquick-start = { threshold = 0.0 }",
        "quick-start",
        "rate = \"2Mbps\"\n",
    );
    // 100 KB are 69 segments: 3, 6, 12, 24 and the rest, after a handshake.
    assert!((0.5..0.7).contains(&tcp), "{tcp}");
    assert!(quick < tcp - 0.1, "{quick} {tcp}");
    assert!((denied - tcp).abs() < 0.05, "{denied} {tcp}");
}

#[test]
fn overestimated_xcp_capacity_builds_a_queue() {
    let flows = "[[flow]]\nfrom = \"s\"\nto = \"d\"\ntransport = \"xcp\"\n";
    let right = run(&network("model = \"xcp\"", "4bdp", flows)).1;
    let wrong = "model = \"xcp\"\nxcp = { capacity = \"12Mbps\" }";
    let wrong = run(&network(wrong, "4bdp", flows)).1;
    let (right, wrong) = (bottleneck(&right), bottleneck(&wrong));
    assert_eq!(right.drops, 0);
    assert!(
        right.mean_queue_bytes < 10_000.0,
        "{}",
        right.mean_queue_bytes
    );
    assert!(
        wrong.mean_queue_bytes > 30_000.0,
        "{}",
        wrong.mean_queue_bytes
    );
}

#[test]
fn udp_keeps_its_rate_and_tcp_gets_the_rest() {
    let flows = "[[flow]]\nname = \"tcp\"\nfrom = \"s\"\nto = \"d\"\ntransport = \"sack\"\n\
                 [[flow]]\nname = \"udp\"\nfrom = \"s\"\nto = \"d\"\ntransport = \"udp\"\nrate = \"1Mbps\"\nuntil = \"20s\"\n";
    let (_, results) = run(&network("model = \"fifo\"", "1bdp", flows));
    let rate = |name: &str| -> f64 {
        let flows = results
            .flows
            .iter()
            .filter(|flow| flow.name.starts_with(name));
        flows.map(|flow| flow.goodput_bps).sum()
    };
    // Four of 1 Mb/s for two thirds of the time, minus the drops of the queue.
    assert!((2.3e6..2.67e6).contains(&rate("udp")), "{}", rate("udp"));
    assert!((5.5e6..7.4e6).contains(&rate("tcp")), "{}", rate("tcp"));
}

#[test]
fn xcp_keeps_all_parking_lot_lines_busy() {
    let text = include_str!("../../../../traces/networks/parking-lot.toml");
    let file = NetworkFile::parse("lot.toml", text).unwrap_or_else(|problem| panic!("{problem}"));
    let mut network = without_chips(&file);
    network
        .packet_simulation_mut()
        .run_to(file.from, &mut NoTap);
    let begin = network.packet_simulation().counters();
    network
        .packet_simulation_mut()
        .run_to(file.until, &mut NoTap);
    let results = Results::of(&file, &network, &begin);
    let watched = results.lines.iter().filter(|line| line.watched);
    assert_eq!(watched.clone().count(), 3);
    for line in watched {
        assert!(
            line.utilisation > 0.8,
            "{}: {}",
            line.link,
            line.utilisation
        );
        assert_eq!(line.drops, 0);
    }
    // Every line carries the long flow and one other: half each is fair.
    let long = results.flows[0].goodput_bps / 10e6;
    assert!((0.3..0.7).contains(&long), "{:?}", results.flows[0]);
}
