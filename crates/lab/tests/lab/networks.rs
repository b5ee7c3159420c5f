//! Sweeps over networks of hosts: every metric against what can be computed by hand.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use npsim_lab::points::points;
use npsim_lab::study::Study;

use crate::dumbbell::{DUMBBELL, bench, values};

/// Two datagram flows over the line, and a short connection on a line of its own.
const FLOWS: &str = r#"
[[host]]
name = "a"
address = "10.2.0.1"
[[host]]
name = "b"
address = "10.2.0.2"
[[link]]
name = "wire"
between = ["a", "b"]
rate = "8Mbps"
delay = "100ms"
queue = { limit = "endless" }

[[flow]]
name = "udp"
from = "s"
to = "d"
transport = "udp"
rate = "2Mbps"
packet = 1000
[[flow]]
name = "short"
from = "a"
to = "b"
transport = "sack"
start = "1s"
bytes = 960
packet = 1000
"#;

fn network() -> String {
    format!("{DUMBBELL}{FLOWS}")
}

/// A study of it with these metrics and further keys of its sweep.
fn study(metrics: &str, sweep: &str) -> String {
    format!("name = \"n\"\ntitle = \"t\"\n{metrics}\n[sweep.n]\nnetwork = \"net.toml\"\n{sweep}")
}

/// The values of all metrics, `NAME = "..."` of the keys after `measure`, over the window.
fn measured(metrics: &[(&str, &str)], sweep: &str) -> BTreeMap<String, Result<f64, String>> {
    let tables = metrics
        .iter()
        .map(|(name, keys)| format!("[metric.{name}]\n{keys}\n"));
    let text = study(&tables.collect::<String>(), sweep);
    let results = bench(&network()).run(&text, 1);
    let [cached] = results.points.as_slice() else {
        panic!("one point");
    };
    { metrics.iter() }
        .map(|(name, _)| {
            let value = results.reading(cached, name);
            ((*name).to_owned(), value)
        })
        .collect()
}

fn near(values: &BTreeMap<String, Result<f64, String>>, expected: &[(&str, f64, f64)]) {
    for (name, expected, within) in expected {
        let value = values[*name]
            .clone()
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(
            (value - expected).abs() <= *within,
            "{name}: {value}, not {expected}"
        );
    }
}

fn refused(text: &str) -> String {
    let bench = bench(&network());
    let study = match Study::parse("study", text) {
        Err(problem) => return problem.to_string(),
        Ok(study) => study,
    };
    if let Err(problem) = points(&study, false) {
        return problem.to_string();
    }
    bench.with(text, false, 1, |campaign, points| {
        let cached = campaign.cached(points);
        cached.expect_err("no mistake was found").to_string()
    })
}

#[test]
fn datagram_rates_shares_and_queues_match_hand_computation() {
    // 6 and 9 Mb/s arrive at a line of 10: 5 Mb/s of packets of 8000 bits are dropped, 625 a
    // second, and 50 packets of 1000 bytes wait. Of a packet of 1000 bytes, 972 are data.
    let metrics = [
        ("goodput", "measure = \"goodput\"\nflow = \"udp*\""),
        ("all", "measure = \"goodput\""),
        (
            "least",
            "measure = \"goodput\"\nflow = \"udp\"\nstatistic = \"min\"",
        ),
        ("first", "measure = \"share\"\nflow = \"udp0\""),
        ("jain", "measure = \"jain\"\nflow = [\"udp0\", \"udp1\"]"),
        ("used", "measure = \"utilisation\"\nlink = \"line\""),
        ("back", "measure = \"utilisation\"\nlink = \"line back\""),
        ("queue", "measure = \"queue\"\nlink = \"line\""),
        (
            "longest",
            "measure = \"queue\"\nlink = \"line\"\nstatistic = \"max\"",
        ),
        ("drops", "measure = \"drops\"\nlink = \"line\""),
        (
            "each",
            "measure = \"drops\"\nlink = \"line\"\nrtt = \"200ms\"",
        ),
        (
            "second",
            "measure = \"drops\"\nlink = \"line\"\nper = \"second\"",
        ),
        ("lost", "measure = \"loss-share\"\nflow = \"udp*\""),
        (
            "counted",
            "measure = \"count\"\nof = \"lines.line.drops\"\nper = \"second\"",
        ),
        (
            "cov",
            "measure = \"cov\"\ndelta = \"400ms\"\nof = \"sum\"\nflow = \"udp*\"",
        ),
    ];
    let sweep = "set = { \"flow.udp.rate\" = \"7500kbps\" }\nwindow = { warm_up = \"2s\", measure = \"8s\" }";
    let values = measured(&metrics, sweep);
    near(
        &values,
        &[
            ("goodput", 9.72, 0.01),
            ("all", 9.72, 0.01),
            ("used", 100.0, 1e-6),
            ("back", 0.0, 1e-9),
            ("queue", 50.0, 1.0),
            ("longest", 50.0, 1e-9),
            ("drops", 5_000.0, 3.0),
            ("each", 125.0, 0.1),
            ("second", 625.0, 0.5),
            ("counted", 625.0, 0.5),
            ("lost", 100.0 / 3.0, 0.05),
            ("cov", 0.0, 2e-3),
        ],
    );
    // However the FIFO divides the line, these three agree.
    let get = |name: &str| values[name].clone().expect(name);
    let share = get("first") / 100.0;
    assert!((get("jain") - 1.0 / (2.0 * (share.powi(2) + (1.0 - share).powi(2)))).abs() < 1e-9);
    assert!((get("least") - get("goodput") * share.min(1.0 - share)).abs() < 1e-3);
}

#[test]
fn underloaded_line_has_no_losses_and_equal_flow_shares() {
    let metrics = [
        ("first", "measure = \"share\"\nflow = \"udp0\""),
        ("jain", "measure = \"jain\"\nflow = \"udp\""),
        ("used", "measure = \"utilisation\"\nlink = \"line\""),
        ("drops", "measure = \"drops\"\nlink = \"line\""),
        ("lost", "measure = \"loss-share\"\nflow = \"udp\""),
        (
            "cov",
            "measure = \"cov\"\ndelta = \"400ms\"\nflow = \"udp\"",
        ),
    ];
    let sweep = "window = { warm_up = \"2s\", measure = \"8s\" }";
    near(
        &measured(&metrics, sweep),
        &[
            ("first", 50.0, 1e-9),
            ("jain", 1.0, 1e-12),
            ("used", 40.0, 0.01),
            ("drops", 0.0, 0.0),
            ("lost", 0.0, 0.0),
            ("cov", 0.0, 1e-9),
        ],
    );
}

#[test]
fn short_connection_times_match_round_trips() {
    // 200 ms of handshake, then 1000 bytes at 8 Mb/s and the ACK's way: 201 ms. Headers of the
    // handshake and of the ACK take some 40 us each.
    let metrics = [
        ("done", "measure = \"completion\"\nflow = \"short\""),
        (
            "rtt",
            "measure = \"round-trip\"\nflow = \"short\"\nstatistic = \"max\"",
        ),
        (
            "window",
            "measure = \"window\"\nflow = \"short\"\ndelta = \"50ms\"\nstatistic = \"min\"",
        ),
    ];
    let set = "set = { \"flow.short.host\" = \"{ initial_window = 1 }\" }\n";
    let values = measured(
        &metrics,
        &format!("{set}window = {{ warm_up = \"1500ms\", measure = \"8s\" }}"),
    );
    near(&values, &[("done", 0.401, 0.0003), ("rtt", 200.2, 0.3)]);
    // Between the handshake and the first ACK, it is the initial window.
    let first = measured(
        &metrics[2..],
        "set = { \"flow.short.host.initial_window\" = 3 }\nwindow = { warm_up = \"1250ms\", measure = \"100ms\" }",
    );
    near(&first, &[("window", 2.88, 1e-9)]);
    let scaled = measured(
        &metrics,
        &format!(
            "{}window = {{ warm_up = \"1500ms\", measure = \"8s\" }}",
            set.replace("{ \"flow", "{ scale = 20, \"flow")
        ),
    );
    for (name, value) in &values {
        let (value, scaled) = (
            value.as_ref().expect(name),
            scaled[name].as_ref().expect(name),
        );
        assert!(
            (value - scaled).abs() < 1e-4 * value,
            "{name}: {value}, scaled {scaled}"
        );
    }
    let late = measured(&metrics[..1], "window = { measure = \"1200ms\" }");
    let why = late["done"].clone().expect_err("not done");
    assert!(why.contains("`short` was not done"), "{why}");
}

#[test]
fn late_flows_settle_late_and_vary() {
    // The second half of the flows begins at 4 s: 20 % of the line, then 40 %.
    let metrics = [
        (
            "settled",
            "measure = \"settling\"\nof = \"utilisation\"\nlink = \"line\"\ndelta = \"500ms\"",
        ),
        (
            "late",
            "measure = \"settling\"\nof = \"goodput\"\nflow = \"udp1\"\ndelta = \"500ms\"\nwithin = 0.05",
        ),
        (
            "early",
            "measure = \"settling\"\nof = \"goodput\"\nflow = \"udp0\"\ndelta = \"500ms\"\nwithin = 0.05",
        ),
        (
            "queue",
            "measure = \"settling\"\nof = \"queue\"\nlink = \"line\"\ndelta = \"500ms\"",
        ),
        ("each", "measure = \"cov\"\nflow = \"udp1\"\ndelta = \"1s\""),
        (
            "sum",
            "measure = \"cov\"\nflow = \"udp\"\nof = \"sum\"\ndelta = \"1s\"",
        ),
    ];
    let sweep = "set = { \"flow.udp.step\" = \"4s\" }\nwindow = { measure = \"10s\" }";
    near(
        &measured(&metrics, sweep),
        &[
            ("settled", 4.0, 1e-9),
            // The first half second lacks the packets in flight on the line's 50 ms.
            ("late", 4.5, 1e-9),
            ("early", 0.5, 1e-9),
            // Packets of two flows meet before the line.
            ("queue", 4.0, 1e-9),
            // 0 in four tenths of the time, or 2 to 4: sqrt(0.24) / 0.6 and sqrt(0.24) / 1.6.
            ("each", 0.8165, 0.01),
            ("sum", 0.3062, 0.01),
        ],
    );
}

/// A chip counts from the beginning of the run; a window contains the counts made within it, whatever other windows the
/// run has.
#[test]
fn chip_counts_cover_the_window_only() {
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
    let network = format!(
        r#"name = "n"
until = "4ms"
[[host]]
name = "a"
address = "10.0.0.1"
[[host]]
name = "b"
address = "10.1.0.1"
[[router]]
name = "r"
system = {:?}
[[link]]
between = ["a", "r:0"]
rate = "1Gbps"
delay = "5us"
[[link]]
between = ["r:1", "b"]
rate = "1Gbps"
delay = "5us"
[[flow]]
from = "a"
to = "b"
transport = "udp"
rate = "80Mbps"
packet = 1000
"#,
        system.display().to_string()
    );
    let metrics = "[metric.cycles]\nmeasure = \"count\"\nof = \"routers.*.node.chip.cycles\"\n\
                   [metric.packets]\nmeasure = \"count\"\nof = \"routers.*.node.packets.offered\"\nper = \"second\"\n";
    let windows = |until: &str| {
        let bench = bench(&network);
        let axis =
            format!("[[sweep.n.axis]]\nname = \"time\"\nevery = \"1ms\"\nuntil = \"{until}\"\n");
        let results = bench.run(&study(metrics, &axis), 2);
        (values(&results, "cycles"), values(&results, "packets"))
    };
    let (cycles, packets) = windows("4ms");
    assert_eq!(cycles, [600_000.0; 4], "1 ms at 600 MHz");
    assert!(
        packets
            .iter()
            .all(|rate| (rate - 10_000.0).abs() <= 1_000.0),
        "{packets:?}"
    );
    let (first, _) = windows("2ms");
    assert_eq!(first, cycles[..2]);
}

#[test]
fn windows_of_one_run_equal_separate_runs() {
    let metrics = "[metric.used]\nmeasure = \"utilisation\"\nlink = \"line\"\n\
                   [metric.longest]\nmeasure = \"queue\"\nlink = \"line\"\nstatistic = \"max\"\n\
                   [metric.cov]\nmeasure = \"cov\"\ndelta = \"250ms\"\nflow = \"udp\"\nof = \"sum\"\n";
    let base = "set = { \"flow.udp.step\" = \"3500ms\", \"flow.udp.rate\" = \"7Mbps\" }\n";
    let axis = format!(
        "{base}[[sweep.n.axis]]\nname = \"time\"\nunit = \"s\"\nevery = \"1s\"\nuntil = \"9s\"\nquick = [5]\n"
    );
    let bench = bench(&network());
    let text = study(metrics, &axis);
    let whole = bench.run(&text, 1);
    assert_eq!((whole.points.len(), whole.ran), (9, 9));
    let used = values(&whole, "used");
    for (second, used) in (1..).zip(&used) {
        let expected = match second {
            ..4 => 70.0,
            4 => continue,
            _ => 100.0,
        };
        assert!((used - expected).abs() < 0.3, "{second} s: {used}");
    }
    // A point that is run alone has the same key and result as beside others.
    let alone = crate::dumbbell::bench(&network());
    let one = alone.with(&text, true, 1, |campaign, points| {
        campaign
            .run(points, &AtomicBool::new(false), &())
            .expect("it runs")
    });
    assert_eq!(one.points.len(), 1);
    let fifth = &whole.points[4];
    assert_eq!(one.points[0].key, fifth.key);
    assert_eq!(one.outcome(&one.points[0]), whole.outcome(fifth));
    let two = alone.run(&text, 2);
    assert_eq!(two.ran, 8, "one was there");
    assert_eq!(two.outcomes, whole.outcomes);
    // A crossing axis makes separate runs, each with all its windows.
    let across = format!(
        "{axis}[[sweep.n.axis]]\nname = \"limit\"\nkey = \"link.line.queue.limit\"\nvalues = [\"50 packets\", \"20 packets\"]\n"
    );
    let both = bench.run(&study(metrics, &across), 2);
    assert_eq!((both.points.len(), both.ran), (18, 9));
    let longest = values(&both, "longest");
    assert!(
        (longest[8] - 50.0).abs() < 1e-9 && (longest[17] - 20.0).abs() < 1e-9,
        "{longest:?}"
    );
}

#[test]
fn network_key_ignores_comments() {
    let metrics = "[metric.used]\nmeasure = \"utilisation\"\nlink = \"line\"\n";
    let key = |network: &str, sweep: &str| {
        let bench = bench(network);
        bench.with(&study(metrics, sweep), false, 1, |campaign, points| {
            let cached = campaign
                .cached(points)
                .unwrap_or_else(|problems| panic!("{problems}"));
            cached[0].key.clone()
        })
    };
    let network = network();
    let plain = key(&network, "");
    assert_eq!(key(&format!("# why\n{network}"), ""), plain);
    assert_eq!(
        key(&network, "set = { \"flow.udp.rate\" = \"2000kbps\" }"),
        plain
    );
    for other in [
        "set = { \"flow.udp.rate\" = \"3Mbps\" }",
        "set = { \"link.line.queue.kind\" = \"red\" }",
        "seed = 7",
        "window = { measure = \"5s\" }",
    ] {
        assert_ne!(key(&network, other), plain, "{other}");
    }
}

#[test]
fn network_mistakes_are_reported_before_anything_runs() {
    let used = "[metric.used]\nmeasure = \"utilisation\"\nlink = \"line\"\n";
    for (metrics, sweep, expected) in [
        (
            used,
            "set = { \"flow.upd.rate\" = \"3Mbps\" }",
            "did you mean `flow.udp`?",
        ),
        (
            used,
            "set = { \"flow.udp.rat\" = \"3Mbps\" }",
            "did you mean `rate`?",
        ),
        (
            used,
            "set = { \"flow.udp.rate\" = \"3MB\" }",
            "`3MB` is not a rate",
        ),
        (
            used,
            "set = { \"server.x.y\" = 1 }",
            "no `server` in a network file",
        ),
        (
            used,
            "set = { hops = 3 }",
            "a network has the routers of its file",
        ),
        (used, "system = \"x\"", "it needs either a `system`"),
        (used, "allow = [\"x\"]", "`allow` applies to a `system`"),
        (
            used,
            "window = { warm_up = \"detected\" }",
            "given here, not detected",
        ),
        (
            used,
            "window = { warm_up = \"20s\" }",
            "nothing is measured",
        ),
        (used, "set = { window = \"3s\" }", "is not a window"),
        (
            used,
            "[[sweep.n.axis]]\nevery = \"1s\"\nuntil = \"1ms\"",
            "make 0 windows",
        ),
        (
            used,
            "[[sweep.n.axis]]\nevery = \"1s\"\nuntil = \"3s\"\nkey = \"seed\"",
            "either `key`",
        ),
        (
            used,
            "[[sweep.n.axis]]\nkey = \"seed\"\nvalues = [1]\nuntil = \"3s\"",
            "belongs to `every`",
        ),
        (
            "[metric.used]\nmeasure = \"utilisation\"\nlink = \"lin\"\n",
            "",
            "did you mean `line`?",
        ),
        (
            "[metric.g]\nmeasure = \"goodput\"\nflow = \"upd\"\n",
            "",
            "did you mean `udp`?",
        ),
        (
            "[metric.l]\nmeasure = \"latency\"\n",
            "",
            "`l` cannot be measured on a network",
        ),
        (
            "[metric.u]\nmeasure = \"utilisation\"\n",
            "",
            "`u` cannot be measured on a network",
        ),
    ] {
        let message = refused(&study(metrics, sweep));
        assert!(message.contains(expected), "{sweep}: {message}");
    }
    let chip = |sweep: &str| {
        let text = format!("name = \"n\"\ntitle = \"t\"\n{used}[sweep.c]\nsystem = \"x\"\n{sweep}");
        Study::parse("study", &text)
            .expect_err("a mistake")
            .to_string()
    };
    assert!(chip("").contains("`used` cannot be measured on a chip"));
}
