//! What going through time costs, on the standard router at line rate: a jump to any
//! cycle of the last millisecond of ten, and a step back from there, as multiples of
//! simulating one stretch between two states of the past.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use npsim::debug::machine::{Machine, NoDebug, STRETCH, Setup};
use npsim::debug::{Debugger, Direction, Step};
use npsim::simulation::{Settings, Simulation};
use npsim_benches::{load, root};
use npsim_net::Random;
use npsim_net::load::Load;

/// Bytes for states of the past.
const BUDGET: usize = 512 << 20;
/// Jumps and steps that are timed.
const TIMES: usize = 40;

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn timed(mut what: impl FnMut()) -> f64 {
    let times = (0..TIMES).map(|_| {
        let began = Instant::now();
        what();
        began.elapsed().as_secs_f64()
    });
    median(times.collect())
}

fn travel(_: &mut Criterion) {
    let (project, programs) = load(&root().join("microcode/router"), &[]);
    let hertz = project.capacity.hertz;
    let traffic = Load {
        rate: Some("1".parse().expect("a rate")),
        time: "11ms".parse().expect("a time"),
        ..Load::default()
    };
    let traffic = npsim::load::resolved(traffic, &project);
    let setup = || Setup {
        simulation: Simulation::new(&project, &programs, Settings::default())
            .expect("the system fits the chip"),
        frames: NoDebug(Box::new(
            npsim::load::generator(&traffic, &project)
                .expect("the load fits")
                .map(Ok),
        )),
        until: None,
        hertz,
        budget: BUDGET,
    };
    let last = hertz / 100;
    let mut machine = Machine::new(setup()).expect("the budget is enough");
    machine.goto(last);
    let stretch = {
        let mut at = last;
        timed(|| {
            at += STRETCH;
            machine.goto(at);
        })
    };
    let end = last + STRETCH * TIMES as u64;
    let mut random = Random::new(1, 0);
    let jump = timed(|| {
        machine.goto(end - random.below(hertz / 1000));
        black_box(machine.chip().now());
    });
    let (bytes, states) = machine.memory();
    println!(
        "debugger: a stretch of {STRETCH} cycles {:.1} ms, a jump {:.1} ms: {:.1} stretches; {states} states in {} MB",
        stretch * 1e3,
        jump * 1e3,
        jump / stretch,
        bytes / 1_000_000
    );
    let mut debugger = Debugger::new(setup(), &project, &[]).expect("the budget is enough");
    debugger.goto(last);
    let back = timed(|| {
        black_box(debugger.step(Step::Line, Direction::Back));
    });
    println!(
        "debugger: a step back {:.1} ms: {:.1} stretches",
        back * 1e3,
        back / stretch
    );
}

criterion_group!(benches, travel);
criterion_main!(benches);
