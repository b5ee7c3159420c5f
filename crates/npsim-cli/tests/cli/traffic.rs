use std::path::Path;

use serde_json::Value;

use crate::harness::{Dir, LOOP};

fn forwarder() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
    path.display().to_string()
}

fn stats(dir: &Dir, name: &str) -> Value {
    serde_json::from_slice(&dir.read(name)).expect("JSON")
}

#[test]
fn capture_of_a_load_reproduces_its_run() {
    let forward = forwarder();
    let dir = Dir::new();
    for (load, trace) in [
        ("--load 1 --time 300us", "a.pcapng"),
        (
            "--load 0.37 --size imix --arrivals poisson --seed 3",
            "b.pcapng.gz",
        ),
        (
            "--rate 700kpps --arrivals bursts --burst 5 --flows 7",
            "c.pcapng",
        ),
        ("--load 0.123,0,0.9 --size 64:1,65:2,1000:3", "d.pcapng"),
    ] {
        dir.npsim(&format!(
            "run {forward} -q {load} --out made.pcap --stats made.json"
        ))
        .expect(0, &[]);
        dir.npsim(&format!("trace gen --project {forward} {load} -o {trace}"))
            .expect(0, &["frames", "of line time"]);
        dir.npsim(&format!(
            "run {forward} -q --trace {trace} --pace trace --out played.pcap --stats played.json"
        ))
        .expect(0, &[]);
        assert!(dir.read("made.pcap").len() > 5000);
        assert!(dir.read("made.pcap") == dir.read("played.pcap"), "{load}");
        let (made, played) = (stats(&dir, "made.json"), stats(&dir, "played.json"));
        for part in ["packets", "drops", "exceptions", "rates", "latency"] {
            assert_eq!(made[part], played[part], "{load}: {part}");
        }
        if !load.contains("--seed") {
            assert_eq!(made["nodes"], played["nodes"], "{load}");
        }
    }
    // Generating a capture twice gives the same file.
    let first = dir.read("b.pcapng.gz");
    dir.npsim(&format!(
        "trace gen -q --project {forward} --load 0.37 --size imix --arrivals poisson --seed 3 -o b.pcapng.gz"
    ))
    .expect(0, &[]);
    assert!(first == dir.read("b.pcapng.gz"));
}

#[test]
fn a_load_is_offered_and_reported() {
    let forward = forwarder();
    let dir = Dir::new();
    dir.npsim(&format!("run {forward} --load 1/4 --time 2ms --stats out.json"))
        .expect(
            0,
            &[
                "all traffic is handled",
                "load         0.25 of the line rate, constant, 64-byte frames, 120 flows, seed 0, for 2ms",
            ],
        );
    let report = stats(&dir, "out.json");
    assert_eq!(report["load"]["rate"], "0.25");
    assert_eq!(report["load"]["time"], "2ms");
    assert_eq!(report["load"]["destinations"][0], "10.1.0.0/16");
    assert_eq!(report["seed"], Value::Null);
    // A quarter of 1.488 million frames a second on three ports, for 2 ms.
    assert_eq!(report["packets"]["offered"], 2233);
    assert_eq!(report["packets"]["sent"], 2233);
    dir.npsim(&format!(
        "run {forward} -q --load 0.25 --seed 9 --stats out.json"
    ))
    .expect(0, &[]);
    let report = stats(&dir, "out.json");
    assert_eq!(
        (&report["seed"], &report["load"]["seed"]),
        (&Value::from(9), &Value::from(9))
    );
    // The time may be up before the traffic is handled.
    dir.npsim(&format!("run {forward} --load 1 --time 2ms --until 100us"))
        .expect(0, &["the time is up", "for 2ms"]);
}

const TABLE: &str = "\n[load]\nrate = \"1Mpps\"\nsize = [{ bytes = 64 }, { bytes = 128, weight = 2 }]\ntime = \"200us\"\n[load.special]\narp = 0.25\n";

fn with_load(table: &str) -> Dir {
    let project = format!("[[me]]\nid = 0\nsource = \"a.uc\"\n[[port]]\nrate = \"1Gbps\"\n{table}");
    Dir::new().with("a.uc", LOOP).with("npsim.toml", project)
}

#[test]
fn project_load_applies_unless_overridden() {
    let dir = with_load(TABLE);
    dir.npsim("run . --stats out.json").expect(
        0,
        &[
            "load         1Mpps, constant, 64:1,128:2 frames, 0.25 arp",
            "for 200us",
        ],
    );
    assert_eq!(stats(&dir, "out.json")["packets"]["offered"], 200);
    // Options come before the table.
    dir.npsim("run . --load 0.5 --size 512 --time 50us --stats out.json")
        .expect(
            0,
            &["load         0.5 of the line rate, constant, 512-byte frames, 0.25 arp"],
        );
    dir.npsim("trace gen --project . --rate 100kpps -o in.pcap")
        .expect(0, &["20 frames"]);
    dir.npsim("run . --trace in.pcap --stats out.json")
        .expect(0, &[]);
    let report = stats(&dir, "out.json");
    assert_eq!(
        (&report["load"], &report["packets"]["offered"]),
        (&Value::Null, &Value::from(20))
    );
    // Without a rate, the table only describes the load.
    let dir = with_load("[load]\nsize = 128\n");
    dir.npsim("run . --until 10us --stats out.json")
        .expect(0, &["the time is up"]);
    assert_eq!(stats(&dir, "out.json")["load"], Value::Null);
    dir.npsim("run . --load 1 --time 10us")
        .expect(0, &["128-byte frames"]);
}

#[test]
fn errors_in_the_load_table_have_a_location() {
    for (line, what) in [
        ("rate = 1.5", "more than the lines carry"),
        ("rat = 1", "there is no key `rat`"),
        ("size = 20", "a frame of 20 bytes"),
        ("arrivals = \"random\"", "poisson"),
        ("time = 5", "is not a time"),
    ] {
        with_load(&format!("[load]\n{line}\n"))
            .npsim("run . --until 1us")
            .expect(1, &[what, line, "npsim.toml"]);
    }
}

#[test]
fn invalid_traffic_options_are_refused() {
    let dir = with_load("").with("in.pcap", "");
    for option in [
        "--load 1",
        "--rate 1pps",
        "--size 64",
        "--arrivals poisson",
        "--flows 1",
        "--time 1ms",
    ] {
        dir.npsim(&format!("run . --trace in.pcap {option}"))
            .expect(2, &["cannot be used with", "--trace"]);
    }
    for option in ["--pace line", "--pace trace", "--ports flow", "--speed 2"] {
        dir.npsim(&format!("run . --load 1 {option}"))
            .expect(2, &["cannot be used with", "--load"]);
    }
    dir.npsim("run . --load 1 --rate 1pps")
        .expect(2, &["cannot be used with"]);
    dir.npsim("run . --load 1Mpps").expect(2, &["--rate 1Mpps"]);
    dir.npsim("run . --rate 0.5").expect(2, &["--load 0.5"]);
    dir.npsim("run . --load 2")
        .expect(2, &["more than the lines carry"]);
    dir.npsim("run . --load 1 --size 10")
        .expect(2, &["64 to 9216"]);
    dir.npsim("run . --size 64")
        .expect(1, &["`--size` shapes traffic", "--load 0.5"]);
    dir.npsim("run . --rate 2Mpps")
        .expect(1, &["port 0 would get more frames", "1488095 a second"]);
    let bare = Dir::new()
        .with("a.uc", LOOP)
        .with("npsim.toml", "[[me]]\nid = 0\nsource = \"a.uc\"\n");
    bare.npsim("run . --load 1")
        .expect(1, &["no port", "[[port]]"]);
    dir.npsim("trace gen -o x.pcap")
        .expect(1, &["no traffic is asked for"]);
    dir.npsim("trace gen --load 1 -o x.bin")
        .expect(1, &[".pcapng"]);
    dir.npsim("trace gen --load 1 --port-count 2 -o x.pcap")
        .expect(1, &["cannot distinguish 2 ports"]);
    dir.npsim("trace gen --load 1 --port-count 2 --project . -o x.pcapng")
        .expect(2, &["--project"]);
    assert_eq!(
        dir.files(),
        ["a.uc", "in.pcap", "npsim.toml"],
        "nothing is left behind"
    );
}

#[test]
fn captures_are_described() {
    let dir = Dir::new();
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let trace = |name: &str| traces.join(name).display().to_string();
    // The counts in traces/README.md, which come from tshark.
    for (name, format, frames, bytes, flows) in [
        ("mixed.pcap", "pcap, nanoseconds", 631, 545_594, 11),
        (
            "minsize.pcap.gz",
            "pcap, nanoseconds, gzipped",
            4001,
            240_042,
            8,
        ),
        ("two-ports.pcapng", "pcapng", 423, 247_641, 14),
    ] {
        let done = dir.npsim(&format!("trace info --format json {}", trace(name)));
        let done = done.expect(0, &[]);
        let list: Value = serde_json::from_str(&done.out).expect("JSON");
        let info = &list[0];
        assert_eq!(info["format"], format);
        assert_eq!(
            (&info["frames"], &info["bytes"], &info["flows"]),
            (
                &Value::from(frames),
                &Value::from(bytes),
                &Value::from(flows)
            )
        );
        let sizes = info["sizes"].as_array().expect("a list");
        let sum: u64 = sizes
            .iter()
            .filter_map(|class| class["frames"].as_u64())
            .sum();
        assert_eq!(sum, frames);
    }
    dir.npsim(&format!(
        "trace info {} {}",
        trace("exceptions.pcap"),
        trace("two-ports.pcapng")
    ))
    .expect(
        0,
        &[
            "frames       74, 24,300 bytes, 26 to 1,514 long",
            "wrong IPv4 header checksums: 2",
            "wrong TCP, UDP or ICMP checksums: 2",
            "interface 1: ",
            "flows        14",
        ],
    );
    dir.npsim("trace gen -q --load 0.5 --size imix --time 100us -o made.pcap")
        .expect(0, &[]);
    dir.npsim("trace info made.pcap").expect(
        0,
        &["pcap, nanoseconds", "ipv4 udp", "0.000000000 s after 1970"],
    );
    let cut = dir.read("made.pcap");
    let dir = dir.with("cut.pcap", &cut[..cut.len() - 1]);
    dir.npsim("trace info cut.pcap").expect(1, &["cut off"]);
    dir.npsim("trace info").expect(2, &["FILE"]);
}
