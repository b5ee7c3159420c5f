//! Cost of moving through time, on the standard router at line rate: a jump to any cycle of
//! the last millisecond of ten, a step back from there, and going back to a breakpoint a
//! millisecond before, as multiples of the time to simulate one stretch between two saved
//! states.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use npsim::debug::timeline::{NoDebug, SNAPSHOT_INTERVAL, Setup, Timeline};
use npsim::debug::{Debugger, Direction, Step};
use npsim::engine::ENGINE;
use npsim::simulation::{RunSettings, Simulation};
use npsim_benches::{load, root};
use npsim_net::Random;
use npsim_net::load::Load;

/// Memory budget for saved states, in bytes.
const BUDGET: usize = 512 << 20;
/// Number of jumps and steps that are timed.
const TIMES: usize = 40;

/// Durations of several runs in seconds, shortest first.
struct Times(Vec<f64>);

impl Times {
    fn of(mut what: impl FnMut()) -> Self {
        let times = (0..TIMES).map(|_| {
            let began = Instant::now();
            what();
            began.elapsed().as_secs_f64()
        });
        let mut times: Vec<f64> = times.collect();
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    /// The time within which this percentage of them finished.
    fn percentile(&self, part: usize) -> f64 {
        self.0[(self.0.len() * part).div_ceil(100) - 1]
    }
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
        simulation: Simulation::new(&project, &programs, RunSettings::new(ENGINE))
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
    let mut timeline = Timeline::new(setup()).expect("the budget is enough");
    timeline.goto(last);
    let stretch = {
        let mut at = last;
        let times = Times::of(|| {
            at += SNAPSHOT_INTERVAL;
            timeline.goto(at);
        });
        times.percentile(50)
    };
    let end = last + SNAPSHOT_INTERVAL * TIMES as u64;
    let mut random = Random::new(1, 0);
    let jumps = Times::of(|| {
        timeline.goto(end - random.below(hertz / 1000));
        black_box(timeline.chip().now());
    });
    let (bytes, states) = timeline.memory();
    println!(
        "debugger: a stretch of {SNAPSHOT_INTERVAL} cycles takes {:.1} ms; a jump costs at most {:.1} \
         stretches, half of them {:.1}; {states} states in {} MiB",
        stretch * 1e3,
        jumps.percentile(100) / stretch,
        jumps.percentile(50) / stretch,
        bytes >> 20
    );
    drop(timeline);
    let mut debugger = Debugger::new(setup(), &project, &[]).expect("the budget is enough");
    debugger.goto(last);
    let steps = Times::of(|| {
        black_box(debugger.step(Step::Line, Direction::Back));
    });
    println!(
        "debugger: a step back takes {:.1} ms, 95 % of them at most {:.1} ms; {:.1} and {:.1} \
         stretches",
        steps.percentile(50) * 1e3,
        steps.percentile(95) * 1e3,
        steps.percentile(50) / stretch,
        steps.percentile(95) / stretch
    );
    // The first instruction of a program is executed once, at the start, so the way back to
    // it is the whole millisecond.
    let millisecond = hertz / 1000;
    debugger.goto(millisecond);
    let thread = debugger.thread();
    let began = Instant::now();
    let found = debugger.run_to_words(vec![(thread.me, 0)], thread, Direction::Back);
    let took = began.elapsed().as_secs_f64();
    found.expect("the program began");
    let searched = millisecond - debugger.cycle();
    println!(
        "debugger: back to a breakpoint {searched} cycles ago takes {took:.2} s: {:.1} stretches, \
         of which it lies {} back",
        took / stretch,
        searched / SNAPSHOT_INTERVAL
    );
}

criterion_group!(benches, travel);
criterion_main!(benches);
