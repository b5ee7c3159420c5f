//! Observers see the same order, however a run is split.

use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_chip::watch::{Sampler, Watchers};
use npsim_observe::lanes::{Activity, CAPTURE_CYCLES, ContextLanes, FrameMark};
use npsim_observe::set::ObserverConfig;
use npsim_session::simulation::Ending;

use crate::runs::{Run, crowd};

#[derive(Default)]
struct Log(Vec<(Cycle, TraceEvent)>);

impl Sampler for Log {}

impl Observer for Log {
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.0.push((at, *event));
    }
}

/// All events of a run that pauses at the given interval in cycles.
fn log(run: &Run, until: Option<u64>, pause: Cycle) -> Vec<(Cycle, TraceEvent)> {
    let mut simulation = run.simulation(until);
    let (mut log, mut links) = (Log::default(), run.links());
    loop {
        let next = simulation.now().saturating_add(pause);
        let mut on = |_: Cycle, _: &_| ControlFlow::Continue(());
        if simulation
            .run_to(next, &mut links, &mut log, &mut on)
            .is_some()
        {
            return log.0;
        }
    }
}

#[test]
fn events_are_ordered_by_cycle_and_rank() {
    let (crowd, _folder) = Run::source(&crowd(), "0-3");
    let runs = [
        (Run::forwarder(), Some(150_000)),
        (Run::forwarder_on_2800(), Some(150_000)),
        (crowd, Some(5000)),
    ];
    for (run, until) in runs {
        let whole = log(&run, until, Cycle::MAX);
        assert!(whole.len() > 5000, "{}", whole.len());
        let key = |(at, event): &(Cycle, TraceEvent)| (*at, event.rank());
        let wrong = whole.windows(2).find(|pair| key(&pair[0]) > key(&pair[1]));
        assert_eq!(wrong, None);
        assert!(whole.iter().all(|(at, _)| Some(*at) < until));
    }
}

#[test]
fn pauses_do_not_affect_observed_events() {
    let run = Run::forwarder();
    let whole = log(&run, Some(40_000), Cycle::MAX);
    assert!(log(&run, Some(40_000), 777) == whole);
}

#[test]
fn all_observers_see_the_same_events() {
    let run = Run::forwarder();
    let (mut one, mut other) = (Log::default(), Log::default());
    let mut both = Watchers::new();
    assert_eq!(both.wants(), EventKinds::NONE);
    both.add(&mut one);
    both.add(&mut other);
    let mut simulation = run.simulation(Some(20_000));
    assert_eq!(run.watch(&mut simulation, &mut both), Ending::Reached);
    assert!(!one.0.is_empty() && one.0 == other.0);
}

/// Every cycle of the picture belongs to one state of each context; what is drawn
/// over it lies within.
fn assert_whole(lanes: &ContextLanes, microengines: u8) {
    assert_eq!(lanes.until() - lanes.from(), CAPTURE_CYCLES);
    for (me, context) in (0..microengines).flat_map(|me| (0..8).map(move |c| (me, c))) {
        let over = [Activity::Aborted, Activity::Stalled];
        let mut at = lanes.from();
        for stretch in lanes.lane(me, context) {
            assert!(stretch.from < stretch.until && stretch.until <= lanes.until());
            if !over.contains(&stretch.activity) {
                assert_eq!(stretch.from, at, "microengine {me} context {context}");
                at = stretch.until;
            }
        }
        assert_eq!(at, lanes.until(), "microengine {me} context {context}");
    }
}

#[test]
fn notable_moments_are_captured_during_the_run() {
    let run = Run::forwarder();
    let mut simulation = run.simulation(None);
    let wanted = ObserverConfig::default().and_report();
    let mut set = wanted
        .open(&run.project, simulation.chip())
        .expect("no file");
    run.watch(&mut simulation, &mut set);
    let seen = set.finish(simulation.chip());
    let moments = seen.moments.expect("moments");
    let loss = moments.loss.expect("frames are lost");
    let lost = loss
        .marks()
        .iter()
        .find(|(_, mark)| *mark == FrameMark::Dropped);
    assert_eq!(
        lost.map(|(at, _)| at - loss.from()),
        Some(CAPTURE_CYCLES / 2),
        "the first loss is in the middle"
    );
    let count = simulation.chip().microengines().len() as u8;
    let end = moments.end.expect("an end");
    assert_eq!(end.until(), simulation.now());
    assert_whole(&loss, count);
    assert_whole(&end, count);
    let (_, fullest) = moments.fullest.expect("something fills up");
    assert_whole(&fullest, count);
    assert!((4..=32).contains(&moments.spread.len()));
    for pair in moments.spread.windows(2) {
        assert!(pair[0].1.from() < pair[1].1.from() && pair[0].0 <= pair[1].0);
        assert_whole(&pair[1].1, count);
    }
}
