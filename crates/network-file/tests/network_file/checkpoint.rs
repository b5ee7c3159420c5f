//! Networks that are saved and resumed end as if they had not been interrupted.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use npsim_network::Snapshot;
use npsim_network::{DropReason, Frame, Network, Simulation, Stopped, Tap};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_project::assemble::assemble_project;
use npsim_transport::time::Time;
use proptest::prelude::*;

/// Every transport and law, RED, losses, CPUs and random starts, none of which costs much.
const MODELS: &str = r#"
name = "models"
until = "8s"
seed = 3
[[host]]
name = "s"
count = 4
address = "10.0.0.10"
cpu = { cores = 2, packet = "20us", timer = "10us", tick = "100us" }
[[host]]
name = "d"
count = 4
address = "10.1.0.10"
[[switch]]
name = "left"
[[router]]
name = "r1"
model = "LAW"
[[switch]]
name = "right"
[[link]]
name = "access"
between = ["s", "left"]
rate = "50Mbps"
delay = "5ms"
[[link]]
name = "trunk"
between = ["left", "r1"]
rate = "100Mbps"
delay = "1ms"
[[link]]
name = "bottleneck"
between = ["r1", "right"]
rate = "4Mbps"
delay = "30ms"
queue = { kind = "red", limit = "40 packets" }
loss = { forward = 0.002, back = 0.001 }
[[link]]
name = "spread"
between = ["right", "d"]
rate = "100Mbps"
delay = "1ms"
[[flow]]
name = "one"
from = "s"
to = "d"
transport = "FIRST"
spread = "500ms"
[[flow]]
name = "two"
from = "d"
to = "s"
transport = "SECOND"
start = "1s"
bytes = 200000
[[flow]]
name = "three"
from = "s"
to = "d"
transport = "udp"
rate = "100kbps"
"#;

/// A shipped network with the given settings.
fn shipped(name: &str, settings: &[&str]) -> NetworkFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/networks");
    let settings = settings.iter().map(|it| it.parse().expect("a setting"));
    let settings: Vec<_> = settings.collect();
    NetworkFile::load(&path.join(name), &settings).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The shipped dumbbell of chips, over a few of its round-trip times.
fn chip() -> NetworkFile {
    shipped(
        "dumbbell-xcp-chip.toml",
        &["until=3s", "from=1s", "flow.*.step=100ms"],
    )
}

fn models(law: &str, first: &str, second: &str) -> NetworkFile {
    let text = MODELS
        .replace("LAW", law)
        .replace("FIRST", first)
        .replace("SECOND", second);
    NetworkFile::parse("test.toml", &text).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

fn fresh(file: &NetworkFile, threads: usize) -> Network {
    let systems = systems(file, &npsim_protocols::registry(), &assemble_project);
    let systems = systems.unwrap_or_else(|problems| panic!("{problems}"));
    let packet_simulation = Simulation::new(file.topology.clone()).expect("a network");
    Network::new(packet_simulation, systems)
        .expect("chips")
        .with_threads(threads)
}

fn never_interrupt() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Everything transmitted on lines.
#[derive(Clone, Default, PartialEq)]
struct Seen(Vec<(Time, usize, &'static str, Frame)>);

impl Tap for Seen {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        self.0.push((now, line, "sent", frame.clone()));
    }

    fn dropped(&mut self, now: Time, line: usize, frame: &Frame, reason: DropReason) {
        self.0.push((now, line, reason.name(), frame.clone()));
    }

    fn lost(&mut self, now: Time, line: usize, frame: &Frame) {
        self.0.push((now, line, "lost", frame.clone()));
    }
}

fn bytes(network: &mut Network) -> Vec<u8> {
    postcard::to_allocvec(&network.snapshot().expect("a state")).expect("bytes")
}

fn restored(file: &NetworkFile, threads: usize, bytes: &[u8]) -> Network {
    let mut network = fresh(file, threads);
    let snapshot: Snapshot = postcard::from_bytes(bytes).expect("a state");
    network.restore(snapshot).expect("the same network");
    network
}

/// Runs to the end and returns all counts.
fn end(file: &NetworkFile, mut network: Network, seen: &mut Seen) -> String {
    let begin = fresh(file, 1).packet_simulation().counters();
    network
        .run_to(file.until, seen, &never_interrupt)
        .expect("no fault");
    network.end(seen, &never_interrupt).expect("no fault");
    let results = Results::of(file, &network, &begin);
    serde_json::to_string(&results).expect("JSON")
}

/// Saves at some times, in parts per million of the run, and resumes from each in a new network
/// with another number of threads: to the next time, where the states must be equal, and to the
/// end.
fn check(file: &NetworkFile, times: &[u64]) {
    let mut seen = Seen::default();
    let results = end(file, fresh(file, 1), &mut seen);
    let mut before = Seen::default();
    let mut original = fresh(file, 1);
    let mut copy: Option<Network> = None;
    for (number, part) in times.iter().enumerate() {
        let pause = (u128::from(file.until) * u128::from(*part) / 1_000_000) as Time;
        original
            .run_to(pause, &mut before, &never_interrupt)
            .expect("no fault");
        let saved = bytes(&mut original);
        if let Some(mut copy) = copy.take() {
            let unread = &mut Seen::default();
            copy.run_to(pause, unread, &never_interrupt)
                .expect("no fault");
            assert!(bytes(&mut copy) == saved, "states differ at {pause} ps");
        }
        let threads = [1, 2, 8][number % 3];
        let mut again = restored(file, threads, &saved);
        assert!(
            bytes(&mut again) == saved,
            "a state changes by being restored at {pause} ps"
        );
        copy = Some(again);
        let mut after = before.clone();
        let resumed = end(file, restored(file, threads, &saved), &mut after);
        assert!(resumed == results, "results differ from {pause} ps on");
        assert!(after == seen, "frames differ from {pause} ps on");
    }
}

#[test]
fn restored_model_networks_run_identically() {
    for (law, first, second) in [
        ("fifo", "sack", "reno"),
        ("xcp", "xcp", "sack"),
        ("xcp-option", "xcp-option", "cubic"),
        ("rcp", "rcp", "sack"),
    ] {
        let file = models(law, first, second);
        check(&file, &[0, 1, 140_000, 333_333, 500_001, 999_999]);
    }
}

#[test]
fn restored_network_with_chip_runs_identically() {
    let file = chip();
    check(&file, &[0, 61_803, 414_214, 732_051]);
}

/// The core's messages are on the line at the first time and the third, and routes have changed.
#[test]
fn restored_messages_in_flight_arrive_identically() {
    let file = shipped("withdrawn-chip.toml", &["until=3s"]);
    check(&file, &[2_333, 500_000, 668_900]);
}

/// An interrupted run has chips at times that differ from the rest, and can still be resumed.
#[test]
fn interrupted_network_resumes_identically() {
    let file = chip();
    let mut seen = Seen::default();
    let results = end(&file, fresh(&file, 1), &mut seen);
    let run = |most: u32, before: &mut Seen| {
        let asked = AtomicU32::new(0);
        let mut network = fresh(&file, 2);
        let stopped = network.run_to(file.until, before, &|| match asked
            .fetch_add(1, Ordering::Relaxed)
        {
            asked if asked < most => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        });
        (network, stopped, asked.into_inner())
    };
    let (_, _, all) = run(u32::MAX, &mut Seen::default());
    for most in [5, all / 3, all - 10] {
        let mut before = Seen::default();
        let (mut network, stopped, _) = run(most, &mut before);
        assert!(matches!(stopped, Err(Stopped::Interrupted)), "{most}");
        let saved = bytes(&mut network);
        let resumed = end(&file, restored(&file, 2, &saved), &mut before);
        assert!(resumed == results, "results differ after {most}");
        assert!(before == seen, "frames differ after {most}");
    }
}

#[test]
fn snapshot_of_another_network_is_refused() {
    let one = models("fifo", "sack", "reno");
    let mut network = fresh(&one, 1);
    let foreign = |snapshot, file: &NetworkFile| fresh(file, 1).restore(snapshot);
    let snapshot = network.snapshot().expect("a state");
    let other = models("fifo", "sack", "cubic");
    assert_eq!(
        foreign(snapshot.clone(), &other),
        Err("it is of another network".to_owned())
    );
    assert_eq!(
        foreign(snapshot.clone(), &chip()),
        Err("it has 0 chips, and there are 1".to_owned())
    );
    assert_eq!(foreign(snapshot, &one), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the bytes, a network accepts or rejects them.
    #[test]
    fn corrupted_snapshot_is_refused_or_runs(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 1..6usize), 1..8),
    ) {
        static SAVED: std::sync::LazyLock<(NetworkFile, Vec<u8>)> = std::sync::LazyLock::new(|| {
            let file = models("xcp", "xcp", "sack");
            let mut network = fresh(&file, 1);
            network.run_to(file.until / 2, &mut Seen::default(), &never_interrupt).expect("no fault");
            let saved = bytes(&mut network);
            (file, saved)
        });
        let (file, mut state) = (&SAVED.0, SAVED.1.clone());
        for (at, value, run) in changes {
            let at = at.index(state.len());
            let end = (at + run).min(state.len());
            state[at..end].fill(value);
        }
        if let Ok(snapshot) = postcard::from_bytes::<Snapshot>(&state) {
            let mut network = fresh(file, 1);
            let before = bytes(&mut network);
            if network.restore(snapshot).is_err() {
                prop_assert!(bytes(&mut network) == before, "a refused state leaves nothing");
            }
        }
    }
}
