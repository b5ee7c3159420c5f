use crate::harness::{Dir, pcap};

/// Eight contexts that contend for a scratch counter.
const CONTENTION: &str = "\
.reg $x addr
.sig done
    immed[addr, 0x100]
again#:
    scratch[test_and_incr, $x, addr, 0], sig_done[done]
    ctx_arb[done]
    br[again#]
";

#[test]
fn equal_inputs_give_equal_bytes() {
    let frames: Vec<_> = (0..50).map(|n| (n * 7, 60 + n * 13)).collect();
    let dir = Dir::new()
        .with("a.uc", CONTENTION)
        .with("in.pcap", pcap(1, &frames));
    for name in ["one", "two"] {
        let command = format!(
            "run a.uc --me 0-3 --trace in.pcap --ports round-robin --out {name}.pcap --stats {name}.json"
        );
        dir.npsim(&command).expect(0, &["in 50"]);
    }
    assert_eq!(dir.read("one.pcap"), dir.read("two.pcap"));
    assert_eq!(dir.read("one.json"), dir.read("two.json"));
    assert!(
        String::from_utf8(dir.read("one.json"))
            .expect("text")
            .contains("\"test_and_incr\"")
    );
}

/// Keeps its first random number.
const DRAW: &str = "\
.reg $x addr value
.sig done
    immed[addr, DRAWN]
    br!=ctx[0, end#]
    local_csr_rd[PSEUDO_RANDOM_NUMBER]
    immed[value, 0]
    alu_shf[$x, --, B, value, >>8]
    alu[addr, addr, +, (ME_INDEX << 2)]
    scratch[write, $x, addr, 0, 1], ctx_swap[done]
end#:
    ctx_arb[kill]
";

const DRAWERS: &str = "\
[[me]]
id = \"0-1\"
source = \"draw.uc\"
[[counter]]
name = \"DRAWN\"
[[counter]]
name = \"SECOND\"
";

#[test]
fn seed_determines_the_random_numbers() {
    let dir = Dir::new().with("draw.uc", DRAW).with("npsim.toml", DRAWERS);
    let drawn = |seed: &str| {
        dir.npsim(&format!("run . --until 10us --stats out.json {seed}"))
            .expect(0, &[]);
        let stats: serde_json::Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
        let counters = &stats["nodes"][0]["chip"]["counters"];
        (
            stats["seed"].as_u64(),
            [0, 1].map(|n| counters[n]["value"].as_u64().expect("a counter")),
        )
    };
    let (none, (seven, again), eight) = (
        drawn(""),
        (drawn("--seed 7"), drawn("--seed 7")),
        drawn("--seed 8"),
    );
    assert_eq!((none.0, seven.0, eight.0), (None, Some(7), Some(8)));
    // Without a seed the register begins at 1 everywhere; one step doubles it.
    assert_eq!(none.1, [0, 0]);
    assert_eq!(seven, again);
    assert_ne!(seven.1, eight.1);
    assert_ne!(seven.1[0], seven.1[1]);
    dir.npsim("run . --until 10us --seed -1").expect(2, &[]);
    dir.npsim("run . --until 10us --seed x")
        .expect(2, &["--seed"]);
}
