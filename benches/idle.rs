//! Cost of sparse traffic: real captures at their recorded times, and a thousand packets over
//! ten minutes, in which the chip polls nearly all the time. Recurring time is skipped; the
//! first capture is also simulated cycle by cycle, and the bench prints how much
//! skipping gains.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use npsim::assemble::Program;
use npsim::engine::ENGINE;
use npsim::links::{Links, captured};
use npsim::project::Project;
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim_benches::{load, root};
use npsim_net::capture::Capture;
use npsim_net::load::Load;
use npsim_net::pace::{PortAssignment, PortLine, schedule};

/// Rate and duration of the generated packets.
const FEW: (&str, &str) = ("1.6666667pps", "600s");

/// Whether recurring time is skipped.
#[derive(Clone, Copy)]
enum Idle {
    Skipped,
    Simulated,
}

fn settings(project: &Project, idle: Idle) -> RunSettings {
    RunSettings {
        drain: Some(project.capacity.hertz / 10_000),
        no_skip: matches!(idle, Idle::Simulated),
        ..RunSettings::new(ENGINE)
    }
}

/// Replays a capture; returns the number of frames that left.
fn replay(system: &(Project, Vec<Program>), capture: &Capture, idle: Idle) -> u64 {
    let (project, programs) = system;
    let ports = { project.boot.ports.iter() }.map(|port| PortLine {
        bits_per_second: port.bits_per_second,
    });
    let ports: Vec<_> = ports.collect();
    let pace = "trace".parse().expect("a pace");
    let plan = schedule(&capture.frames, &ports, PortAssignment::RoundRobin, pace)
        .expect("the ports take the capture");
    let mut simulation = Simulation::new(project, programs, settings(project, idle))
        .expect("the system fits the chip");
    let frames = captured(capture.frames.as_slice(), plan);
    let mut links = Links::streaming(frames, 0, project.capacity.hertz, None);
    let ending = simulation.run(&mut links, &mut |_, _| {});
    assert_eq!(ending, Ending::Drained);
    links.traffic.sent_frames
}

/// Sends a thousand packets over ten minutes, all of which must leave; returns their
/// number.
fn run_few_frames(system: &(Project, Vec<Program>)) -> u64 {
    let (project, programs) = system;
    let traffic = Load {
        rate: Some(FEW.0.parse().expect("a rate")),
        time: FEW.1.parse().expect("a time"),
        ..project.load.clone().unwrap_or_default()
    };
    let traffic = npsim::load::resolved(traffic, project);
    let generator = npsim::load::generator(&traffic, project).expect("the load fits");
    let mut simulation = Simulation::new(project, programs, settings(project, Idle::Skipped))
        .expect("the system fits the chip");
    let mut links = Links::loaded(generator, project.capacity.hertz, None);
    let ending = simulation.run(&mut links, &mut |_, _| {});
    assert_eq!(ending, Ending::Drained);
    let traffic = &links.traffic;
    assert_eq!(traffic.sent_frames, traffic.offered_frames);
    traffic.sent_frames
}

fn seconds<T>(what: impl FnOnce() -> T) -> f64 {
    let began = Instant::now();
    black_box(what());
    began.elapsed().as_secs_f64()
}

fn idle(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("idle");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    let captures = ["mixed.pcap", "minsize.pcap.gz"].map(|name| {
        let path = root().join("traces").join(name);
        (
            name,
            Capture::open(&path).expect("the capture is in the repository"),
        )
    });
    for name in ["forward", "router"] {
        let system = load(&root().join("microcode").join(name), &[]);
        for (file, capture) in &captures {
            group.bench_function(format!("{name}, {file}"), |bencher| {
                bencher.iter(|| replay(&system, capture, Idle::Skipped));
            });
        }
        assert!(run_few_frames(&system) >= 1_000);
        group.bench_function(
            format!("{name}, 1,000 packets over ten minutes"),
            |bencher| {
                bencher.iter(|| run_few_frames(&system));
            },
        );
        let (file, capture) = &captures[0];
        let sent = replay(&system, capture, Idle::Simulated);
        assert_eq!(replay(&system, capture, Idle::Skipped), sent);
        let simulated = seconds(|| replay(&system, capture, Idle::Simulated));
        let skipped = seconds(|| replay(&system, capture, Idle::Skipped));
        println!(
            "idle: {name}, {file}: {simulated:.2} s when every cycle is simulated, {skipped:.2} s when recurring time is skipped: {:.1} times",
            simulated / skipped
        );
    }
    group.finish();
}

criterion_group!(benches, idle);
criterion_main!(benches);
