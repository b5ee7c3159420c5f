//! Network files: the resulting networks, and mistakes in files.

use npsim_network::topology::{NodeKind, QueueLimit, Transport};
use npsim_network_file::file::NetworkFile;
use npsim_transport::time::MILLISECOND;

const FILE: &str = include_str!("../../../../traces/networks/dumbbell.toml");

fn parsed(text: &str) -> NetworkFile {
    NetworkFile::parse("net.toml", text).unwrap_or_else(|problem| panic!("{problem}"))
}

fn problem(text: &str) -> String {
    match NetworkFile::parse("net.toml", text) {
        Ok(_) => panic!("no mistake found in:\n{text}"),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn groups_become_hosts_links_and_pairs() {
    let file = parsed(FILE);
    let topology = &file.topology;
    let name = |node: usize| topology.nodes[node].name.as_str();
    assert_eq!(topology.flows.len(), 4);
    assert_eq!(
        (name(topology.flows[2].from), name(topology.flows[2].to)),
        ("s2", "d2")
    );
    let bottleneck = topology.links.iter().find(|link| link.name == "bottleneck");
    let bottleneck = bottleneck.expect("the bottleneck");
    assert_eq!(
        (name(bottleneck.ends[0]), name(bottleneck.ends[1])),
        ("r1", "bottleneck:switch"),
        "a port of a router has one line"
    );
    // Two times 10 Mb/s times 500 ms.
    assert_eq!(
        bottleneck.lines[0].queue.limit,
        QueueLimit::Bytes(1_250_000)
    );
    assert_eq!(bottleneck.lines[1].queue.limit, QueueLimit::None);
    assert_eq!(
        topology
            .links
            .iter()
            .filter(|link| link.name.starts_with("access"))
            .count(),
        4
    );
    let NodeKind::Host { address } = topology.nodes[3].kind else {
        panic!("a host");
    };
    assert_eq!(address.octets(), [10, 0, 0, 13]);
}

#[test]
fn scale_changes_only_times_and_rates() {
    let plain = parsed(FILE);
    let fast = parsed(&format!("scale = 20\n{FILE}"));
    assert_eq!(fast.until * 20, plain.until);
    let line = |file: &NetworkFile| file.topology.links.last().expect("a link").lines[0].clone();
    assert_eq!(line(&fast).rate, line(&plain).rate);
    let find = |file: &NetworkFile| {
        let mut links = file.topology.links.iter();
        links
            .find(|link| link.name == "bottleneck")
            .expect("it")
            .lines[0]
            .clone()
    };
    assert_eq!(find(&fast).rate, find(&plain).rate * 20);
    assert_eq!(find(&fast).delay * 20, find(&plain).delay);
    assert_eq!(find(&fast).queue, find(&plain).queue, "bytes stay bytes");
    let floor = |file: &NetworkFile| match &file.topology.flows[0].transport {
        Transport::Tcp { host, .. } => host.rto.floor,
        _ => 0,
    };
    assert_eq!(
        (floor(&plain), floor(&fast)),
        (200 * MILLISECOND, 10 * MILLISECOND)
    );
}

/// Changes a part of the file; returns the resulting message.
fn with(from: &str, to: &str) -> String {
    assert!(FILE.contains(from), "{from}");
    problem(&FILE.replacen(from, to, 1))
}

#[test]
fn mistakes_are_reported_with_their_location() {
    let cases = [
        (
            with("from = \"s\"", "from = \"t\""),
            "net.toml:45:8: there is no node `t`",
        ),
        (with("to = \"d\"", "to = \"r1\""), "`r1` is not a host"),
        (
            with("to = \"d\"", "to = \"s\""),
            "the flow goes from `s` to itself",
        ),
        (
            with("between = [\"r1\", \"d\"]", "between = [\"left\", \"r1\"]"),
            "no way leads from `s0` to `d0`",
        ),
        (
            with("transport = \"sack\"", "transport = \"sak\""),
            "did you mean `sack`?",
        ),
        (
            with("model = \"fifo\"", "model = \"fifi\""),
            "did you mean `fifo`?",
        ),
        (
            with("rate = \"10Mbps\"", "rate = \"10MB\""),
            "`10MB` is not a rate",
        ),
        (
            with("delay = \"248ms\"", "delay = \"248\""),
            "has no cycles",
        ),
        (
            with("limit = \"2bdp\"", "limit = \"2 bananas\""),
            "is not a limit of a queue",
        ),
        (
            with(", rtt = \"500ms\"", ""),
            "add for example `rtt = \"500ms\"`",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", least = 1.5"),
            "is not between 0 and 1",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", least = 0.8, most = 0.2"),
            "begin at 0.8 of the limit and drop all from 0.2 on",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", least = 0.9"),
            "begin at 0.9 of the limit and drop all from 0.75 on",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", chance = 4e-7"),
            "`0.0000004` would be 0",
        ),
        (
            with(
                "delay = \"248ms\"",
                "delay = \"248ms\"\nloss = { forward = 0.0000001 }",
            ),
            "`0.0000001` would be 0",
        ),
        (
            with("count = 4", "count = 0"),
            "a group has 1 to 4096 hosts",
        ),
        (
            with("count = 4", "count = 4\ncpu = { cores = 0 }"),
            "a CPU has 1 to 1024 cores",
        ),
        (
            with("count = 4", "count = 3"),
            "3 and 4 hosts make no pairs",
        ),
        (
            with("10.1.0.10", "10.0.0.12"),
            "the address 10.0.0.12 is given twice",
        ),
        (
            with("10.1.0.10", "10.1.0"),
            "`10.1.0` is not an IPv4 address",
        ),
        (
            with("10.1.0.10", "224.0.0.1"),
            "`224.0.0.1` is not the address of a host",
        ),
        (
            with("10.1.0.10", "127.0.0.1"),
            "`127.0.0.1` is not the address of a host",
        ),
        (
            with("10.1.0.10", "223.255.255.254"),
            "`224.0.0.0` is not the address of a host",
        ),
        (
            with("name = \"left\"", "name = \"r1\""),
            "there are two nodes with the name `r1`",
        ),
        (
            with("from = \"30s\"", "from = \"300s\""),
            "nothing is measured",
        ),
        (with("packet = 1000", "packet = 20"), "100 to 9000 bytes"),
        (
            with("packet = 1000", "pakcet = 1000"),
            "there is no key `pakcet` in [[flow]]",
        ),
        (
            with("packet = 1000", "rate = \"1Mbps\""),
            "a [[flow]] of `sack` has no `rate`",
        ),
        (
            with("transport = \"sack\"", "transport = \"udp\""),
            "needs the key `rate`",
        ),
        (
            with(
                "transport = \"sack\"",
                "transport = \"udp\"\nrate = \"1Mbps\"\nbytes = 1000",
            ),
            "a [[flow]] of `udp` has no `bytes`",
        ),
        (
            with(
                "transport = \"sack\"",
                "transport = \"udp\"\nrate = \"1Mbps\"\nhost = { sack = false }",
            ),
            "sends packets of `packet` bytes at `rate` until `until`",
        ),
        (
            with(
                "transport = \"sack\"",
                "transport = \"udp\"\nrate = \"1Mbps\"\nstart = \"2s\"\nuntil = \"1s\"",
            ),
            "ends before it begins",
        ),
        (
            with(
                "transport = \"sack\"",
                "transport = \"rcp\"\nhost = { sack = true }",
            ),
            "a [[flow]] of `rcp` has no `host`",
        ),
        (
            with("packet = 1000", "spread = \"0.5bdp\""),
            "is not a unit of time",
        ),
        (
            with(
                "delay = \"248ms\"",
                "delay = \"248ms\"\nloss = { forward = 1e-7 }",
            ),
            "shares are counted in millionths",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", weight = 2e-7"),
            "shares are counted in millionths",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", least = 0.8"),
            "`least` is not above `most`",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", most = 0.2"),
            "`least` is not above `most`",
        ),
        (
            with(
                "kind = \"fifo\", limit = \"2bdp\"",
                "kind = \"red\", limit = \"10 packets\", least = 0.01",
            ),
            "`0.01` of `10 packets` is 0",
        ),
        (
            with("limit = \"2bdp\"", "limit = \"0.000000001bdp\""),
            "less than a byte",
        ),
        (
            with("packet = 1000", "host = { loss = \"ignore\" }"),
            "only `xcp` may ignore a loss",
        ),
        (
            with("packet = 1000", "host = { pacing = \"0Hz\" }"),
            "1 to 1000000 times a second",
        ),
        (
            with(
                "model = \"fifo\"",
                "model = \"fifo\"\nxcp = { alpha = 0.4 }",
            ),
            "a `fifo` router has no keys of `xcp`",
        ),
        (
            with(
                "model = \"fifo\"",
                "model = \"xcp\"\nxcp = { min_interval = \"2s\" }",
            ),
            "max_interval",
        ),
        (
            problem(&format!("scale = 0\n{FILE}")),
            "a scale of 0 is not possible",
        ),
        (
            problem(&format!("scale = 10000000000\n{FILE}")),
            "`1ms` divided by ",
        ),
        (
            problem(&format!("scale = 1000000000000\n{FILE}")),
            "more than can be counted",
        ),
        (
            problem("name = \"x\""),
            "the key `until` is missing in the network file",
        ),
        (problem("name ="), "net.toml:1:"),
    ];
    for (message, expected) in cases {
        assert!(message.contains(expected), "{message}\n  lacks: {expected}");
        assert!(message.starts_with("net.toml:"), "{message}");
    }
}

/// Times at which flows open, in a run drawn from a seed and in replicates of it.
#[test]
fn replicates_start_flows_within_one_round_trip_time() {
    let starts = |file: &NetworkFile| -> Vec<u64> {
        file.topology.flows.iter().map(|flow| flow.start).collect()
    };
    let plain = parsed(FILE);
    let mut seeded = plain.clone();
    seeded.reseed(7);
    assert_eq!(
        starts(&seeded),
        starts(&plain),
        "a seed alone moves no start"
    );
    let replicate = |text: &str, seed| {
        let mut file = parsed(text);
        file.replicate(seed);
        starts(&file)
    };
    let first = replicate(FILE, 1001);
    assert_eq!(first, replicate(FILE, 1001));
    assert_ne!(first, replicate(FILE, 1002));
    // 1 ms and 1 ms to the router and 248 ms after it, in both directions.
    let trip = 500 * MILLISECOND;
    assert!(first.iter().all(|start| *start < trip), "{first:?}");
    let mut distinct = first.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 4, "{first:?}");
    // Start times given in a file remain.
    let none = FILE.replace("packet = 1000", "packet = 1000\nspread = \"0s\"");
    assert_eq!(replicate(&none, 1001), starts(&plain));
    let tenth = FILE.replace("packet = 1000", "packet = 1000\nspread = \"0.1rtt\"");
    let tenth = replicate(&tenth, 1001);
    assert!(tenth.iter().all(|start| *start < trip / 10), "{tenth:?}");
    assert!(tenth.iter().any(|start| *start > 0));
}

fn notes(text: &str) -> Vec<String> {
    npsim_network_file::advisories::advisories(&parsed(text), &[])
}

#[test]
fn routers_without_support_for_a_transport_are_noted() {
    assert_eq!(notes(FILE), [""; 0]);
    for (transport, model) in [
        ("xcp", "fifo"),
        ("xcp-option", "xcp"),
        ("rcp", "fifo"),
        ("rcp", "quick-start"),
        ("quick-start", "rcp"),
    ] {
        let rate = if transport == "quick-start" {
            "\nrate = \"5Mbps\""
        } else {
            ""
        };
        let text = |model: &str| {
            FILE.replace(
                "transport = \"sack\"",
                &format!("transport = \"{transport}\"{rate}"),
            )
            .replace("model = \"fifo\"", &format!("model = \"{model}\""))
        };
        let told = notes(&text(model));
        let said = format!("router `r1` on the way of `tcp0` does not know `{transport}`");
        assert!(
            told.len() == 1 && told[0].starts_with(&said),
            "{transport} {model}: {told:?}"
        );
        assert_eq!(notes(&text(transport)), [""; 0], "{transport}");
    }
    // If there are only switches on the path, nothing answers either.
    let straight = FILE
        .replace(
            "between = [\"left\", \"r1\"]",
            "between = [\"left\", \"d\"]",
        )
        .replace("transport = \"sack\"", "transport = \"rcp\"");
    let told = notes(&straight);
    assert!(
        told.iter()
            .any(|note| note.contains("no router is on the way")),
        "{told:?}"
    );
}

#[test]
fn jains_index_covers_open_flows_with_deliveries() {
    let run = |text: &str, until: u64| {
        let file = parsed(text);
        let mut simulation =
            npsim_network::Simulation::new(file.topology.clone()).expect("a network");
        simulation.run_to(until * MILLISECOND, &mut npsim_network::NoTap);
        let counters = simulation.counters();
        counters.jain(&file.topology, 0..file.topology.flows.len())
    };
    assert_eq!(run(FILE, 100), None, "nothing has come yet");
    // One of the four continues alone: the others begin after the end, or were done before.
    let late = FILE.replace("packet = 1000", "packet = 1000\nstep = \"100s\"");
    assert_eq!(run(&late, 5_000), Some(1.0));
    let udp = |keys: &str| {
        FILE.replace(
            "transport = \"sack\"",
            "transport = \"udp\"\nrate = \"1Mbps\"",
        )
        .replace("packet = 1000", &format!("packet = 1000\n{keys}"))
    };
    let all = run(&udp(""), 5_000).expect("an index");
    assert!((all - 1.0).abs() < 1e-4, "{all}");
    assert!(
        run(&udp("step = \"1s\""), 5_000) < Some(0.99),
        "all four were open"
    );
}

/// A network of two groups of hosts at the first of some switches.
fn two_groups(sources: usize, sinks: usize, switches: usize) -> String {
    let link = "rate = \"1Gbps\"\ndelay = \"10us\"\n";
    let groups = [("s", sources, "10.0.0.10"), ("d", sinks, "10.128.0.10")];
    let groups = groups.map(|(name, count, address)| {
        format!(
            "[[host]]\nname = \"{name}\"\ncount = {count}\naddress = \"{address}\"\n\
             [[link]]\nbetween = [\"{name}\", \"w0\"]\n{link}"
        )
    });
    let switches = (0..switches).map(|number| format!("[[switch]]\nname = \"w{number}\"\n"));
    [
        "name = \"x\"\nuntil = \"1ms\"\n".to_owned(),
        groups.concat(),
        switches.collect(),
        "[[flow]]\nfrom = \"s\"\nto = \"d\"\ntransport = \"reno\"\n".to_owned(),
    ]
    .concat()
}

#[test]
fn numbers_of_nodes_and_links_are_limited() {
    let said = problem(&two_groups(4_096, 1, 1));
    assert!(said.contains("a network has at most 4096 nodes"), "{said}");
    assert!(said.contains("net.toml:12:8"), "{said}");
    let said = problem(&two_groups(2_000, 2_000, 97));
    assert!(said.contains("with this one the file has more"), "{said}");
    let said = problem(&two_groups(4_097, 1, 1));
    assert!(said.contains("a group has 1 to 4096 hosts"), "{said}");
    let link =
        "[[link]]\nname = \"m\"\nbetween = [\"s\", \"w0\"]\nrate = \"1Gbps\"\ndelay = \"1us\"\n";
    let more: String = (0..5)
        .map(|number| link.replace("\"m\"", &format!("\"m{number}\"")))
        .collect();
    let said = problem(&(two_groups(4_000, 1, 1) + &more));
    assert!(said.contains("a network has at most 16384 links"), "{said}");
}

#[test]
fn maximum_number_of_nodes_is_accepted() {
    let file = parsed(&two_groups(2_047, 2_047, 2));
    assert_eq!(file.topology.nodes.len(), 4_096);
    assert_eq!(file.topology.flows.len(), 2_047);
}
