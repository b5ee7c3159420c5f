//! Both cores give the same bytes: the engine, which runs ahead of the chip, and the reference,
//! which executes each instruction at its own cycle.

use std::path::Path;

use crate::harness::Dir;

/// Short runs in which microengines contend, hold one another up, keep order, share
/// locks and rings, and draw random numbers.
const RUNS: [&str; 7] = [
    "router --load 1.0 --time 100us",
    "router --load 0.4 --size imix --arrivals poisson --time 100us --seed 7",
    "forward --load 0.6 --time 150us",
    "ordering/its.toml --rate 3Mpps --time 100us --stall 0.3@20us+10us --set disturb.dram=400",
    "ordering/aisr.toml --rate 3Mpps --time 100us",
    "quick-start/lock.toml --load 0.3 --time 200us",
    "xcp/lock.toml --load 0.3 --time 200us",
];

fn microcode() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode");
    root.display().to_string()
}

#[test]
fn reference_core_and_engine_outputs_are_identical() {
    for run in RUNS {
        let dir = Dir::new();
        let folder = microcode();
        let of = |core: &str| {
            dir.npsim(&format!(
                "run {folder}/{run} --core {core} --out {core}.pcap --stats {core}.json --timeline {core}.line"
            ))
            .expect(0, &[]);
        };
        of("engine");
        of("reference");
        for kind in ["pcap", "json", "line"] {
            let [engine, reference] =
                ["engine", "reference"].map(|core| dir.read(&format!("{core}.{kind}")));
            assert!(engine.len() > 1000, "{run} gives a {kind}");
            assert!(engine == reference, "the {kind} of {run} differs");
        }
    }
}

#[test]
fn checkpoint_resumes_with_its_core() {
    let dir = Dir::new();
    let folder = microcode();
    let run = format!("run {folder}/router --core reference --load 0.6 --time 60us");
    dir.npsim(&format!("{run} --out whole.pcap --stats whole.json"))
        .expect(0, &[]);
    dir.npsim(&format!(
        "{run} --out part.pcap --stats part.json --until 40us --checkpoint c.ckpt --checkpoint-every 10us"
    ))
    .expect(0, &["the time is up"]);
    dir.npsim("run --resume c.ckpt --until 1s").expect(0, &[]);
    assert_eq!(dir.read("part.pcap"), dir.read("whole.pcap"));
    assert_eq!(dir.read("part.json"), dir.read("whole.json"));
}

#[test]
fn unknown_core_is_a_usage_error() {
    let dir = Dir::new();
    dir.npsim("run a.uc --core pipeline").expect(
        2,
        &["there is no core `pipeline`; the cores are `engine` and `reference`"],
    );
}
