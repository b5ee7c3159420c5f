//! Speed of npsim, compared with a plain interpreter in the same run.
//!
//! `branches` is a kernel of ten or eleven operations per round, in a loop of two basic blocks; `alu` is one of ten
//! operations in a loop of one. Each runs once as microcode on the engine, once as WebAssembly in `wasmi`, operation
//! for operation, so their rates are comparable. `forwarder` sends 64-byte frames at line rate through the shipped IPv4
//! forwarder on three Gigabit ports: unobserved, profiled, and with a timeline. `router` is the standard router with
//! 64-byte frames at line rate on all its ports, unobserved and profiled, alternating with the kernel in `wasmi`, so
//! that machine and load are the same for all three.

use std::hint::black_box;
use std::io::sink;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use npsim::chip::kernel::check::Check;
use npsim::engine::ENGINE;
use npsim::links::{Links, captured};
use npsim::observe::profile::Collector;
use npsim::observe::timeline::{Recorder, TimeWindow};
use npsim::quantity::Time;
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_benches::{load, root, smallest_frames};
use npsim_net::Frame;
use npsim_net::load::Load;
use npsim_net::pace::{Pace, PortAssignment, PortLine, schedule};
use wasmi::{Engine, Linker, Module, Store, TypedFunc};

/// The kernel of ten operations per round for `wasmi`.
const KERNEL: &str = include_str!("alu.wat");

/// Rounds of a kernel.
const ROUNDS: u32 = 1_000_000;

/// Frames in the forwarder bench.
const FRAMES: usize = 20_000;

/// Line rate of three Gigabit ports with 64-byte frames.
const SATURATION: &str = "4464kpps";

/// Simulated time of the router bench.
const ROUTER_TIME: &str = "4ms";

/// Number of times that the three sides of the router comparison are run.
const COMPARISONS: usize = 7;

/// Maximum cost of an observed run, as a multiple of an unobserved one.
const WATCHING_LIMIT: f64 = 2.0;

/// A kernel in `wasmi`, ready to run.
struct Yardstick {
    store: Store<()>,
    run: TypedFunc<i32, i32>,
}

impl Yardstick {
    /// Compiles the kernel with this text.
    fn new(kernel: &str) -> Self {
        let engine = Engine::default();
        let module = Module::new(&engine, kernel).expect("the kernel is valid");
        let mut store = Store::new(&engine, ());
        let instance = Linker::new(&engine)
            .instantiate_and_start(&mut store, &module)
            .expect("no imports");
        let run = instance
            .get_typed_func::<i32, i32>(&store, "run")
            .expect("exported");
        Self { store, run }
    }

    fn run(&mut self) -> i32 {
        self.run
            .call(&mut self.store, ROUNDS as i32)
            .expect("no trap")
    }
}

/// A loop of two blocks: every other round has an eleventh operation.
fn branches(criterion: &mut Criterion) {
    let operations = u64::from(ROUNDS) * 21 / 2;
    kernel(
        criterion,
        "branches",
        operations,
        include_str!("branches.wat"),
    );
}

/// A loop of one block.
fn alu(criterion: &mut Criterion) {
    let operations = u64::from(ROUNDS) * 10;
    kernel(criterion, "alu", operations, KERNEL);
}

/// Runs a kernel with this many operations on both sides: `benches/NAME.uc`, and this text.
fn kernel(criterion: &mut Criterion, name: &str, operations: u64, text: &str) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(operations));

    let defines = [("ROUNDS".to_owned(), ROUNDS.to_string())];
    let source = root().join("benches").join(name).with_extension("uc");
    let (project, programs) = load(&source, &defines);
    let make = || {
        // The kernel computes for longer than any packet program would.
        let settings = RunSettings {
            allow: vec![Check::NeverYields],
            ..RunSettings::new(ENGINE)
        };
        Simulation::new(&project, &programs, settings).expect("the kernel fits the chip")
    };
    let run_microcode = |simulation: &mut Simulation| {
        let mut links = Links::idle(project.capacity.hertz);
        let ending = simulation.run(&mut links, &mut |_, _| {});
        assert_eq!(ending, Ending::NoEvents);
        simulation.result()
    };
    let microcode = run_microcode(&mut make());
    // Both sides are set up before the clock starts.
    group.bench_function("npsim", |bencher| {
        bencher.iter_batched_ref(make, run_microcode, BatchSize::PerIteration);
    });

    let mut yardstick = Yardstick::new(text);
    assert_eq!(
        yardstick.run() as u32,
        microcode,
        "both kernels come to the same result"
    );
    group.bench_function("wasmi", |bencher| bencher.iter(|| yardstick.run()));
    group.finish();
}

/// The result that the kernel left in local memory.
trait KernelResult {
    fn result(&self) -> u32;
}

impl KernelResult for Simulation {
    fn result(&self) -> u32 {
        self.chip().microengines()[0].local_memory()[0]
    }
}

/// Continues a run without interruption.
fn keep_running() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn forwarder(criterion: &mut Criterion) {
    let (project, programs) = load(&root().join("microcode/forward"), &[]);
    let frames = smallest_frames(FRAMES);
    let ports = vec![
        PortLine {
            bits_per_second: 1_000_000_000
        };
        3
    ];
    let plan =
        schedule(&frames, &ports, PortAssignment::RoundRobin, Pace::Line).expect("three ports");
    let (frames, plan) = (Arc::<[Frame]>::from(frames), Arc::new(plan));
    let settings = RunSettings {
        drain: Some(60_000),
        ..RunSettings::new(ENGINE)
    };
    let run = || {
        let mut simulation = Simulation::new(&project, &programs, settings.clone())
            .expect("the forwarder fits the chip");
        let frames = captured(Arc::clone(&frames), Arc::clone(&plan));
        let mut links = Links::streaming(frames, 0, project.capacity.hertz, None);
        let ending = simulation.run(&mut links, &mut |_, _| {});
        assert_eq!(ending, Ending::Drained);
        links.traffic.sent_frames
    };

    // One microengine receives less than three ports offer; the frames that leave are counted.
    let sent = run();
    println!("forwarder: {sent} of {FRAMES} frames leave");
    let mut group = criterion.benchmark_group("forwarder");
    group
        .throughput(Throughput::Elements(sent))
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("64-byte frames at line rate", |bencher| bencher.iter(run));

    // The forwarder with a profile and with a timeline: the cost of observers.
    let watched = |eyes: &mut dyn FnMut(&mut Simulation, &mut Links)| {
        let mut simulation = Simulation::new(&project, &programs, settings.clone())
            .expect("the forwarder fits the chip");
        let frames = captured(Arc::clone(&frames), Arc::clone(&plan));
        let mut links = Links::streaming(frames, 0, project.capacity.hertz, None);
        eyes(&mut simulation, &mut links);
        assert_eq!(links.traffic.sent_frames, sent, "watching changes nothing");
    };
    group.bench_function("profiled", |bencher| {
        bencher.iter(|| {
            watched(&mut |simulation, links| {
                let mut collector = Collector::new(simulation.chip());
                simulation.run_watched(links, &mut collector, &mut |_, _| keep_running());
                black_box(collector.finish(simulation.now()));
            });
        });
    });
    group.bench_function("with a timeline of 200 us", |bencher| {
        bencher.iter(|| {
            watched(&mut |simulation, links| {
                let window = TimeWindow::default().cycles(project.capacity.hertz);
                let mut recorder = Recorder::new(sink(), "bench", simulation.chip(), window);
                simulation.run_watched(links, &mut recorder, &mut |_, _| keep_running());
                black_box(recorder.finish(simulation.now()).expect("a sink takes all"));
            });
        });
    });
    group.finish();
}

/// The seconds that something takes.
fn seconds<T>(what: impl FnOnce() -> T) -> f64 {
    let began = Instant::now();
    black_box(what());
    began.elapsed().as_secs_f64()
}

/// The median.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn router(criterion: &mut Criterion) {
    let (project, programs) = load(&root().join("microcode/router"), &[]);
    let hertz = project.capacity.hertz;
    let traffic = Load {
        rate: Some(SATURATION.parse().expect("a rate")),
        time: ROUTER_TIME.parse().expect("a time"),
        ..project.load.clone().unwrap_or_default()
    };
    let traffic = npsim::load::resolved(traffic, &project);
    let settings = RunSettings {
        until: Some(Time::Picoseconds(traffic.time.picoseconds()).cycles(hertz)),
        ..RunSettings::new(ENGINE)
    };
    let start = || {
        let simulation = Simulation::new(&project, &programs, settings.clone())
            .expect("the router fits the chip");
        let generator = npsim::load::generator(&traffic, &project).expect("the load fits");
        (simulation, Links::loaded(generator, hertz, None))
    };
    let unwatched = || {
        let (mut simulation, mut links) = start();
        let ending = simulation.run(&mut links, &mut |_, _| {});
        assert_eq!(ending, Ending::Reached);
        links.traffic.sent_frames
    };
    let profiled = || {
        let (mut simulation, mut links) = start();
        let mut collector = Collector::new(simulation.chip());
        simulation.run_watched(&mut links, &mut collector, &mut |_, _| keep_running());
        black_box(collector.finish(simulation.now()));
        links.traffic.sent_frames
    };
    let sent = unwatched();
    assert_eq!(profiled(), sent, "watching changes nothing");

    let mut group = criterion.benchmark_group("router");
    group
        .throughput(Throughput::Elements(sent))
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("standard router at saturation", |bencher| {
        bencher.iter(unwatched);
    });
    group.bench_function("standard router at saturation, profiled", |bencher| {
        bencher.iter(profiled);
    });
    group.finish();

    // Interleaved, so that other load on the machine affects all of them.
    let mut yardstick = Yardstick::new(KERNEL);
    let (mut operations, mut packets, mut cost) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..COMPARISONS {
        let plain = seconds(unwatched);
        let watched = seconds(profiled);
        packets.push(sent as f64 / plain);
        cost.push(watched / plain);
        operations.push(f64::from(ROUNDS) * 10.0 / seconds(|| yardstick.run()));
    }
    let (packets, operations, cost) = (median(packets), median(operations), median(cost));
    println!(
        "router: {packets:.0} packets sent per second, wasmi {operations:.0} operations per second: {:.0} wasmi operations a packet",
        operations / packets
    );
    println!(
        "router: a profiled run takes {cost:.2} times as long, {} the limit of {WATCHING_LIMIT}",
        if cost <= WATCHING_LIMIT {
            "within"
        } else {
            "beyond"
        }
    );
}

criterion_group!(benches, branches, alu, forwarder, router);
criterion_main!(benches);
