//! Events that observers are spared do not affect their results.

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;
use npsim_observe::profile::Collector;
use npsim_observe::series::Series;
use npsim_observe::timeline::Recorder;

use crate::runs::{Run, crowd};

/// Delivers all events to an observer, one by one and in order.
struct Unspared<O>(O);

impl<O> Sampler for Unspared<O> {}

impl<O: Observer> Observer for Unspared<O> {
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.0.see(at, event);
    }
}

#[test]
fn timeline_skips_events_after_its_window() {
    let (crowd, _folder) = Run::source(&crowd(), "0-3");
    let runs = [
        (Run::forwarder(), 60_000),
        (Run::forwarder_on_2800(), 60_000),
        (crowd, 5000),
    ];
    for (run, until) in runs {
        for window in [(0, until / 7), (until / 9, until / 3), (until / 2, until)] {
            let recorder = |chip: &_| {
                Recorder::new(Vec::new(), "test", chip, window)
                    .with_ring_names(Series::new(&run.project).places())
            };
            let mut simulation = run.simulation(Some(until));
            let mut spared = recorder(simulation.chip());
            assert!(spared.wants().has(TraceEventKind::Bus));
            run.watch(&mut simulation, &mut spared);
            assert_eq!(spared.wants().has(TraceEventKind::Bus), window.1 == until);
            let spared = spared.finish(simulation.now()).expect("a Vec takes all");

            let mut simulation = run.simulation(Some(until));
            let mut all = Unspared(recorder(simulation.chip()));
            run.watch(&mut simulation, &mut all);
            let all = all.0.finish(simulation.now()).expect("a Vec takes all");
            assert!(spared == all, "{window:?}");
        }
    }
}

#[test]
fn profile_does_not_need_ordered_events() {
    let (crowd, _folder) = Run::source(&crowd(), "0-3");
    let runs = [
        (Run::forwarder(), 60_000),
        (Run::forwarder_on_2800(), 60_000),
        (crowd, 5000),
    ];
    for (run, until) in runs {
        // The end cuts off something different each time.
        for until in until..until + 9 {
            let mut simulation = run.simulation(Some(until));
            let mut spared = Collector::new(simulation.chip());
            assert!(!spared.needs_order());
            run.watch(&mut simulation, &mut spared);
            let spared = format!("{:?}", spared.finish(simulation.now()));

            let mut simulation = run.simulation(Some(until));
            let mut all = Unspared(Collector::new(simulation.chip()));
            assert!(all.needs_order());
            run.watch(&mut simulation, &mut all);
            let all = format!("{:?}", all.0.finish(simulation.now()));
            assert!(spared == all, "{until}");
        }
    }
}
