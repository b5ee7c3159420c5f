//! Long silence in a capture: the outputs of a run are the same whether it is skipped or not.

use crate::harness::{Dir, pcap, root};

#[test]
fn skipping_silence_does_not_change_observer_outputs() {
    // The second frame comes 20 ms after the first; times are in microseconds.
    let dir = Dir::new().with("in.pcap", pcap(1, &[(0, 60), (20_000, 300), (20_003, 60)]));
    for (system, window) in [
        ("forward", "..5us"),
        ("router", "10ms..10010us"),
        ("rcp", "19999us..20ms"),
    ] {
        let target = root().join("microcode").join(system);
        for (name, skip) in [("skipped", ""), ("simulated", "--no-skip")] {
            let command = format!(
                "run {} --trace in.pcap {skip} --profile={name}.profile.json --packets {name}.csv --packet 1 \
                 --report {name} --timeline {name}.json --window {window} --stats {name}.stats.json",
                target.display(),
            );
            dir.npsim(&command).expect(0, &[]);
        }
        for file in [
            ".profile.json",
            ".csv",
            "/index.html",
            ".json",
            ".stats.json",
        ] {
            let [skipped, simulated] =
                ["skipped", "simulated"].map(|it| dir.read(&format!("{it}{file}")));
            assert!(skipped == simulated, "{system}: {file}");
        }
    }
}
