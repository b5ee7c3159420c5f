//! XCP: feedback packet by packet, and the law interval by interval.

use npsim_network::{Content, Frame, Network};
use npsim_protocols::thread_counters::ThreadRecord;
use npsim_protocols::xcp::control::{ControlTimer, IntervalResult};
use npsim_protocols::xcp::feedback::Sums;
use npsim_protocols::xcp::header::XcpHeader;
use npsim_protocols::xcp::task::XcpTask;
use npsim_transport::time::Time;
use npsim_transport::wire::PacketBody;

use super::{
    Bounds, GROUP, LOOK, Watch, assert_alike, line_of, never_interrupt, parsed, ready, text,
    with_model,
};

const FILE: &str = "dumbbell-xcp-chip.toml";
/// Packets between the read of the sums and the switch to the new pools.
const TURN: usize = 6;

fn header(frame: &Frame) -> Option<XcpHeader> {
    match frame.content {
        Content::Packet(packet) => match packet.body {
            PacketBody::Tcp { xcp, .. } => xcp,
            PacketBody::Rcp { .. } => None,
        },
        _ => None,
    }
}

/// A frame as forwarded by the router, but with the feedback of `other`.
fn forwarded_frame(frame: &Frame, other: &Frame) -> Frame {
    let mut passed = frame.clone();
    if let Content::Packet(packet) = &mut passed.content {
        packet.ttl -= 1;
        if let (PacketBody::Tcp { xcp: Some(own), .. }, Some(other)) =
            (&mut packet.body, header(other))
        {
            own.delta_throughput = other.delta_throughput;
        }
    }
    passed
}

/// The end of an interval in the chip's slow path.
struct Ended {
    /// The interval ended after the previous check and before this time.
    seen: Time,
    /// Everything counted until its end.
    counted: Sums,
    /// The queue timer's result at the checks before and after.
    queues: [u32; 2],
    done: IntervalResult,
}

/// An observed run of the chip among reactive hosts.
struct Run {
    watch: Watch,
    control: ControlTimer,
    ended: Vec<Ended>,
}

fn run() -> Run {
    let file = parsed(
        &text(FILE)
            .replace("until = \"120s\"", "until = \"8s\"")
            .replace("from = \"30s\"", "from = \"1s\""),
    );
    let mut watch = Watch::of(&file);
    let mut network = ready(&file);
    let state = |network: &Network| {
        let chip = network.chip(0).expect("a chip");
        let task = chip.gpp().task::<XcpTask>().expect("XCP");
        task.groups().nth(GROUP).expect("a group").clone()
    };
    let mut before = state(&network);
    let control = before.control;
    let mut ended = Vec::new();
    while network.packet_simulation().now() < file.until {
        let next = network.packet_simulation().now() + LOOK;
        network
            .run_to(next, &mut watch, &never_interrupt)
            .expect("no fault");
        let now = state(&network);
        if now.intervals > before.intervals {
            assert_eq!(now.intervals, before.intervals + 1, "looks are too rare");
            ended.push(Ended {
                seen: next,
                counted: now.counted(),
                queues: [before.queue.queue(), now.queue.queue()],
                done: now.last.expect("an interval"),
            });
        }
        before = now;
    }
    assert!(ended.len() > 10, "{} intervals", ended.len());
    Run {
        watch,
        control,
        ended,
    }
}

/// Frames from a closed loop at the router's input, into the microcode and into the model.
#[test]
fn chip_and_model_write_equal_headers() {
    let Run {
        watch,
        mut control,
        ended,
    } = run();
    let Watch { came, left, .. } = &watch;
    assert_eq!(watch.dropped, 0);

    // Frames leave in the order of arrival, unchanged except for their feedback.
    assert!(
        left.len() > 5_000 && left.len() <= came.len(),
        "{}",
        left.len()
    );
    for (number, ((_, out), (_, frame))) in left.iter().zip(came).enumerate() {
        assert_eq!(*out, forwarded_frame(frame, out), "frame {number}");
    }

    // The law: the microcode's counts in each interval determine, bit by bit, the pools that the slow path provides in
    // the next.
    let parameters = *control.parameters();
    let mut counted = Sums::default();
    for (number, end) in ended.iter().enumerate() {
        let sums = end.counted.since(&counted);
        counted = end.counted;
        let replayed = end.queues.map(|queue| control.clone().fire(&sums, queue));
        assert!(
            replayed.contains(&end.done),
            "interval {number}: {replayed:?} {:?}",
            end.done
        );
        control.fire(&sums, end.queues[0]);
    }

    // The sums: the microcode's counts equal the model's for all frames up to one that arrived around that time.
    let mut sums = vec![Sums::default()];
    for (_, frame) in came {
        let mut next = *sums.last().expect("sums");
        next.arrive(
            frame.bytes as u16,
            header(frame).as_ref(),
            parameters.max_interval,
        );
        sums.push(next);
    }
    let mut ends = Vec::new();
    let mut between = 0;
    for end in &ended {
        let mut counts = watch.counted_by(end.seen);
        let found = counts.find(|count| sums[*count] == end.counted);
        between += usize::from(found.is_none());
        ends.push(found);
    }
    // Some end while the microcode processes a frame that others have overtaken.
    assert!(between * 20 <= ended.len(), "{between} of {}", ended.len());

    // The feedback: from the pools of each interval, frames take what the model gives them.
    let (mut compared, mut alike, mut whole) = (0, 0, 0);
    for (number, pair) in ends.windows(2).enumerate() {
        let (Some(begin), Some(end)) = (pair[0], pair[1]) else {
            continue;
        };
        let end = end.min(left.len());
        let taken = |skipped: usize| {
            let mut pools = ended[number].done.pools;
            let of = |at: usize| {
                let (_, frame) = &came[at];
                let header = header(frame).filter(|header| header.accepts_feedback());
                header.is_none_or(|header| {
                    let given = pools.depart(header.x, frame.bytes as u16, header.delta_throughput);
                    Some(given.delta) == self::header(&left[at].1).map(|it| it.delta_throughput)
                })
            };
            (begin + skipped..end)
                .map(of)
                .filter(|alike| *alike)
                .count()
        };
        let Some(best) = (0..=TURN.min(end.saturating_sub(begin)))
            .map(|skipped| (taken(skipped) + skipped, skipped))
            .max()
        else {
            continue;
        };
        let count = end - begin;
        compared += count - best.1;
        alike += best.0 - best.1;
        whole += usize::from(best.0 == count);
    }
    println!(
        "{compared} frames of {} intervals, {alike} alike; {whole} whole intervals, {between} ends between frames",
        ended.len()
    );
    assert!(compared > 4_000, "{compared}");
    assert!(alike * 1_000 >= compared * 999, "{alike} of {compared}");
    assert!(
        whole * 10 >= ends.len() * 9,
        "{whole} of {} intervals",
        ends.len()
    );
}

/// Over five seeds, which draw the start times of flows.
#[test]
fn chip_and_model_give_hosts_the_same_results() {
    let chip = text(FILE)
        .replace("until = \"120s\"", "until = \"10s\"")
        .replace("from = \"30s\"", "from = \"4s\"")
        .replace(
            "transport = \"xcp\"",
            "transport = \"xcp\"\nspread = \"500ms\"",
        );
    let model = with_model(&chip, "model = \"xcp\"\nxcp = { stamp = \"arrival\" }");
    let means = assert_alike(&chip, &model, &Bounds::OF_A_LINE, &line_of);
    // All compared values are as expected.
    assert!(means[0] > 0.9 && means[3] == 0.0, "{means:?}");
}
