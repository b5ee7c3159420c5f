//! The router models and the microcode in a chip agree: packet by packet and interval by interval for the same input,
//! and in the overall results where hosts react.

mod quick_start;
mod rcp;
mod xcp;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use npsim_network::{DropReason, Frame, Network, NoTap, Simulation, Tap};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_project::assemble::assemble_project;
use npsim_transport::time::{MICROSECOND, Time};

/// The group of the bottleneck's port.
const GROUP: usize = 1;
/// The interval between checks of the chip; the shortest interval of a law is 500 us.
const LOOK: Time = 20 * MICROSECOND;
/// Longer than a packet takes until the microcode counts and stamps it, and shorter than the time
/// between two checks or two packets.
const LATENCY: Time = 30 * MICROSECOND;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../traces/networks/{name}"))
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).expect("a file")
}

fn parsed(text: &str) -> NetworkFile {
    // Paths of systems are relative to the file.
    let path = path("test.toml").display().to_string();
    NetworkFile::parse(&path, text).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

fn ready(file: &NetworkFile) -> Network {
    let systems = systems(file, &npsim_protocols::registry(), &assemble_project);
    let systems = systems.unwrap_or_else(|problems| panic!("{problems}"));
    let packet_simulation = Simulation::new(file.topology.clone()).expect("a network");
    Network::new(packet_simulation, systems).expect("chips")
}

fn never_interrupt() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The network with a model in place of the chip: with the latency of the chip, the bytes of Ethernet on the line, and
/// the queue of the microcode.
fn with_model(text: &str, model: &str) -> String {
    let begin = text.find("[[router]]").expect("a router");
    let end = text.find("[[link]]").expect("a link");
    let model = format!("[[router]]\nname = \"r1\"\n{model}\ndelay = \"120us\"\n\n");
    let queue = "delay = \"248ms\"\noverhead = 38\nqueue = { limit = \"1250KB\" }";
    (text[..begin].to_owned() + &model + &text[end..])
        .replace("r1:0", "r1")
        .replace("r1:1", "r1")
        .replace("delay = \"248ms\"", queue)
}

/// Frames that arrived at the chip for the bottleneck, by the time of their last bit, and frames
/// that left, by that of their first.
struct Watch {
    into: usize,
    out: usize,
    /// From the beginning of a frame on the line to its last bit in the chip.
    arrives: Box<dyn Fn(u32) -> Time>,
    came: Vec<(Time, Frame)>,
    left: Vec<(Time, Frame)>,
    dropped: u64,
}

impl Watch {
    fn of(file: &NetworkFile) -> Self {
        let topology = &file.topology;
        let line = |name: &str| {
            let found = topology.links.iter().position(|link| link.name == name);
            2 * found.expect("a link")
        };
        let trunk = topology.line(line("trunk")).clone();
        Self {
            into: line("trunk"),
            out: line("bottleneck"),
            arrives: Box::new(move |bytes| trunk.time(bytes) + trunk.delay),
            came: Vec::new(),
            left: Vec::new(),
            dropped: 0,
        }
    }
}

impl Watch {
    /// The numbers of arrived frames that the microcode may have counted at the time of a check: it may not have
    /// reached the latest ones.
    fn counted_by(&self, seen: Time) -> std::ops::RangeInclusive<usize> {
        let came = &self.came;
        let first = came.partition_point(|(at, _)| at + LOOK + LATENCY < seen);
        first..=came.partition_point(|(at, _)| *at <= seen)
    }
}

impl Tap for Watch {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        if line == self.into {
            self.came
                .push((now + (self.arrives)(frame.bytes), frame.clone()));
        } else if line == self.out {
            self.left.push((now, frame.clone()));
        }
    }

    fn dropped(&mut self, _: Time, _: usize, _: &Frame, _: DropReason) {
        self.dropped += 1;
    }
}

/// From a sequence of observed states, each with the time of its first observation, those that a packet arriving at a
/// time may have met. A state holds from some time between the previous check and this one, and a packet meets it
/// within [`LATENCY`]; publishing it takes up to `publishes` more.
fn met(seen: &[Time], came: Time, publishes: Time) -> std::ops::Range<usize> {
    let first = seen.partition_point(|at| at + publishes <= came);
    let last = seen.partition_point(|at| at.saturating_sub(LOOK) <= came + LATENCY);
    first.saturating_sub(1)..last
}

/// The allowed difference of means: absolute, or as a share of the model's mean.
struct Bounds<const N: usize>([(&'static str, f64, f64); N]);

impl Bounds<4> {
    /// For the results of [`line_of`]: 1 % of the line, two packets or 5 % of the queue, 0.02 of Jain's index, 20 % of
    /// the drops.
    const OF_A_LINE: Self = Self([
        ("utilisation", 0.01, 0.0),
        ("mean queue", 2_000.0, 0.05),
        ("Jain's index", 0.02, 0.0),
        ("drops", 0.0, 0.2),
    ]);
}

/// Utilisation, mean queue and drops of the bottleneck, and the fairness of its flows.
fn line_of(results: &Results) -> [f64; 4] {
    let mut lines = results.lines.iter();
    let line = lines
        .find(|line| line.name == "bottleneck")
        .expect("a line");
    [
        line.utilisation,
        line.mean_queue_bytes,
        results.jain.expect("an index"),
        line.drops as f64,
    ]
}

/// Flows that run one after the other, without interference, take as long through a chip as through a model with the
/// same latency, to within 0.5 %. Each takes more than `least` seconds.
fn assert_bypassed(chip: &str, model: &str, least: f64) {
    let took = |text: &str| {
        let file = parsed(text);
        let mut network = ready(&file);
        let begin = network.packet_simulation().counters();
        network
            .run_to(file.until, &mut NoTap, &never_interrupt)
            .expect("no fault");
        let results = Results::of(&file, &network, &begin);
        let flows = results.flows.iter().map(|flow| flow.completion_s);
        let flows: Option<Vec<f64>> = flows.collect();
        flows.expect("all are done")
    };
    let (chip, model) = (took(chip), took(model));
    println!("through the chip {chip:?}, through the model {model:?}");
    for (one, other) in chip.iter().zip(&model) {
        assert!((one / other - 1.0).abs() < 0.005, "{chip:?} {model:?}");
        assert!(*other > least, "{model:?}");
    }
    assert_eq!(chip.len(), 4);
}

/// The mean of five values, and the half-width of its 95 % confidence interval.
fn half_width(values: &[f64]) -> (f64, f64) {
    const STUDENT: f64 = 2.776;
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, STUDENT * (variance / count).sqrt())
}

/// Runs a network with a chip and the same network with a model five times each, with seeds that draw the start times
/// of flows. The confidence intervals overlap, and the means are within the bounds of each other. Returns the means of
/// the model.
fn assert_alike<const N: usize>(
    chip: &str,
    model: &str,
    bounds: &Bounds<N>,
    of: &dyn Fn(&Results) -> [f64; N],
) -> [f64; N] {
    let measured = |text: &str| {
        let mut all: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
        for seed in 1..=5 {
            let mut file = parsed(text);
            file.reseed(seed);
            let mut network = ready(&file);
            network
                .run_to(file.from, &mut NoTap, &never_interrupt)
                .expect("no fault");
            let begin = network.packet_simulation().counters();
            network
                .run_to(file.until, &mut NoTap, &never_interrupt)
                .expect("no fault");
            let results = Results::of(&file, &network, &begin);
            for (all, value) in all.iter_mut().zip(of(&results)) {
                all.push(value);
            }
        }
        all
    };
    let (ours, model) = (measured(chip), measured(model));
    for (((what, most, share), ours), model) in { bounds.0.iter() }.zip(&ours).zip(&model) {
        let ((one, width), (other, wide)) = (half_width(ours), half_width(model));
        println!("{what}: chip {one} +- {width}, model {other} +- {wide}");
        let off = (one - other).abs();
        assert!(
            // On a chip's lines, everything takes whole cycles, unlike in the model.
            off <= width + wide + 1e-5 && off <= f64::max(*most, share * other),
            "{what}: chip {one} +- {width} {ours:?}, model {other} +- {wide} {model:?}"
        );
    }
    model.map(|values| half_width(&values).0)
}
