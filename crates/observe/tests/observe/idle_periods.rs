//! The cost of silence for observers does not grow with its length, and skipping it does not affect
//! their results.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_chip::watch::{Sampler, Watcher};
use npsim_observe::flow::TrafficFlow;
use npsim_observe::lanes::ContextRecorder;
use npsim_observe::packets::{CsvRows, Flows, PacketFollower, PacketRows};
use npsim_observe::profile::Collector;
use npsim_observe::sections::SerialSections;
use npsim_observe::timeline::Recorder;

use crate::runs::Run;

/// Counts the events that an observer gets.
struct Counted<O>(O, u64);

impl<O> Sampler for Counted<O> {}

impl<O: Observer> Observer for Counted<O> {
    fn wants(&self) -> EventKinds {
        self.0.wants()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.1 += 1;
        self.0.see(at, event);
    }

    fn needs_order(&self) -> bool {
        self.0.needs_order()
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.0.visit_state(at, state)
    }
}

/// An observer that gets the events of every period.
struct EveryPeriod<O>(O);

impl<O> Sampler for EveryPeriod<O> {}

impl<O: Observer> Observer for EveryPeriod<O> {
    fn wants(&self) -> EventKinds {
        self.0.wants()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        self.0.see(at, event);
    }

    fn needs_order(&self) -> bool {
        self.0.needs_order()
    }
}

fn watched<W: Watcher>(run: &Run, until: Cycle, with: impl FnOnce(&Chip) -> W) -> (W, Cycle) {
    let mut simulation = run.simulation(Some(until));
    let mut watcher = with(simulation.chip());
    run.watch(&mut simulation, &mut watcher);
    (watcher, simulation.now())
}

/// An observer's results for silence are the same whether it gets each period's events or none, and it gets hardly more
/// events of a long one than of a short one.
fn assert_summarised<O: Observer>(
    system: &str,
    with: impl Fn(&Chip) -> O,
    made_of: impl Fn(O, Cycle) -> String,
) {
    let run = Run::idle(system);
    for until in [3_000_000, 3_000_001, 30_123_457] {
        let (every_period, end) = watched(&run, until, |chip| EveryPeriod(with(chip)));
        let (own, _) = watched(&run, until, |chip| Counted(with(chip), 0));
        let (every_period, own) = (made_of(every_period.0, end), made_of(own.0, end));
        assert!(
            every_period == own,
            "{system}, {until}:\n{every_period}\n{own}"
        );
    }
    let seen = |until| watched(&run, until, |chip| Counted(with(chip), 0)).0.1;
    let (short, long) = (seen(30_000_000), seen(30_000_000_000));
    assert!(
        long < short + short / 2 + 100_000,
        "{system}: {short}, {long}"
    );
}

#[test]
fn silence_is_summarised_for_profiles() {
    for system in ["forward", "router"] {
        assert_summarised(system, Collector::new, |it, end| {
            format!("{:?}", it.finish(end))
        });
    }
}

#[test]
fn silence_is_summarised_for_traffic_flow() {
    assert_summarised("router", |_| TrafficFlow::new(), |it, _| format!("{it:?}"));
}

#[test]
fn silence_is_summarised_for_serial_sections() {
    assert_summarised("router", SerialSections::new, |it, end| {
        let parts = [(0, end), (0, end / 3), (end / 2, end), (end / 9 * 8, end)];
        format!("{:?}", parts.map(|(from, to)| it.between(from, to)))
    });
}

#[test]
fn silence_is_summarised_for_context_lanes() {
    assert_summarised("router", ContextRecorder::new, |it, end| {
        format!("{:?}", it.finish(end))
    });
}

#[test]
fn silence_is_summarised_for_packets() {
    let rows = |chip: &Chip| PacketRows::new(CsvRows::new(Vec::new()), chip, Flows::default());
    assert_summarised("router", rows, |it, _| format!("{:?}", it.finish()));
    let events = |chip: &Chip| PacketFollower::new(chip, 0, &[]);
    assert_summarised("forward", events, |it, _| format!("{:?}", it.finish()));
}

#[test]
fn silence_is_summarised_around_a_timeline_window() {
    for window in [(0, 50_000), (2_500_000, 2_600_000), (2_900_000, 3_100_000)] {
        let recorder = |chip: &Chip| Recorder::new(Vec::new(), "test", chip, window);
        assert_summarised("forward", recorder, |it, end| {
            String::from_utf8(it.finish(end).unwrap()).unwrap()
        });
    }
}
