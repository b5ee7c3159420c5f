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
fn the_same_inputs_give_the_same_bytes() {
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
