//! Network files: what they come to, and mistakes in them.

use npsim_network::file::NetworkFile;
use npsim_network::topology::{NodeKind, QueueLimit, Transport};
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
fn a_scale_moves_times_and_rates_alone() {
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

/// Changes a part of the file; the message that comes of it.
fn with(from: &str, to: &str) -> String {
    assert!(FILE.contains(from), "{from}");
    problem(&FILE.replacen(from, to, 1))
}

#[test]
fn mistakes_are_told_with_their_places() {
    let cases = [
        (
            with("from = \"s\"", "from = \"t\""),
            "net.toml:45:8: there is no node `t`",
        ),
        (with("to = \"d\"", "to = \"r1\""), "`r1` is no host"),
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
            "is no limit of a queue",
        ),
        (
            with(", rtt = \"500ms\"", ""),
            "add for example `rtt = \"500ms\"`",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", least = 1.5"),
            "does not lie between 0 and 1",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", least = 0.8, most = 0.2"),
            "dropped from 80% of the limit on, and all of them from 20% on",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", least = 0.9"),
            "dropped from 90% of the limit on, and all of them from 75% on",
        ),
        (
            with("kind = \"fifo\"", "kind = \"red\", chance = 4e-7"),
            "`4e-7` would count as 0",
        ),
        (
            with(
                "delay = \"248ms\"",
                "delay = \"248ms\"\nloss = { forward = 0.0000001 }",
            ),
            "`1e-7` would count as 0",
        ),
        (
            with("count = 4", "count = 0"),
            "a group has 1 to 10000 hosts",
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
        (with("10.1.0.10", "10.1.0"), "`10.1.0` is no IPv4 address"),
        (
            with("10.1.0.10", "224.0.0.1"),
            "`224.0.0.1` is no address of a host",
        ),
        (
            with("10.1.0.10", "127.0.0.1"),
            "`127.0.0.1` is no address of a host",
        ),
        (
            with("10.1.0.10", "223.255.255.254"),
            "`224.0.0.0` is no address of a host",
        ),
        (
            with("name = \"left\"", "name = \"r1\""),
            "there are two nodes of the name `r1`",
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
            "only `udp` has a rate",
        ),
        (
            with("transport = \"sack\"", "transport = \"udp\""),
            "`udp` needs a rate",
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
            "leaves nothing of the times",
        ),
        (
            problem(&format!("scale = 10000000000\n{FILE}")),
            "nothing is left of `1ms`",
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
