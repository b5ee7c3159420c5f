//! How fast npsim runs, beside a plain interpreter in the same run.
//!
//! `alu` is a kernel of ten operations a round: once as microcode on the
//! engine, once as WebAssembly in `wasmi`, operation for operation, so their
//! rates are comparable. `forwarder` sends 64-byte frames at line rate through
//! the shipped IPv4 forwarder on three Gigabit ports: unwatched, profiled, and
//! with a timeline.

use std::hint::black_box;
use std::io::sink;
use std::ops::ControlFlow;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use npsim::simulation::{Ending, Settings, Simulation};
use npsim::views::profile::Collector;
use npsim::views::timeline::{Recorder, Window};
use npsim::wires::Wires;
use npsim_benches::{load, root, smallest_frames};
use npsim_net::pace::{Pace, PortAssignment, PortLine, Schedule, schedule};
use wasmi::{Engine, Linker, Module, Store};

/// Rounds of the kernel, ten operations each.
const ROUNDS: u32 = 1_000_000;

/// Frames of the forwarder's bench.
const FRAMES: usize = 20_000;

fn alu(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("alu");
    group.throughput(Throughput::Elements(u64::from(ROUNDS) * 10));

    let defines = [("ROUNDS".to_owned(), ROUNDS.to_string())];
    let (project, programs) = load(&root().join("benches/kernel.uc"), &defines);
    let lines = Schedule::default();
    let run_microcode = || {
        let mut simulation = Simulation::new(&project, &programs, Settings::default())
            .expect("the kernel fits the chip");
        let mut wires = Wires::new(&[], &lines, 0, project.capacity.hertz, None);
        let ending = simulation.run(&mut wires, &mut |_, _| {});
        assert_eq!(ending, Ending::Quiet);
        simulation
    };
    let microcode = run_microcode().result();
    group.bench_function("npsim", |bencher| bencher.iter(run_microcode));

    let engine = Engine::default();
    let module = Module::new(&engine, include_str!("kernel.wat")).expect("the kernel is valid");
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine)
        .instantiate_and_start(&mut store, &module)
        .expect("no imports");
    let run = instance
        .get_typed_func::<i32, i32>(&store, "run")
        .expect("exported");
    let wasm = run.call(&mut store, ROUNDS as i32).expect("no trap");
    assert_eq!(
        wasm as u32, microcode,
        "both kernels come to the same result"
    );
    group.bench_function("wasmi", |bencher| {
        bencher.iter(|| run.call(&mut store, ROUNDS as i32).expect("no trap"));
    });
    group.finish();
}

/// What the kernel left in local memory.
trait KernelResult {
    fn result(&self) -> u32;
}

impl KernelResult for Simulation {
    fn result(&self) -> u32 {
        self.chip().microengines[0].local_memory()[0]
    }
}

/// A run that is not broken off.
fn on() -> ControlFlow<()> {
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
    let settings = Settings {
        drain: Some(60_000),
        ..Settings::default()
    };
    let run = || {
        let mut simulation = Simulation::new(&project, &programs, settings.clone())
            .expect("the forwarder fits the chip");
        let mut wires = Wires::new(&frames, &plan, 0, project.capacity.hertz, None);
        let ending = simulation.run(&mut wires, &mut |_, _| {});
        assert_eq!(ending, Ending::Drained);
        wires.traffic.sent_frames
    };

    // One microengine receives less than three ports offer; what counts is what
    // came out at the other end.
    let sent = run();
    println!("forwarder: {sent} of {FRAMES} frames leave");
    let mut group = criterion.benchmark_group("forwarder");
    group
        .throughput(Throughput::Elements(sent))
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("64-byte frames at line rate", |bencher| bencher.iter(run));

    // The same, watched: what a profile and what a timeline cost.
    let watched = |eyes: &mut dyn FnMut(&mut Simulation, &mut Wires<'_>)| {
        let mut simulation = Simulation::new(&project, &programs, settings.clone())
            .expect("the forwarder fits the chip");
        let mut wires = Wires::new(&frames, &plan, 0, project.capacity.hertz, None);
        eyes(&mut simulation, &mut wires);
        assert_eq!(wires.traffic.sent_frames, sent, "watching changes nothing");
    };
    group.bench_function("profiled", |bencher| {
        bencher.iter(|| {
            watched(&mut |simulation, wires| {
                let mut collector = Collector::new(simulation.chip());
                simulation.run_watched(wires, &mut collector, &mut |_, _| on());
                black_box(collector.finish(simulation.now()));
            });
        });
    });
    group.bench_function("with a timeline of 200 us", |bencher| {
        bencher.iter(|| {
            watched(&mut |simulation, wires| {
                let window = Window::default().cycles(project.capacity.hertz);
                let mut recorder = Recorder::new(sink(), "bench", simulation.chip(), window);
                simulation.run_watched(wires, &mut recorder, &mut |_, _| on());
                black_box(recorder.finish(simulation.now()).expect("a sink takes all"));
            });
        });
    });
    group.finish();
}

criterion_group!(benches, alu, forwarder);
criterion_main!(benches);
