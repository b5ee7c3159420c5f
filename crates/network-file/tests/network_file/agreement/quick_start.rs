//! Quick-Start: the answer to each request, and what may be granted window by window.

use npsim_network::{Content, Frame};
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_protocols::quick_start::task::{QuickStartState, QuickStartTask};
use npsim_protocols::quick_start::window::{limit, units_of_bytes};
use npsim_protocols::quick_start::{GrantPool, RequestOutcome, process};
use npsim_transport::time::Time;
use npsim_transport::wire::Packet;

use super::{
    Bounds, GROUP, LOOK, Watch, assert_alike, assert_bypassed, met, never_interrupt, parsed, ready,
    text, with_model,
};

const FILE: &str = "dumbbell-quick-start-chip.toml";
/// The value that both use as a random number.
const RANDOM: u32 = 0x5a5a_a5a5;
/// Bytes that a port counts for a frame in addition to the packet.
const ETHERNET: u32 = 14;

/// Short flows in place of the endless ones: 60 of 40 KB, one every 50 ms, three in a window.
fn requests(more: &str) -> String {
    text(FILE)
        .replace("count = 4", "count = 60")
        .replace(
            "rate = \"2560kbps\"",
            &format!("rate = \"2560kbps\"\nbytes = 40000\nstep = \"50ms\"\n{more}"),
        )
        .replace(
            "me.processing.define = {",
            &format!("me.processing.define = {{ RANDOM_WORD = {RANDOM},"),
        )
        .replace("until = \"120s\"", "until = \"5s\"")
        .replace("from = \"30s\"", "from = \"0s\"")
}

/// A packet as forwarded by a router with the grants in `pool`, and its outcome.
fn forwarded_frame(
    frame: &Frame,
    pool: &mut GrantPool,
    file: &NetworkFile,
) -> (RequestOutcome, Frame) {
    let mut bytes = frame.to_bytes(&file.topology).expect("a packet");
    let outcome = process(&mut bytes, pool, RANDOM);
    let mut passed = frame.clone();
    if let Content::Packet(packet) = &mut passed.content {
        if outcome == RequestOutcome::NoOption {
            packet.ttl -= 1;
        } else {
            *packet = Packet::from_bytes(&bytes).expect("a packet").0;
        }
    }
    (outcome, passed)
}

/// The slow path's state of the group, and the windows that it has ended.
#[derive(Clone, Debug, PartialEq)]
struct GroupState {
    windows: u64,
    samples: u64,
    state: QuickStartState,
}

/// Requests from a closed loop at the router's input, into the microcode and into the model.
#[test]
fn chip_and_model_answer_requests_equally() {
    let file = parsed(&requests(""));
    let mut watch = Watch::of(&file);
    let mut network = ready(&file);
    let known = |chip: &npsim_chip::chip::Chip| {
        let task = chip.gpp().task::<QuickStartTask>().expect("Quick-Start");
        let (group, state) = task.groups().nth(GROUP).expect("a group");
        let known = GroupState {
            windows: task.windows,
            samples: task.samples,
            state: state.clone(),
        };
        (group.threshold, known)
    };
    // The initial state, then the state at each change of a window or its limit.
    let (threshold, first) = known(network.chip(0).expect("a chip"));
    let mut changes = vec![(0, first.clone())];
    let mut samples = vec![(0, first)];
    while network.packet_simulation().now() < file.until {
        let next = network.packet_simulation().now() + LOOK;
        network
            .run_to(next, &mut watch, &never_interrupt)
            .expect("no fault");
        let (_, now) = known(network.chip(0).expect("a chip"));
        let (_, last) = changes.last().expect("the first");
        if (now.windows, now.state.window.limit) != (last.windows, last.state.window.limit) {
            changes.push((next, now.clone()));
        }
        if now.samples > samples.last().expect("the first").1.samples {
            samples.push((next, now));
        }
    }
    let Watch { came, left, .. } = &watch;
    assert_eq!((watch.dropped, came.len()), (0, left.len()));

    // The answers: each frame leaves in order, as forwarded by a model that grants from the rest of the same limit.
    let seen: Vec<Time> = changes.iter().map(|(seen, _)| *seen).collect();
    let windows = changes.last().expect("the first").1.windows as usize + 1;
    let mut granted = vec![0; windows];
    let (mut approved, mut reduced, mut denied, mut sure) = (0, 0, 0, 0);
    for (number, ((_, out), (at, frame))) in left.iter().zip(came).enumerate() {
        let may = met(&seen, *at, 0);
        let single = may.len() == 1;
        let found = changes[may].iter().find_map(|(_, known)| {
            let window = known.windows as usize;
            let mut pool = GrantPool {
                limit: known.state.window.limit,
                granted: granted[window],
            };
            let (outcome, passed) = forwarded_frame(frame, &mut pool, &file);
            (passed == *out).then_some((outcome, window, pool.granted))
        });
        let Some((outcome, window, after)) = found else {
            panic!("frame {number}: {frame:?} {out:?}");
        };
        granted[window] = after;
        let counted = match outcome {
            RequestOutcome::Approve => &mut approved,
            RequestOutcome::Reduce => &mut reduced,
            RequestOutcome::Deny => &mut denied,
            _ => continue,
        };
        *counted += 1;
        sure += usize::from(single);
    }
    println!(
        "{} frames, {approved} requests approved, {reduced} reduced, {denied} denied, {sure} far from a change",
        left.len()
    );
    assert_eq!(approved + reduced + denied, 60);
    assert!(approved > 10 && reduced > 5 && denied > 5 && sure > 50);

    // The grants: the microcode's count in each window equals the model's grants in it.
    let mut ended = 0;
    for (_, known) in changes.iter().skip(1) {
        let state = &known.state;
        let last = granted[known.windows as usize - 1];
        let counted = state.window.granted[1 - usize::from(state.window.phase)];
        assert_eq!(counted, last, "window {}", known.windows - 1);
        // The law: the limit follows from the largest sample and from those grants.
        let follows = limit(threshold, state.peak_utilisation(), last.into());
        assert_eq!(state.window.limit, follows, "window {}", known.windows);
        ended = known.windows;
    }
    assert!(ended >= 25, "{ended} windows");

    // The samples: the traffic that the slow path measures equals the departures since the previous
    // sample, except for those around the time of a sample.
    let mut busy = 0;
    for pair in samples.windows(2) {
        let [(begin, _), (end, known)] = pair else {
            unreachable!("pairs")
        };
        let sent = left.iter().filter(|(at, _)| begin < at && at <= end);
        let bytes: u32 = sent.map(|(_, frame)| frame.bytes + ETHERNET).sum();
        let length = end - begin;
        let most = u64::from(bytes) + 2 * 1_014;
        let least = u64::from(bytes).saturating_sub(2 * 1_014);
        let utilisation = known.state.utilisation;
        assert!(
            // A check is late by up to LOOK, which is a five-hundredth of a window.
            utilisation <= units_of_bytes(most, length - LOOK)
                && utilisation >= units_of_bytes(least, length + LOOK),
            "{utilisation} units, {bytes} bytes in {length} ps"
        );
        busy += usize::from(bytes > 10_000);
    }
    assert!(busy > 15, "{busy} samples");
}

/// Mean and maximum duration of the flows, and the queue before the line.
fn flows_of(results: &Results) -> [f64; 3] {
    let done = results.flows.iter().map(|flow| flow.completion_s);
    let done: Vec<f64> = done.map(|done| done.expect("it is done")).collect();
    let mut lines = results.lines.iter();
    let line = lines
        .find(|line| line.name == "bottleneck")
        .expect("a line");
    [
        done.iter().sum::<f64>() / done.len() as f64,
        done.iter().copied().fold(0.0, f64::max),
        line.mean_queue_bytes,
    ]
}

/// Over five seeds, which draw the start times of flows.
#[test]
fn chip_and_model_give_hosts_the_same_results() {
    let chip = requests("spread = \"200ms\"").replace("until = \"5s\"", "until = \"8s\"");
    let model = with_model(&chip, "model = \"quick-start\"");
    let bounds = Bounds([
        ("completion", 0.0, 0.02),
        ("longest completion", 0.0, 0.05),
        ("mean queue", 2_000.0, 0.05),
    ]);
    let means = assert_alike(&chip, &model, &bounds, &flows_of);
    // All compared values are as expected: with a round-trip time of 500 ms, a flow needs two round trips, and four
    // without a grant.
    assert!((1.0..4.0).contains(&means[0]), "{means:?}");
}

#[test]
fn single_flow_takes_equally_long_over_chip_and_model() {
    let chip = text(FILE)
        .replace("until = \"120s\"", "until = \"16s\"")
        .replace(
            "rate = \"2560kbps\"",
            "rate = \"2560kbps\"\nbytes = 100000\nstep = \"4s\"",
        );
    let chip = chip.replace("from = \"30s\"", "from = \"0s\"");
    let model = with_model(&chip, "model = \"quick-start\"");
    assert_bypassed(&chip, &model, 1.0);
}
