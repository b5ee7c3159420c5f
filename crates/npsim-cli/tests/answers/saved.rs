//! Equal inputs give equal bytes: when repeated, with other threads, and through a checkpoint.

use crate::harness::{Dir, root};
use crate::probes::{capture, datagram, ping};

#[test]
fn run_saved_during_core_replies_resumes_identically() {
    let probes: Vec<_> = (0..60)
        .map(|n| match n % 2 {
            0 => datagram([192, 0, 2, 77], 1, n),
            _ => ping([10, 1, 0, 1], n, &[3; 400]),
        })
        .collect();
    let dir = Dir::new().with("in.pcap", capture(&probes, 7));
    let project = root().join("microcode/forward/icmp.toml");
    let run = format!("run {} --trace in.pcap -q", project.display());
    let end = "--until 2ms";
    let whole = "--out whole.pcap --stats whole.json";
    dir.npsim(&format!("{run} {whole} {end}")).expect(0, &[]);
    assert!(dir.read("whole.pcap").len() > 24 + 60 * 16);
    // Times at which packets wait, are partly built, and are in flight.
    for until in ["40us", "55us", "61us", "200us", "333us"] {
        let first = "--out part.pcap --stats part.json --checkpoint part.ckpt";
        dir.npsim(&format!("{run} {first} --until {until}"))
            .expect(0, &[]);
        dir.npsim(&format!("run --resume part.ckpt {end} -q"))
            .expect(0, &[]);
        assert_eq!(dir.read("part.pcap"), dir.read("whole.pcap"), "{until}");
    }
}

#[test]
fn thread_count_does_not_change_results() {
    let probes: Vec<_> = (0..30)
        .map(|n| datagram([192, 0, 2, 77], 1 + n as u8 % 4, n))
        .collect();
    let dir = Dir::new().with("in.pcap", capture(&probes, 7));
    let project = root().join("microcode/forward/icmp.toml");
    for threads in 1..=3 {
        dir.npsim(&format!(
            "run {} --trace in.pcap --hops 3 --threads {threads} --out {threads}.pcap --stats {threads}.json -q",
            project.display()
        ))
        .expect(0, &[]);
        assert_eq!(dir.read(&format!("{threads}.pcap")), dir.read("1.pcap"));
        assert_eq!(dir.read(&format!("{threads}.json")), dir.read("1.json"));
    }
}
