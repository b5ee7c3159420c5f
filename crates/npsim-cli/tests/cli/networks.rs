//! `npsim network`: hosts that react.

use npsim_net::capture::Capture;
use serde_json::Value;

use crate::harness::{Dir, root};

fn shipped(name: &str) -> String {
    let path = root().join("traces/networks").join(name);
    path.canonicalize().expect("a file").display().to_string()
}

fn stats(dir: &Dir, name: &str) -> Value {
    serde_json::from_slice(&dir.read(name)).expect("JSON")
}

#[test]
fn xcp_fills_the_line_without_a_queue_and_tcp_with_one() {
    let dir = Dir::new();
    let run = |name: &str, out: &str| {
        let file = shipped(name);
        dir.npsim(&format!("network {file} --stats {out}"))
            .expect(0, &["Jain's index", "bottleneck"]);
        stats(&dir, out)
    };
    let (tcp, xcp) = (
        run("dumbbell.toml", "tcp.json"),
        run("dumbbell-xcp.toml", "xcp.json"),
    );
    let line = |stats: &Value| {
        let lines = stats["lines"].as_array().expect("lines").iter();
        let mut watched = lines.filter(|line| line["watched"] == true);
        watched.next().expect("the bottleneck").clone()
    };
    for stats in [&tcp, &xcp] {
        assert_eq!(stats["schema"], "npsim-network-1");
        assert!(line(stats)["utilisation"].as_f64().expect("a share") > 0.98);
        let shares = stats["flows"].as_array().expect("flows").iter();
        let sum: f64 = shares
            .map(|flow| flow["share"].as_f64().expect("a share"))
            .sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    let queue = |stats| line(stats)["mean_queue_bytes"].as_f64().expect("bytes");
    assert!(queue(&tcp) > 500_000.0, "{}", queue(&tcp));
    assert!(queue(&xcp) < 20_000.0, "{}", queue(&xcp));
    assert_eq!(line(&xcp)["drops"], 0);
    assert!(xcp["jain"].as_f64().expect("an index") > 0.99);
}

#[test]
fn fairness_counts_only_started_flows() {
    let network = "name = \"n\"\nuntil = \"1s\"\n\
        [[host]]\nname = \"a\"\naddress = \"10.0.0.1\"\n\
        [[host]]\nname = \"b\"\naddress = \"10.0.0.2\"\n\
        [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"1ms\"\n";
    let flow = |start: &str| {
        format!(
            "[[flow]]\nname = \"at-{start}\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"reno\"\nstart = \"{start}\"\n"
        )
    };
    let text = [network, &flow("0s"), &flow("5s")].concat();
    let dir = Dir::new().with("n.toml", text);
    dir.npsim("network n.toml --stats s.json")
        .expect(0, &["Jain's index 1.000"]);
    assert_eq!(stats(&dir, "s.json")["jain"], 1.0);
    dir.npsim("network n.toml --until 1ns --stats s.json")
        .expect(0, &["nothing was delivered"]);
    assert_eq!(stats(&dir, "s.json")["jain"], Value::Null);
    let both = [network, &flow("0s"), &flow("999ms")].concat();
    let dir = Dir::new().with("n.toml", both);
    dir.npsim("network n.toml --stats s.json").expect(0, &[]);
    let jain = stats(&dir, "s.json")["jain"].as_f64();
    assert!(jain < Some(0.6), "{jain:?}");
}

#[test]
fn outputs_are_reproducible_and_depend_on_the_seed() {
    let dir = Dir::new();
    let lossy = std::fs::read_to_string(shipped("dumbbell.toml")).expect("a file");
    let lossy = lossy.replace("limit = \"2bdp\"", "limit = \"0.5bdp\"");
    // Measured from the beginning, as in captures.
    let lossy = lossy.replace("\nfrom = \"30s\"", "\n");
    let lossy = lossy.replace(
        "delay = \"248ms\"",
        "delay = \"248ms\"\nloss = { forward = 0.001 }",
    );
    let dir = dir.with("net.toml", lossy);
    let run = |name: &str, seed: u64| {
        let command = format!(
            "network net.toml --until 40s --seed {seed} --stats {name}.json --series {name}.csv --sample-every 1s --capture bottleneck={name}.pcap --quiet"
        );
        assert_eq!(dir.npsim(&command).expect(0, &[]).out, "");
        ["json", "csv", "pcap"].map(|ending| dir.read(&format!("{name}.{ending}")))
    };
    let (one, again, other) = (run("one", 1), run("again", 1), run("other", 2));
    assert!(one == again);
    assert!(one[0] != other[0]);
    let csv = String::from_utf8(one[1].clone()).expect("text");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("time_s,of,name,quantity,value"));
    let moments: Vec<f64> = lines
        .filter(|line| line.contains(",link,bottleneck,queue_packets,"))
        .map(|line| {
            line.split(',')
                .next()
                .expect("a time")
                .parse()
                .expect("a number")
        })
        .collect();
    assert_eq!(moments, (0..=40).map(f64::from).collect::<Vec<_>>());
    let both = "network net.toml --until 40s --seed 1 --quiet --capture bottleneck=all.pcapng \
                --capture trunk=all.pcapng --capture trunk=trunk.pcap";
    dir.npsim(both).expect(0, &[]);
    let all = dir.read("all.pcapng");
    let of = |text: &str| {
        all.windows(text.len())
            .filter(|it| *it == text.as_bytes())
            .count() as u64
    };
    let capture = Capture::open(&dir.path("all.pcapng")).expect("a capture");
    let names = [
        "bottleneck from r1",
        "bottleneck from bottleneck:switch",
        "trunk from left",
        "trunk from r1",
    ];
    assert_eq!(capture.interfaces, names);
    let one = stats(&dir, "one.json");
    let lines = one["lines"].as_array().expect("lines");
    let counts = |key: &str| -> u64 {
        lines
            .iter()
            .map(|line| line[key].as_u64().expect("a number"))
            .sum()
    };
    assert!(counts("lost") > 0 && counts("drops") > 0);
    assert_eq!(of("lost on the line"), counts("lost"));
    assert_eq!(of("dropped: the queue is full"), counts("drops"));
    let capture = Capture::open(&dir.path("one.pcap")).expect("a capture");
    assert!(capture.frames.len() > 10_000, "{}", capture.frames.len());
}

#[test]
fn page_draws_the_measured_series() {
    let dir = Dir::new();
    let run = |file: &str, rest: &str| {
        let command = format!("network {} {rest} --quiet", shipped(file));
        dir.npsim(&command).expect(0, &[]);
        String::from_utf8(dir.read("page/index.html")).expect("text")
    };
    let plain = run(
        "dumbbell.toml",
        "--until 60s --report page --sample-every 500ms",
    );
    assert_eq!(
        run(
            "dumbbell.toml",
            "--until 60s --report page --sample-every 500ms"
        ),
        plain
    );
    for text in [
        "<h1>dumbbell</h1>",
        "bottleneck: queue",
        "bottleneck: utilisation",
        "Congestion window",
        "data-name=\"tcp3\"",
        "<th scope=\"row\">bottleneck</th>",
    ] {
        assert!(plain.contains(text), "{text}");
    }
    assert!(!plain.contains("Microcode routers"));
    let chip = run(
        "dumbbell-chip.toml",
        "--set until=4s --set from=1s --report page",
    );
    for text in ["Microcode routers", "<th scope=\"row\">r1</th>"] {
        assert!(chip.contains(text), "{text}");
    }
    dir.npsim("network net.toml --report here --sample-every 0s")
        .expect(2, &["--sample-every"]);
}

#[test]
fn timeline_has_flows_above_chip_contexts() {
    let dir = Dir::new();
    let plain = format!("network {} --until 60s --quiet", shipped("dumbbell.toml"));
    dir.npsim(&format!("{plain} --timeline tcp.json"))
        .expect(0, &[]);
    let chip = format!(
        "network {} --set until=2s --set from=1s --quiet --capture bottleneck=NAME.pcap --stats NAME.json",
        shipped("dumbbell-xcp-chip.toml")
    );
    for (name, options) in [
        ("none", ""),
        (
            "one",
            " --threads 1 --timeline one.tl --window 1508ms..1509ms",
        ),
        (
            "two",
            " --threads 2 --timeline two.tl --window 1508ms..1509ms",
        ),
    ] {
        dir.npsim(&(chip.replace("NAME", name) + options))
            .expect(0, &[]);
        for ending in ["json", "pcap"] {
            let of = |name| dir.read(&format!("{name}.{ending}"));
            assert!(of("none") == of(name), "{name}.{ending}");
        }
    }
    assert!(dir.read("one.tl") == dir.read("two.tl"));
    let events = |text: &[u8]| -> Vec<Value> {
        let timeline: Value = serde_json::from_slice(text).expect("JSON");
        timeline["traceEvents"].as_array().expect("events").clone()
    };
    let names = |events: &[Value], what: &str| -> Vec<(u64, String)> {
        { events.iter() }
            .filter(|event| event["name"] == what)
            .map(|event| {
                let name = event["args"]["name"].as_str().expect("a name");
                (event["pid"].as_u64().expect("a number"), name.to_owned())
            })
            .collect()
    };
    let tcp = events(&dir.read("tcp.json"));
    let tracks = names(&tcp, "thread_name");
    for flow in ["tcp0", "tcp1", "tcp2", "tcp3"] {
        assert!(tracks.contains(&(1, flow.to_owned())), "{tracks:?}");
    }
    // Losses, retransmissions and window changes are present, each at its flow.
    for name in [
        "opening",
        "slow start",
        "congestion avoidance",
        "fast recovery",
        "packet lost",
        "sent again",
        "tcp0: window, bytes",
        "tcp0: round-trip time, ns",
        "bottleneck: queue, bytes",
    ] {
        assert!(tcp.iter().any(|event| event["name"] == name), "{name}");
    }
    let begins = tcp.iter().filter(|event| event["ph"] == "B").count();
    let ends = tcp.iter().filter(|event| event["ph"] == "E").count();
    assert!(begins > 8 && begins == ends, "{begins} {ends}");

    let chip = events(&dir.read("one.tl"));
    let groups = names(&chip, "process_name");
    assert!(groups.contains(&(1, "flows".to_owned())), "{groups:?}");
    let below: Vec<_> = { groups.iter() }.filter(|(pid, _)| *pid > 100).collect();
    assert!(
        below.iter().any(|(_, name)| name == "r1: ports"),
        "{groups:?}"
    );
    let microengines = |name: &str| name.starts_with("r1: microengine ");
    assert!(
        below.iter().any(|(_, name)| microengines(name)),
        "{groups:?}"
    );
    // The chip's time is the file's divided by the scale, 20: 75.4 ms to 75.45 ms.
    let times = { chip.iter() }
        .filter(|event| event["pid"].as_u64().is_some_and(|pid| pid > 100))
        .filter_map(|event| event["ts"].as_f64());
    let (mut first, mut last, mut count) = (f64::MAX, 0.0_f64, 0);
    for time in times {
        (first, last, count) = (first.min(time), last.max(time), count + 1);
    }
    assert!(
        count > 100 && first >= 75_400.0 && last <= 75_450.0,
        "{first} {last} {count}"
    );
}

#[test]
fn errors_leave_no_files() {
    let file = std::fs::read_to_string(shipped("dumbbell.toml")).expect("a file");
    let dir = Dir::new().with("net.toml", &file).with(
        "wrong.toml",
        file.replace("from = \"s\"", "from = \"left\""),
    );
    for (command, expected) in [
        ("network wrong.toml --stats s.json", "`left` is not a host"),
        ("network none.toml", "cannot read `none.toml`"),
        (
            "network net.toml --capture botleneck=b.pcap",
            "did you mean `bottleneck`?",
        ),
        (
            "network net.toml --until 10s --series s.csv",
            "nothing would be measured",
        ),
        (
            "network net.toml --stats gone/s.json",
            "cannot write `gone/s.json`",
        ),
    ] {
        dir.npsim(command).expect(1, &[expected]);
    }
    dir.npsim("network net.toml --until 10")
        .expect(2, &["is not a time of a network"]);
    dir.npsim("network net.toml --sample-every 1s")
        .expect(2, &["--series"]);
    assert_eq!(dir.files(), ["net.toml", "wrong.toml"]);
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_reported_for_a_series() {
    let dir = Dir::new();
    dir.npsim(&format!(
        "network {} --series /dev/full",
        shipped("dumbbell.toml")
    ))
    .expect(1, &["cannot write `/dev/full`: No space left"]);
}

#[test]
fn settings_change_only_the_named_keys() {
    let dir = Dir::new().with(
        "net.toml",
        std::fs::read_to_string(shipped("dumbbell.toml")).expect("a file"),
    );
    let run = |options: &str| {
        let command = format!("network net.toml --until 40s --stats - {options}");
        let done = dir.npsim(&command).expect(0, &[]);
        serde_json::from_str::<Value>(&done.out).expect("JSON")
    };
    let plain = run("");
    let same = run("--set seed=1 --set link.bottleneck.queue.kind=fifo");
    assert_eq!(plain, same);
    let two =
        run("--set host.*.count=2 --set link.bottleneck.rate=5Mbps --set flow.tcp.host.min_rto=1s");
    assert_eq!(two["flows"].as_array().expect("flows").len(), 2);
    let rate = |stats: &Value| {
        let lines = stats["lines"].as_array().expect("lines").iter();
        let mut named = lines.filter(|line| line["name"] == "bottleneck");
        named.next().expect("the bottleneck")["rate_bps"].as_f64()
    };
    assert_eq!((rate(&plain), rate(&two)), (Some(1e7), Some(5e6)));
    for (setting, expected) in [
        (
            "link.botleneck.rate=5Mbps",
            &[
                "no [[link]] is called `botleneck`",
                "did you mean `link.bottleneck`?",
            ][..],
        ),
        (
            "flow.tcp.packt=500",
            &["no `packt` in `flow.tcp`", "did you mean `packet`?"],
        ),
        (
            "flow.tcp.packet=many",
            &["`flow.tcp.packet=many` cannot be set"],
        ),
        ("pacer.x.rate=1", &["no `pacer` in a network file"]),
        ("host.0=3", &["the path ends at a whole table"]),
        (
            "link.bottleneck.rate=5MB",
            &["net.toml with settings:", "`5MB` is not a rate"],
        ),
        (
            "host.s.count=3",
            &["net.toml with settings:", "3 and 4 hosts"],
        ),
    ] {
        dir.npsim(&format!("network net.toml --set {setting}"))
            .expect(1, expected);
    }
    dir.npsim("network net.toml --set rate")
        .expect(2, &["has no `=`"]);
}

const STACKS: &str = r#"
name = "n"
until = "2s"
[[host]]
name = "a"
kind = "stack"
address = "10.0.0.1"
[[host]]
name = "b"
kind = "stack"
address = "10.0.0.2"
[[link]]
name = "wire"
between = ["a", "b"]
rate = "10Mbps"
delay = "1ms"
[[transfer]]
name = "page"
from = "a"
to = "b"
request = 100
response = "50KB"
requests = 3
"#;

#[test]
fn transfers_appear_in_every_output() {
    let dir = Dir::new().with("n.toml", STACKS);
    dir.npsim("network n.toml --stats s.json --series s.csv --report page --capture wire=w.pcap")
        .expect(
            0,
            &[
                "transfers    1 of 1 done; 150,300 bytes delivered",
                "page       done",
            ],
        );
    let stats = stats(&dir, "s.json");
    let transfer = &stats["transfers"][0];
    assert_eq!(transfer["outcome"], "done");
    assert_eq!(transfer["answered"], 3);
    let response = &transfer["response"];
    assert_eq!(response["delivered"], 150_000);
    assert_eq!(response["sent_digest"], response["delivered_digest"]);
    let csv = String::from_utf8(dir.read("s.csv")).expect("text");
    assert!(csv.contains(",transfer,page,goodput_bps,"), "{csv}");
    let page = String::from_utf8(dir.read("page/index.html")).expect("text");
    assert!(page.contains("<h3>Transfers</h3>") && page.contains("3 of 3"));
    // The capture contains complete frames, beginning with ARP.
    let capture = Capture::open(&dir.path("w.pcap")).expect("a capture");
    for (number, frame) in capture.frames.iter().enumerate() {
        let kind = if number < 2 { [8, 6] } else { [8, 0] };
        assert_eq!(frame.bytes[12..14], kind, "{number}");
    }
    let frames = capture.frames.len();
    assert!(frames > 100, "{frames}");
}

#[test]
fn hosts_that_cannot_be_saved_or_connected_are_refused() {
    let dir = Dir::new().with("n.toml", STACKS);
    dir.npsim("network n.toml --checkpoint n.ckpt")
        .expect(1, &["`a` cannot be saved", "without checkpoints"]);
    let open = STACKS.replace(
        "kind = \"stack\"\naddress = \"10.0.0.2\"",
        "kind = \"interface\"",
    );
    let open = &open[..open.find("[[transfer]]").expect("one")];
    let dir = Dir::new().with("n.toml", open);
    dir.npsim("network n.toml").expect(
        1,
        &[
            "n.toml:9:8",
            "nothing is connected to the interface `b`",
            "npsim live",
        ],
    );
}
