//! The model of an XCP router and the microcode in a chip agree: packet by packet and interval by
//! interval where both saw the same, and in what comes of it where hosts react.

use std::ops::ControlFlow;
use std::path::Path;

use npsim_network::chips::systems;
use npsim_network::file::NetworkFile;
use npsim_network::results::Results;
use npsim_network::{Content, DropReason, Frame, Network, NoTap, Simulation, Tap};
use npsim_project::assemble::assemble_project;
use npsim_protocols::xcp::control::{Control, Interval};
use npsim_protocols::xcp::feedback::Sums;
use npsim_protocols::xcp::header::Header;
use npsim_protocols::xcp::task::Xcp;
use npsim_transport::time::{MICROSECOND, Time};
use npsim_transport::wire::Body;

/// The group of the port that the bottleneck is on.
const GROUP: usize = 1;
/// How often the chip is looked into; a control interval has 25 ms.
const LOOK: Time = 20 * MICROSECOND;
/// Longer than a packet needs to the microcode's sums, shorter than one between two looks and two
/// packets.
const LATENCY: Time = 30 * MICROSECOND;
/// Packets between the reading of the sums and the turn to the new pools.
const TURN: usize = 6;

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/networks/dumbbell-xcp-chip.toml")
}

fn text() -> String {
    std::fs::read_to_string(path()).expect("a file")
}

fn parsed(text: &str) -> NetworkFile {
    let path = path().display().to_string();
    NetworkFile::parse(&path, text).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

fn ready(file: &NetworkFile) -> Network {
    let systems = systems(file, &npsim_protocols::registry(), &assemble_project);
    let systems = systems.unwrap_or_else(|problems| panic!("{problems}"));
    let outside = Simulation::new(file.topology.clone()).expect("a network");
    Network::new(outside, systems).expect("chips")
}

fn go_on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The network with the model in place of the chip: the same law before the queue, as late as the
/// chip, and the bytes of Ethernet on the line.
fn with_model(text: &str) -> String {
    let begin = text.find("[[router]]").expect("a router");
    let end = text.find("[[link]]").expect("a link");
    let model = "[[router]]\nname = \"r1\"\nmodel = \"xcp\"\ndelay = \"120us\"\nxcp = { stamp = \"arrival\" }\n\n";
    let queue = "delay = \"248ms\"\noverhead = 38\nqueue = { limit = \"1250KB\" }";
    (text[..begin].to_owned() + model + &text[end..])
        .replace("r1:0", "r1")
        .replace("r1:1", "r1")
        .replace("delay = \"248ms\"", queue)
}

/// What came to the chip for the bottleneck, by the time of its last bit, and what left.
struct Watch {
    into: usize,
    out: usize,
    /// From the beginning of a frame on the line to its last bit in the chip.
    arrives: Box<dyn Fn(u32) -> Time>,
    came: Vec<(Time, Frame)>,
    left: Vec<Frame>,
    dropped: u64,
}

impl Tap for Watch {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        if line == self.into {
            self.came.push((now + (self.arrives)(frame.bytes), *frame));
        } else if line == self.out {
            self.left.push(*frame);
        }
    }

    fn dropped(&mut self, _: Time, _: usize, _: &Frame, _: DropReason) {
        self.dropped += 1;
    }
}

fn header(frame: &Frame) -> Option<Header> {
    match frame.content {
        Content::Packet(packet) => match packet.body {
            Body::Tcp { xcp, .. } => xcp,
            Body::Rcp { .. } => None,
        },
        Content::Datagram { .. } => None,
    }
}

/// A frame as the router sends it on, but for the feedback, which is that of `other`.
fn passed_on(frame: &Frame, other: &Frame) -> Frame {
    let mut passed = *frame;
    if let Content::Packet(packet) = &mut passed.content {
        packet.ttl -= 1;
        if let (Body::Tcp { xcp: Some(own), .. }, Some(other)) = (&mut packet.body, header(other)) {
            own.delta_throughput = other.delta_throughput;
        }
    }
    passed
}

/// The end of an interval, as the chip's slow path has it.
struct Ended {
    /// It ended after the look before this time.
    seen: Time,
    /// All that was counted until its end.
    counted: Sums,
    /// What the queue timer said at the looks before and after.
    queues: [u32; 2],
    done: Interval,
}

/// A run of the chip among hosts that react, watched.
struct Run {
    watch: Watch,
    control: Control,
    ended: Vec<Ended>,
}

fn run() -> Run {
    let file = parsed(
        &text()
            .replace("until = \"120s\"", "until = \"8s\"")
            .replace("from = \"30s\"", "from = \"1s\""),
    );
    let topology = &file.topology;
    let line = |name: &str| {
        let found = topology.links.iter().position(|link| link.name == name);
        2 * found.expect("a link")
    };
    let trunk = topology.line(line("trunk")).clone();
    let mut watch = Watch {
        into: line("trunk"),
        out: line("bottleneck"),
        arrives: Box::new(move |bytes| trunk.time(bytes) + trunk.delay),
        came: Vec::new(),
        left: Vec::new(),
        dropped: 0,
    };
    let mut network = ready(&file);
    let state = |network: &Network| {
        let chip = network.chip(0).expect("a chip");
        let task = chip.gpp().task::<Xcp>().expect("XCP");
        task.groups().nth(GROUP).expect("a group").clone()
    };
    let mut before = state(&network);
    let control = before.control;
    let mut ended = Vec::new();
    while network.outside().now() < file.until {
        let next = network.outside().now() + LOOK;
        network.run_to(next, &mut watch, &go_on).expect("no fault");
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
fn the_same_frames_leave_chip_and_model_with_the_same_headers() {
    let Run {
        watch,
        mut control,
        ended,
    } = run();
    let Watch { came, left, .. } = &watch;
    assert_eq!(watch.dropped, 0);

    // Frames leave in the order in which they came, with all but their feedback as it was.
    assert!(
        left.len() > 5_000 && left.len() <= came.len(),
        "{}",
        left.len()
    );
    for (number, (out, (_, frame))) in left.iter().zip(came).enumerate() {
        assert_eq!(*out, passed_on(frame, out), "frame {number}");
    }

    // The law: from what the microcode counted in each interval follows bit by bit what the slow path
    // gives out in the next.
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

    // The sums: the microcode counted what the model does of all frames up to one of those that came
    // about then.
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
        let first = came.partition_point(|(at, _)| at + LOOK + LATENCY < end.seen);
        let last = came.partition_point(|(at, _)| *at <= end.seen);
        let found = (first..=last).find(|count| sums[*count] == end.counted);
        between += usize::from(found.is_none());
        ends.push(found);
    }
    // Some end while a frame is in the microcode that others have overtaken.
    assert!(between * 20 <= ended.len(), "{between} of {}", ended.len());

    // The feedback: of what each interval gives out, frames take what the model gives them.
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
                let header = header(frame).filter(|header| header.takes_feedback());
                header.is_none_or(|header| {
                    let given = pools.depart(header.x, frame.bytes as u16, header.delta_throughput);
                    Some(given.delta) == self::header(&left[at]).map(|it| it.delta_throughput)
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

/// The half width of the interval in which a mean lies with 95 %, of five values.
fn half_width(values: &[f64]) -> (f64, f64) {
    const STUDENT: f64 = 2.776;
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, STUDENT * (variance / count).sqrt())
}

/// Over five seeds, which draw when flows begin.
#[test]
fn hosts_come_to_the_same_over_a_chip_and_over_a_model() {
    let chip = text()
        .replace("until = \"120s\"", "until = \"10s\"")
        .replace("from = \"30s\"", "from = \"4s\"")
        .replace(
            "transport = \"xcp\"",
            "transport = \"xcp\"\nspread = \"500ms\"",
        );
    let measured = |text: &str| {
        let mut all: [Vec<f64>; 4] = std::array::from_fn(|_| Vec::new());
        for seed in 1..=5 {
            let mut file = parsed(text);
            file.reseed(seed);
            let mut network = ready(&file);
            network
                .run_to(file.from, &mut NoTap, &go_on)
                .expect("no fault");
            let begin = network.outside().census();
            network
                .run_to(file.until, &mut NoTap, &go_on)
                .expect("no fault");
            let results = Results::of(&file, &network, &begin);
            let mut lines = results.lines.iter();
            let line = lines
                .find(|line| line.name == "bottleneck")
                .expect("a line");
            let values = [
                line.utilisation,
                line.mean_queue_bytes,
                results.jain,
                line.drops as f64,
            ];
            for (all, value) in all.iter_mut().zip(values) {
                all.push(value);
            }
        }
        all
    };
    let (ours, model) = (measured(&chip), measured(&with_model(&chip)));
    let what = ["utilisation", "mean queue", "Jain's index", "drops"];
    let packets = 2_000.0;
    // How far means may be apart, and how much that is of the second.
    let apart = [(0.01, 0.0), (packets, 0.05), (0.02, 0.0), (0.0, 0.2)];
    for (((what, ours), model), (most, share)) in { what.iter() }.zip(&ours).zip(&model).zip(apart)
    {
        let ((one, width), (other, wide)) = (half_width(ours), half_width(model));
        println!("{what}: chip {one} +- {width}, model {other} +- {wide}");
        let off = (one - other).abs();
        assert!(
            // On a chip's lines all takes whole cycles, which the model knows nothing of.
            off <= width + wide + 1e-5 && off <= f64::max(most, share * other),
            "{what}: chip {one} +- {width} {ours:?}, model {other} +- {wide} {model:?}"
        );
    }
    // All that is compared is what it should be.
    assert!(half_width(&model[0]).0 > 0.9 && half_width(&model[3]).0 == 0.0);
}
