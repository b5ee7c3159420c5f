//! Recordings of live runs, replayed.

use std::path::PathBuf;

use npsim_net::capture::Capture;
use npsim_net::egress::CapturePort;
use npsim_net::recording::{NETWORK_HERTZ, RecordingHead, RecordingWriter, picoseconds};

use crate::harness::Dir;

const ARP: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../microcode/forward/arp.toml"
);
const START_SECONDS: u64 = 1_796_000_000;

fn head() -> RecordingHead {
    RecordingHead {
        hertz: 600_000_000,
        start_seconds: START_SECONDS,
        ports: (0..3)
            .map(|number| CapturePort::port(number, 1_000_000_000))
            .collect(),
        target: ARP.to_owned(),
        seed: Some(7),
        route_blocks: 4,
    }
}

/// An ARP request for the router's address on port 0, which it answers.
fn arp_request() -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    let mac = [2, 0, 0, 0, 7, 0];
    frame.extend(mac);
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend(mac);
    frame.extend([10, 1, 0, 2, 0, 0, 0, 0, 0, 0, 10, 1, 0, 1]);
    frame.resize(60, 0);
    frame
}

/// A recording with two requests and these commands between them.
fn recording(dir: &Dir, head: &RecordingHead, commands: &[&str]) -> PathBuf {
    let path = dir.path("live.pcapng");
    let at = |cycle| u64::try_from(picoseconds(cycle, head.hertz)).unwrap();
    let mut writer = RecordingWriter::create(&path, head).unwrap();
    writer.frame(0, at(6_001), &arp_request()).unwrap();
    for command in commands {
        writer.control(at(30_000), command).unwrap();
    }
    writer.frame(0, at(60_000_001), &arp_request()).unwrap();
    writer.end(at(61_000_000)).unwrap();
    path
}

fn replay(dir: &Dir, more: &str) -> crate::harness::CommandOutput {
    dir.npsim(&format!(
        "run {ARP} --trace live.pcapng --pace recorded {more}"
    ))
}

#[test]
fn recorded_frames_are_replayed_at_their_cycles() {
    let dir = Dir::new();
    recording(&dir, &head(), &["route remove 10.2.0.0/16", "screen on"]);
    replay(&dir, "--out out.pcapng --stats stats.json").expect(
        0,
        &["note: the command `screen on` of the recording changes no routes"],
    );
    let left = Capture::open(&dir.path("out.pcapng")).unwrap();
    assert_eq!(left.frames.len(), 2);
    assert_eq!(
        left.first_timestamp_ns / 1_000_000_000,
        i128::from(START_SECONDS)
    );
    // Both were answered alike, 0.1 s apart.
    assert_eq!(left.frames[0].bytes, left.frames[1].bytes);
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("stats.json")).unwrap();
    let text = stats.to_string();
    assert!(
        text.contains("\"cycles\":61000000"),
        "it ends where it ended: {text}"
    );
    assert!(text.contains("\"removed\":1"), "{text}");
    // The debugger replays the same run.
    let debugged = dir.with("script", "go 61000000\n");
    debugged
        .npsim(&format!(
            "debug {ARP} --trace live.pcapng --pace recorded --batch --script script"
        ))
        .expect(0, &["the run ends: its time is up", "cycle 61000000"]);
}

#[test]
fn truncated_recordings_are_replayed_with_a_note() {
    let dir = Dir::new();
    let path = recording(&dir, &head(), &[]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 37]).unwrap();
    // The end of the run, and a byte of the last frame.
    let note =
        "the recording ends inside a block, as after its run was killed; 91 bytes were ignored";
    replay(&dir, "").expect(0, &[note]);
}

#[test]
fn recordings_of_other_runs_are_noted_or_refused() {
    let dir = Dir::new();
    let with = |change: &dyn Fn(&mut RecordingHead)| {
        let mut head = head();
        change(&mut head);
        recording(&dir, &head, &[]);
    };
    with(&|head| head.target = "another.toml".to_owned());
    replay(&dir, "--seed 8").expect(
        0,
        &[
            "note: the recording is of `another.toml`, and `",
            "note: the recording was made with `--seed 7`, and this run has `--seed 8`",
        ],
    );
    with(&|head| head.hertz = 1_400_000_000);
    replay(&dir, "").expect(
        1,
        &[
            "the recording is of a chip of 1,400,000,000 Hz, and the project's has 600,000,000 Hz",
            "run what was recorded",
        ],
    );
    with(&|head| drop(head.ports.pop()));
    replay(&dir, "").expect(
        1,
        &[
            "the recording has 2 ports, and there are 3",
            "`--pace trace`",
        ],
    );
    with(&|_| {});
    replay(&dir, "--ports flow").expect(
        1,
        &["at which port each frame came in", "leave `--ports` out"],
    );
    replay(&dir, "--pad").expect(
        1,
        &[
            "frames of a recording are whole",
            "leave `--link` and `--pad` out",
        ],
    );
    dir.npsim(&format!("run {ARP} --trace live.pcapng")).expect(
        0,
        &["the capture is a recording with 1 command, which hold at `--pace recorded` alone"],
    );
}

#[test]
fn errors_in_recorded_commands_are_reported() {
    for (command, phrases) in [
        (
            "route remove 10.9.0.0/16",
            &[
                "the change of 10.9.0.0/16 at cycle 30000 cannot be made: there is no route",
                "run what was recorded",
            ][..],
        ),
        (
            "route put 10.9.0.0/16",
            &[
                "`put` is not `add`, `change` or `remove`",
                "the command:1:7",
                "write `route add PREFIX",
            ],
        ),
        ("route add 10.9.0.0/16", &["leads to no port", "add `port`"]),
        (
            "route add 10.9.0.0/16 port=7 mac=02:00:00:00:00:01",
            &["there is no port 7", "the project has 0 to 2"],
        ),
        (
            "route add 10.9.0.0/16 port=1 mac=ff:ff:ff:ff:ff:ff",
            &["the broadcast address"],
        ),
        (
            "route add 10.9.0.0/16 port=1 next_hop=10.2.0.77",
            &["no route of the project uses this next hop", "as `mac`"],
        ),
        (
            "route add 10.9.0.0/16 port=1 colour=red",
            &["a change of routes has no `colour=red`"],
        ),
        (
            "route add 10.1.0.1/32 discard",
            &["10.1.0.1/32 is an address of a port"],
        ),
        (
            "route remove 10.2.0.0/16 port=1",
            &["a route that is removed has no destination"],
        ),
        (
            "route",
            &["a change needs `add`, `change` or `remove`, and a prefix"],
        ),
    ] {
        let dir = Dir::new();
        recording(&dir, &head(), &[command]);
        replay(&dir, "").expect(1, phrases);
    }
    let dir = Dir::new().with("live.pcapng", "text");
    replay(&dir, "").expect(
        1,
        &[
            "live.pcapng is not a recording of `npsim live`: it is not in pcapng",
            "`--pace trace`",
        ],
    );
}

/// A router between two open ends.
fn network() -> String {
    format!(
        r#"
name = "between"
until = "1s"
[[host]]
name = "left"
kind = "interface"
address = "10.1.0.2/16"
[[host]]
name = "right"
kind = "interface"
address = "10.2.0.2/16"
[[router]]
name = "r"
system = "{ARP}"
[[router]]
name = "s"
system = "{ARP}"
[router.set]
port.0.address = "10.1.0.9/16"
[[link]]
between = ["left", "r:0"]
rate = "1Gbps"
delay = "1us"
[[link]]
between = ["r:1", "s:1"]
rate = "1Gbps"
delay = "1us"
[[link]]
between = ["s:0", "right"]
rate = "1Gbps"
delay = "1us"
"#
    )
}

fn network_head() -> RecordingHead {
    RecordingHead {
        hertz: NETWORK_HERTZ,
        ports: ["left", "right"]
            .map(|name| CapturePort {
                name: name.to_owned(),
                bits_per_second: 1_000_000_000,
            })
            .into(),
        target: "n.toml".to_owned(),
        route_blocks: 0,
        ..head()
    }
}

/// A recording of a network in which the router gets two requests.
fn network_recording(dir: &Dir, head: &RecordingHead) {
    let mut writer = RecordingWriter::create(&dir.path("live.pcapng"), head).unwrap();
    writer.frame(0, 10_000_001, &arp_request()).unwrap();
    writer.control(20_000_000, "screen on").unwrap();
    writer.frame(0, 3_000_000_007, &arp_request()).unwrap();
    writer.end(5_000_000_000).unwrap();
}

#[test]
fn network_replay_does_not_depend_on_core_or_threads() {
    let dir = Dir::new().with("n.toml", network());
    network_recording(&dir, &network_head());
    let replay = |more: &str| {
        dir.npsim(&format!(
            "network n.toml --recorded live.pcapng --out out.pcapng --stats n.json {more}"
        ))
        .expect(
            0,
            &["the command `screen on` of the recording changes no routes"],
        );
        dir.read("out.pcapng")
    };
    let out = replay("");
    let left = Capture::open(&dir.path("out.pcapng")).unwrap();
    assert_eq!(left.interfaces, ["left", "right"]);
    let answers = left.frames.iter().filter(|frame| frame.bytes[21] == 2);
    assert_eq!(answers.count(), 2);
    assert_eq!(
        left.first_timestamp_ns / 1_000_000_000,
        i128::from(START_SECONDS)
    );
    let stats: serde_json::Value = serde_json::from_slice(&dir.read("n.json")).unwrap();
    assert_eq!(stats["until_s"], 0.005, "it ends where it ended");
    for more in ["--threads 1", "--threads 4", "--core reference"] {
        assert_eq!(replay(more), out, "{more}");
    }
}

#[test]
fn recordings_of_other_networks_are_refused() {
    let dir = Dir::new().with("n.toml", network());
    let replay = |phrases: &[&str]| {
        dir.npsim("network n.toml --recorded live.pcapng")
            .expect(1, phrases);
    };
    let with = |change: &dyn Fn(&mut RecordingHead)| {
        let mut head = network_head();
        change(&mut head);
        network_recording(&dir, &head);
    };
    with(&|head| head.ports[1].name = "uplink".to_owned());
    replay(&[
        "the recording has the open ends `left`, `uplink`, and the network `left`, `right`",
        "run what was recorded, `n.toml`",
    ]);
    with(&|head| drop(head.ports.pop()));
    replay(&["the open ends `left`, and the network `left`, `right`"]);
    with(&|head| head.ports[0].bits_per_second = 100_000_000);
    replay(&["run what was recorded"]);
    recording(&dir, &head(), &[]);
    replay(&["the recording is of one chip, and the target is a network"]);
    network_recording(&dir, &network_head());
    dir.npsim(&format!("run {ARP} --trace live.pcapng --pace recorded"))
        .expect(1, &["the recording is of a network"]);
    dir.npsim("network n.toml").expect(
        1,
        &["nothing is connected to the interface `left`", "--recorded"],
    );
}
