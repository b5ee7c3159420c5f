//! Hosts with a third-party stack: the data that they exchange arrives byte for byte, whatever is between them.

use npsim_network::{Network, NoTap, Simulation};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_network_file::transfer_results::Outcome;
use npsim_project::assemble::assemble_project;
use npsim_transport::time::{MICROSECOND, MILLISECOND, SECOND, Time};

use crate::chips::{file, never_interrupt};

/// A client and a server, and ten pages between them.
const HOSTS: &str = r#"
name = "t"
until = "4s"
[[host]]
name = "client"
kind = "stack"
address = "10.1.0.10"
[[host]]
name = "server"
kind = "stack"
address = "10.2.0.10"
[[transfer]]
name = "pages"
from = "client"
to = "server"
request = "200 bytes"
response = "100KB"
requests = 10
gap = "3ms"
"#;

/// The connection between them: a router, and links to it.
fn between(router: &str, ends: [&str; 2], far: &str) -> String {
    format!(
        r#"{HOSTS}
[[router]]
name = "r"
{router}
[[link]]
name = "near"
between = ["client", "{}"]
rate = "100Mbps"
delay = "1ms"
[[link]]
name = "far"
between = ["{}", "server"]
rate = "100Mbps"
delay = "2ms"
{far}
"#,
        ends[0], ends[1]
    )
}

fn model(far: &str) -> String {
    between("model = \"fifo\"", ["r", "r"], far)
}

fn chip(system: &str, far: &str) -> String {
    let router = format!("system = \"../../microcode/{system}\"");
    between(&router, ["r:0", "r:1"], far)
}

/// Idle contexts of the standard router rest.
const REST: &str = "
[router.set]
me.queue_manager.define.REST_LONGEST = 255
me.scheduler.define.REST_LONGEST = 255
me.transmit.define.REST_LONGEST = 255
me.processing.define.REST_LONGEST = 255
";

fn network(file: &NetworkFile) -> Network {
    let systems = systems(file, &npsim_protocols::registry(), &assemble_project);
    let systems = systems.unwrap_or_else(|problems| panic!("{problems}"));
    let packet_simulation = Simulation::new(file.topology.clone()).expect("a network");
    Network::new(packet_simulation, systems).expect("chips")
}

fn ran(text: &str, threads: usize, step: Time) -> (Network, Results) {
    let file = file(text);
    let mut network = network(&file).with_threads(threads);
    let begin = network.packet_simulation().counters();
    while network.packet_simulation().now() < file.until {
        let next = (network.packet_simulation().now() + step).min(file.until);
        network
            .run_to(next, &mut NoTap, &never_interrupt)
            .expect("no fault");
    }
    network.end(&mut NoTap, &never_interrupt).expect("no fault");
    let results = Results::of(&file, &network, &begin);
    (network, results)
}

/// All transfers are done, and each byte equals the byte sent.
fn assert_complete(results: &Results) {
    for it in &results.transfers {
        assert_eq!(it.outcome, Outcome::Done, "{it:?}");
        assert_eq!(it.answered, it.requests, "{it:?}");
        assert_eq!(
            it.request.sent_digest, it.request.delivered_digest,
            "{it:?}"
        );
        assert_eq!(
            it.response.sent_digest, it.response.delivered_digest,
            "{it:?}"
        );
    }
    let pages = &results.transfers[0];
    assert_eq!(
        (pages.request.delivered, pages.response.delivered),
        (2_000, 1_000_000)
    );
    assert_ne!(pages.request.sent_digest, pages.response.sent_digest);
}

fn line<'a>(results: &'a Results, from: &str) -> &'a npsim_network_file::results::LineResult {
    let mut lines = results.lines.iter();
    lines
        .find(|line| line.link == "far" && line.from == from)
        .expect("a line")
}

/// The results, which are the same with all these threads and steps.
fn equal(text: &str, others: &[(usize, Time)]) -> Results {
    let (_, one) = ran(text, 1, 4 * SECOND);
    let written = serde_json::to_string(&one).expect("JSON");
    for &(threads, step) in others {
        let (_, other) = ran(text, threads, step);
        let other = serde_json::to_string(&other).expect("JSON");
        assert_eq!(other, written, "{threads} threads in steps of {step} ps");
    }
    one
}

/// The results, which do not depend on steps.
fn alike(text: &str) -> Results {
    equal(text, &[(1, 77 * MILLISECOND + 123)])
}

#[test]
fn transfer_crosses_link_and_router_model() {
    let link = format!(
        "{HOSTS}[[link]]\nname = \"far\"\nbetween = [\"client\", \"server\"]\nrate = \"100Mbps\"\ndelay = \"1ms\"\n"
    );
    assert_complete(&alike(&link));
    assert_complete(&alike(&model("")));
}

#[test]
fn transfer_crosses_forwarder_with_arp() {
    let results = alike(&chip("forward/arp.toml", ""));
    assert_complete(&results);
    // The core answered ARP requests of the client and the server, and sent requests for both.
    assert_eq!(results.routers[0].strange, 0);
}

#[test]
fn transfer_crosses_forwarder_without_arp() {
    assert_complete(&ran(&chip("forward/npsim.toml", ""), 1, 4 * SECOND).1);
}

#[test]
fn transfer_crosses_standard_and_xcp_routers() {
    for system in ["router/npsim.toml", "xcp/split.toml"] {
        let router = format!("system = \"../../microcode/{system}\"\n{REST}");
        let text = between(&router, ["r:0", "r:1"], "");
        assert_complete(&alike(&text));
    }
}

#[test]
fn transfer_over_two_chips_does_not_depend_on_threads() {
    let system = "system = \"../../microcode/forward/arp.toml\"";
    let far = format!(
        r#"loss = {{ forward = 0.01, back = 0.01 }}
[[router]]
name = "q"
system = "../../microcode/router/npsim.toml"
{REST}
[[link]]
between = ["r:1", "q:0"]
rate = "100Mbps"
delay = "1ms"
"#
    );
    let text = between(system, ["r:0", "q:1"], &far).replace("4s", "12s");
    let results = equal(&text, &[(2, 12 * SECOND), (4, 77 * MILLISECOND + 123)]);
    assert_complete(&results);
    assert_eq!(results.routers.len(), 2);
}

#[test]
fn a_transfer_survives_loss() {
    for text in [model, |far: &str| chip("forward/arp.toml", far)] {
        let results = alike(&text("loss = { forward = 0.01, back = 0.01 }\n").replace("4s", "20s"));
        assert_complete(&results);
        assert!(line(&results, "server").lost > 0);
    }
}

#[test]
fn a_transfer_survives_reordering() {
    let far = "reorder = { forward = 0.2, back = 0.2, by = \"3ms\" }\n";
    let (_, plain) = ran(&model(""), 1, 4 * SECOND);
    let results = alike(&model(far).replace("4s", "20s"));
    assert_complete(&results);
    // Overtaken packets are taken for lost and retransmitted.
    let packets = |results: &Results| line(results, "server").packets;
    assert!(packets(&results) > packets(&plain), "{}", packets(&results));
    let took = |results: &Results| results.transfers[0].completion_s.expect("done");
    assert!(took(&results) > took(&plain));
}

#[test]
fn a_transfer_survives_a_link_outage() {
    let far = "down = [[\"50ms\", \"700ms\"]]\n";
    for text in [model, |far: &str| chip("forward/arp.toml", far)] {
        let results = alike(&text(far).replace("4s", "20s"));
        assert_complete(&results);
        let took = results.transfers[0].completion_s.expect("done");
        assert!(took > 0.7, "{took}");
        let lost = results.lines.iter().map(|line| line.lost).sum::<u64>();
        assert!(lost > 0);
    }
}

#[test]
fn outage_loses_only_frames_sent_during_it() {
    let text = r#"
name = "t"
until = "1s"
[[host]]
name = "a"
address = "10.0.0.1"
[[host]]
name = "b"
address = "10.0.0.2"
[[link]]
name = "far"
between = ["a", "b"]
rate = "10Mbps"
delay = "1ms"
down = [["100ms", "200ms"], ["500ms", "501ms"]]
[[flow]]
from = "a"
to = "b"
transport = "udp"
packet = 1000
rate = "800kbps"
"#;
    // A packet each 10 ms.
    let (_, results) = ran(text, 1, SECOND);
    assert_eq!(line(&results, "a").lost, 11);
    assert_eq!(results.flows[0].delivered, (101 - 11 - 1) * 972);
}

#[test]
fn reordering_delays_packets_without_loss() {
    let text = r#"
name = "t"
until = "10s"
[[host]]
name = "a"
address = "10.0.0.1"
[[host]]
name = "b"
address = "10.0.0.2"
[[link]]
name = "far"
between = ["a", "b"]
rate = "10Mbps"
delay = "1ms"
reorder = { forward = 0.25, by = "5ms" }
[[flow]]
from = "a"
to = "b"
transport = "rcp"
bytes = 500000
"#;
    let (_, late) = ran(text, 1, SECOND);
    let (_, plain) = ran(&text.replace("0.25", "0.0"), 1, SECOND);
    assert_eq!(line(&late, "a").lost, 0);
    assert_ne!(late.flows[0].completion_s, plain.flows[0].completion_s);
    assert!(plain.flows[0].completion_s.is_some());
}

#[test]
fn an_idle_stack_costs_no_events() {
    let (network, results) = ran(&model("").replace("4s", "60s"), 1, 60 * SECOND);
    assert_complete(&results);
    assert_eq!(network.next_at(), Time::MAX);
}

#[test]
fn stack_matches_the_built_in_tcp_in_throughput() {
    let far = "queue = { limit = \"100 packets\" }\nqueue_back = { limit = \"100 packets\" }\n";
    let text = model(far)
        .replace("4s", "20s")
        .replace("100Mbps", "10Mbps")
        .replace("requests = 10\ngap = \"3ms\"", "requests = 1")
        .replace(
            "response = \"100KB\"",
            "response = \"4MB\"\nbuffer = 100000",
        );
    let own = r#"
[[host]]
name = "s"
address = "10.2.0.11"
[[host]]
name = "d"
address = "10.1.0.11"
"#;
    let (_, results) = ran(&text, 1, SECOND);
    let stack = results.transfers[0].completion_s.expect("done");
    let flow = "[[flow]]\nfrom = \"s\"\nto = \"d\"\ntransport = \"reno\"\nbytes = 4000000\nhost = { window_limit = 100000 }\n";
    let own = format!(
        "{}{own}{flow}",
        &text[..text.find("[[transfer]]").expect("one")]
    ) + &text[text.find("[[router]]").expect("one")..];
    let own = own
        .replace("\"client\", \"r\"", "\"d\", \"r\"")
        .replace("\"r\", \"server\"", "\"r\", \"s\"");
    let (_, results) = ran(&own, 1, SECOND);
    let own = results.flows[0].completion_s.expect("done");
    assert!(
        (0.8..1.25).contains(&(stack / own)),
        "{stack} s, and {own} s"
    );
    // The line could transfer it in 3.2 s.
    assert!(stack < 3.2 / 0.85, "{stack}");
}

#[test]
fn group_transfers_run_pairwise_with_distinct_data() {
    let text = model("")
        .replace("name = \"client\"", "name = \"client\"\ncount = 3")
        .replace("requests = 10", "requests = 2\nstep = \"1ms\"");
    let (_, results) = ran(&text, 1, 4 * SECOND);
    assert_eq!(results.transfers.len(), 3);
    let mut digests = Vec::new();
    for (number, it) in results.transfers.iter().enumerate() {
        assert_eq!(it.name, format!("pages{number}"));
        assert_eq!(it.outcome, Outcome::Done, "{it:?}");
        assert!((it.start_s - number as f64 / 1e3).abs() < 1e-9);
        assert_eq!(it.response.sent_digest, it.response.delivered_digest);
        digests.push(it.response.sent_digest.clone());
    }
    digests.dedup();
    assert_eq!(digests.len(), 3);
}

#[test]
fn payload_bytes_depend_on_the_seed() {
    let (_, one) = ran(&model(""), 1, 4 * SECOND);
    let other = model("").replace("until =", "seed = 2\nuntil =");
    let (_, other) = ran(&other, 1, 4 * SECOND);
    assert_complete(&other);
    assert_ne!(
        one.transfers[0].response.sent_digest,
        other.transfers[0].response.sent_digest
    );
}

#[test]
fn snapshot_of_a_network_with_stacks_is_refused() {
    let mut network = network(&file(&model("")));
    network
        .run_to(MICROSECOND, &mut NoTap, &never_interrupt)
        .expect("no fault");
    let refused = network.snapshot().unwrap_err().to_string();
    assert!(refused.contains("`client` cannot be saved"), "{refused}");
}

#[test]
fn address_conflict_with_a_link_has_a_location() {
    // A host behind the chip that is a neighbour by the port's network.
    let text = chip("forward/arp.toml", "").replace("10.2.0.10", "10.1.7.7");
    let file = file(&text);
    let refused = systems(&file, &npsim_protocols::registry(), &assemble_project);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("test.toml:5:8: `client` takes `server` (10.1.7.7) for a host on its link, 10.1.0.0/16, and it is behind a router"), "{refused}");
}
