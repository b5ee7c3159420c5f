//! Routers one behind the other.

use serde_json::Value;

use crate::harness::{Dir, pcap};

/// The forwarder of the repository.
const FORWARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/forward");

/// Nobody raises the signal.
const DEADLOCK: &str = "\
.sig never
    nop
    ctx_arb[never]
here#:
    br[here#]
";

/// A summary without what the host took for it.
fn without_host(summary: &str) -> String {
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
            without_host(&done.out),
            dir.read(&format!("{threads}.pcap")),
            dir.read(&format!("{threads}.json")),
        );
        assert!(outputs.1.len() > 1000);
        assert!(*first.get_or_insert_with(|| outputs.clone()) == outputs);
    }
}

#[test]
fn one_hop_is_a_plain_run_and_so_is_the_first_of_several() {
    let dir = Dir::new();
    let command = format!("run {FORWARD} --load 0.5 --time 300us --seed 7");
    let plain = dir.npsim(&format!("{command} --out plain.pcap --stats plain.json"));
    let one = dir.npsim(&format!(
        "{command} --hops 1 --threads 2 --out one.pcap --stats one.json"
    ));
    assert_eq!(without_host(&plain.out), without_host(&one.out));
    assert_eq!(dir.read("plain.pcap"), dir.read("one.pcap"));
    assert_eq!(dir.read("plain.json"), dir.read("one.json"));
    dir.npsim(&format!("{command} --hops 3 --stats three.json -q"))
        .expect(0, &[]);
    let three = json(&dir, "three.json");
    assert_eq!(three["routers"][0]["run"], json(&dir, "plain.json"));
    assert_ne!(three["routers"][1]["run"]["seed"], 7);
    assert_eq!(three["schema"], "npsim-hops-1");
    assert_eq!(three["packets"]["offered"], three["packets"]["sent"]);
    let hops: Vec<_> = { three["routers"].as_array().unwrap().iter() }
        .map(|router| router["hop"].as_u64())
        .collect();
    assert_eq!(hops, [Some(1), Some(2), Some(3)]);
}

/// Captures go through a chain as made traffic does, and losses say where.
#[test]
fn a_capture_goes_through_and_losses_are_told_by_router() {
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
            lost["hop"],
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
    assert_eq!(stats["routers"][0]["run"]["fault"]["check"], "deadlock");
    assert_eq!(dir.read("out.pcap").len(), 24, "a header and no frame");
    // Also where the stats cannot be written.
    dir.npsim("run a.uc --trace in.pcap --hops 2 --stats no/out.json")
        .expect(3, &["error[deadlock]", "cannot write `no/out.json`"]);
}

#[test]
fn what_is_about_one_chip_is_refused() {
    let dir = Dir::new();
    for option in [
        "--checkpoint a.ckpt",
        "--report page",
        "--dump DROP_VERSION=a.txt",
        "--profile",
        "--flame a.svg",
        "--flame-waits a.svg",
        "--timeline a.json",
    ] {
        let name = option.split(' ').next().expect("a name");
        let said = format!("`{name}` is about one chip, and `--hops 2` makes 2");
        dir.npsim(&format!("run {FORWARD} --load 0.5 --hops 2 {option}"))
            .expect(1, &[&said, "--stats"]);
    }
    assert_eq!(dir.files(), [""; 0]);
    dir.npsim(&format!("run {FORWARD} --load 0.5 --hops 1 --profile"))
        .expect(0, &["forward.uc"]);
}

#[test]
fn chains_that_cannot_be_are_refused() {
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
