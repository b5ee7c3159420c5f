//! Chains of routers.

use serde_json::Value;

use crate::harness::{Dir, pcap};

/// The forwarder of the repository.
const FORWARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/forward");

/// A signal that nothing raises.
const DEADLOCK: &str = "\
.sig never
    nop
    ctx_arb[never]
here#:
    br[here#]
";

/// A summary without the host's time.
fn without_host_time(summary: &str) -> String {
    let lines = summary.lines().filter(|line| !line.starts_with("host "));
    lines.collect::<Vec<_>>().join("\n")
}

fn json(dir: &Dir, name: &str) -> Value {
    serde_json::from_slice(&dir.read(name)).expect("JSON")
}

#[test]
fn outputs_do_not_depend_on_threads() {
    let dir = Dir::new();
    let mut first = None;
    for threads in [1, 2, 3] {
        let command = format!(
            "run {FORWARD} --load 0.7 --size imix --time 500us --hops 5 --threads {threads} --seed 3 --set chain.delay=5us --out {threads}.pcap --stats {threads}.json"
        );
        let done = dir.npsim(&command).expect(0, &["5 routers forward"]);
        let outputs = (
            without_host_time(&done.out),
            dir.read(&format!("{threads}.pcap")),
            dir.read(&format!("{threads}.json")),
        );
        assert!(outputs.1.len() > 1000);
        assert!(*first.get_or_insert_with(|| outputs.clone()) == outputs);
    }
}

#[test]
fn first_router_of_a_chain_equals_a_plain_run() {
    let dir = Dir::new();
    let command = format!("run {FORWARD} --load 0.5 --time 300us --seed 7");
    let plain = dir.npsim(&format!("{command} --out plain.pcap --stats plain.json"));
    let one = dir.npsim(&format!(
        "{command} --hops 1 --threads 2 --out one.pcap --stats one.json"
    ));
    assert_eq!(without_host_time(&plain.out), without_host_time(&one.out));
    assert_eq!(dir.read("plain.pcap"), dir.read("one.pcap"));
    assert_eq!(dir.read("plain.json"), dir.read("one.json"));
    dir.npsim(&format!("{command} --hops 3 --stats three.json -q"))
        .expect(0, &[]);
    let three = json(&dir, "three.json");
    let plain = json(&dir, "plain.json");
    assert_eq!(three["nodes"][0], plain["nodes"][0]);
    assert_ne!(three["nodes"][1]["seed"], 7);
    assert_eq!(three["schema"], plain["schema"]);
    // With a single node, the figures of all nodes are those of that node.
    for part in ["packets", "rates", "latency", "ending", "seed"] {
        assert_eq!(plain[part], plain["nodes"][0][part], "{part}");
    }
    assert_eq!(three["packets"]["offered"], three["packets"]["sent"]);
    let hops: Vec<_> = { three["nodes"].as_array().unwrap().iter() }
        .map(|router| router["node"].as_u64())
        .collect();
    assert_eq!(hops, [Some(1), Some(2), Some(3)]);
}

/// Captures go through a chain as generated traffic does, and losses report their node.
#[test]
fn chain_forwards_a_capture_and_reports_losses_per_router() {
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");
    let dir = Dir::new();
    let command = format!(
        "run {FORWARD} --trace {traces}/exceptions.pcap --ports round-robin --hops 3 --out out.pcap --stats out.json"
    );
    let done = dir.npsim(&command).expect(0, &["3 routers forward"]);
    let stats = json(&dir, "out.json");
    let exceptions = stats["exceptions"].as_array().expect("a list");
    assert!(!exceptions.is_empty());
    for lost in exceptions {
        let line = format!(
            "router {}: {}",
            lost["node"],
            lost["reason"].as_str().unwrap()
        );
        assert!(done.out.contains(&line), "{line} in {}", done.out);
    }
    let sum = &stats["packets"];
    let count = |name: &str| sum[name].as_u64().unwrap_or_else(|| panic!("{name}"));
    assert_eq!(
        count("offered"),
        count("sent")
            + count("dropped_media")
            + count("dropped_microcode")
            + count("exceptions")
            + count("unaccounted")
    );
}

#[test]
fn a_fault_names_the_router() {
    let dir = Dir::new()
        .with("a.uc", DEADLOCK)
        .with("in.pcap", pcap(1, &[(0, 60)]));
    dir.npsim("run a.uc --trace in.pcap --hops 2 --out out.pcap --stats out.json")
        .expect(
            3,
            &[
                "router 1 was stopped at cycle",
                "router 1:",
                "error[deadlock]",
                "a.uc:3:5",
                "router 2 was stopped too",
            ],
        );
    let stats = json(&dir, "out.json");
    assert_eq!(stats["ending"], "fault");
    assert_eq!(stats["nodes"][0]["fault"]["check"], "deadlock");
    assert_eq!(dir.read("out.pcap").len(), 24, "a header and no frame");
    // If the stats cannot be written, nothing is run.
    let done = dir.npsim("run a.uc --trace in.pcap --hops 2 --stats no/out.json");
    let done = done.expect(1, &["cannot write `no/out.json`"]);
    assert!(!done.err.contains("deadlock"), "{}", done.err);
}

/// Each router writes its per-chip outputs under its own number.
#[test]
fn each_router_writes_its_per_chip_outputs() {
    let dir = Dir::new();
    let run = |folder: &str, hops: u32, threads: u32| {
        std::fs::create_dir(dir.path(folder)).expect("a folder");
        let done = dir.npsim(&format!(
            "run {FORWARD} --load 0.3 --time 50us --hops {hops} --threads {threads} \
             --report {folder}/page --dump DROP_VERSION={folder}/a.txt --profile={folder}/p.json \
             --flame {folder}/a.svg --flame-waits {folder}/w.txt --timeline {folder}/a.json.gz \
             --stats {folder}/s.json"
        ));
        without_host_time(&done.expect(0, &["forward.uc"]).out)
    };
    let (alone, three, again) = (run("one", 1, 1), run("three", 3, 1), run("again", 3, 2));
    assert_eq!(three.replace("three/", ""), again.replace("again/", ""));
    assert!(
        !alone.contains("router") && three.contains("router 3: profile of "),
        "{three}"
    );
    let names = |number: &str| {
        ["a{}.txt", "p{}.json", "a{}.svg", "w{}.txt", "a{}.json.gz"]
            .map(|name| name.replace("{}", number))
    };
    let (plain, first) = (names(""), names(".1"));
    for (plain, first) in plain.iter().zip(&first) {
        let plain = dir.read(&format!("one/{plain}"));
        assert_eq!(plain, dir.read(&format!("three/{first}")), "{first}");
    }
    for number in [".1", ".2", ".3"] {
        for name in names(number) {
            let one = dir.read(&format!("three/{name}"));
            assert!(!one.is_empty(), "{name}");
            assert_eq!(one, dir.read(&format!("again/{name}")), "{name}");
        }
    }
    for page in ["router-1", "router-2", "router-3"] {
        let page = format!("page/{page}/index.html");
        assert!(dir.read(&format!("three/{page}")).len() > 10_000);
        assert_eq!(
            dir.read(&format!("three/{page}")),
            dir.read(&format!("again/{page}"))
        );
    }
    dir.npsim(&format!(
        "run {FORWARD} --load 0.3 --time 50us --hops 2 --flame a.svg --flame-waits a.svg"
    ))
    .expect(1, &["both write `a.1.svg`"]);
}

/// A chain that is saved and resumed has the results of an uninterrupted one.
#[test]
fn resumed_chain_equals_an_uninterrupted_one() {
    let dir = Dir::new();
    let command =
        format!("run {FORWARD} --load 0.6 --time 200us --hops 3 --seed 5 --set chain.delay=3us");
    dir.npsim(&format!("{command} --out whole.pcap --stats whole.json -q"))
        .expect(0, &[]);
    dir.npsim(&format!(
        "{command} --until 130us --out part.pcap --stats part.json --checkpoint a.ckpt --checkpoint-every 40us -q"
    ))
    .expect(0, &[]);
    assert_eq!(json(&dir, "part.json")["ending"], "reached");
    dir.npsim("run --resume a.ckpt --until 1ms").expect(0, &[]);
    assert_eq!(dir.read("part.pcap"), dir.read("whole.pcap"));
    assert_eq!(json(&dir, "part.json"), json(&dir, "whole.json"));
}

#[test]
fn stall_applies_to_the_named_router() {
    let dir = Dir::new();
    let command = format!("run {FORWARD} --load 0.3 --time 50us --stall 2:0.3@10us+5us");
    dir.npsim(&format!("{command} --hops 2")).expect(
        0,
        &["context 3 stalled from cycle 6000 until 9000, in router 2"],
    );
    dir.npsim(&command).expect(1, &["no router 2"]);
    dir.npsim(&command.replace("2:0", "0:0"))
        .expect(1, &["no router 0"]);
}

#[test]
fn invalid_chain_options_are_refused() {
    let dir = Dir::new();
    let run = |rest: &str| dir.npsim(&format!("run {FORWARD} {rest}"));
    for (rest, code, said) in [
        ("--load 0.5 --hops 0", 2, "1..=255"),
        ("--load 0.5 --hops 256", 2, "1..=255"),
        ("--load 0.5 --hops 2 --threads 0", 2, "1..=1024"),
        ("--load 0.5 --threads 2", 2, "--hops"),
        ("--hops 2", 1, "nothing comes in at the first router"),
        (
            "--load 0.5 --hops 2 --set chain.delay=1h",
            1,
            "`h` is not a unit of time",
        ),
        (
            "--load 0.5 --hops 2 --set chain.loss=1",
            1,
            "there is no `loss` in `chain`",
        ),
        ("--load 0.5 --hops 2 --out no/out.pcap", 1, "no/out.pcap"),
    ] {
        run(rest).expect(code, &[said]);
    }
}
