//! Rests that grow while nothing arrives: their savings, and their cost for packets.

use npsim_chip::Cycle;
use npsim_inspect::stats::Stats;
use npsim_net::load::Load;

use super::bench::{Bench, RecordedLines, drain, run_until};
use super::verdict::check_at_rest;

/// Longest rest of these tests, in steps of 16 cycles.
const MAX_REST: u64 = 255;

/// Every stage that polls rests for up to [`MAX_REST`] steps.
pub const GROWING: [&str; 4] = [
    "me.queue_manager.define.REST_LONGEST=255",
    "me.scheduler.define.REST_LONGEST=255",
    "me.transmit.define.REST_LONGEST=255",
    "me.processing.define.REST_LONGEST=255",
];

/// The settings with the shipped value.
const AS_SHIPPED: [&str; 4] = [
    "me.queue_manager.define.REST_LONGEST=2",
    "me.scheduler.define.REST_LONGEST=2",
    "me.transmit.define.REST_LONGEST=2",
    "me.processing.define.REST_LONGEST=2",
];

fn load(rate: &str, size: &str, time: &str) -> Load {
    Load {
        rate: Some(rate.parse().unwrap()),
        size: size.parse().unwrap(),
        time: time.parse().unwrap(),
        ..Load::default()
    }
}

/// A run to its end, in which nothing may be lost.
fn run_without_loss(bench: &Bench, load: Load) -> RecordedLines {
    let mut lines = bench.lines(bench.loaded(load));
    let mut chip = bench.chip();
    drain(&mut chip, &mut lines).unwrap();
    check_at_rest(bench, &chip, &lines, &[]).unwrap();
    assert_eq!(lines.departures.len(), lines.arrivals.len());
    lines
}

/// Cycles from the last arriving bit of each frame to its first departing bit, sorted.
fn delays(lines: &RecordedLines) -> Vec<Cycle> {
    let sent = lines.departures.iter();
    let delay = |frame: Option<u64>, start| start - lines.arrivals[frame.unwrap() as usize].end;
    let mut delays: Vec<_> = sent.map(|sent| delay(sent.frame, sent.start)).collect();
    delays.sort_unstable();
    delays
}

/// Frames so far apart that each finds the router idle.
fn lone_packet_delays(bench: &Bench) -> Vec<Cycle> {
    // 0.33 ms, which is not a multiple of any rest.
    delays(&run_without_loss(bench, load("3kpps", "64", "20ms")))
}

#[test]
fn shipped_rest_setting_is_the_default() {
    for project in ["npsim.toml", "two-queue-managers.toml"] {
        let given = Bench::new(project, &AS_SHIPPED, &[]);
        let plain = Bench::new(project, &[], &[]);
        let of = |bench| run_without_loss(bench, load("0.4", "imix", "200us")).departures;
        assert_eq!(of(&given), of(&plain));
    }
}

#[test]
fn lone_packet_waits_at_most_one_rest_per_stage() {
    let shipped = lone_packet_delays(&Bench::new("npsim.toml", &[], &[]));
    let resting = lone_packet_delays(&Bench::new("npsim.toml", &GROWING, &[]));
    assert!(shipped.len() > 50);
    let (usual, longest) = (shipped[shipped.len() - 1], resting[resting.len() - 1]);
    assert!(usual < 6_000, "{usual}");
    // Processing, queue manager, scheduler, queue manager again, transmit.
    assert!(longest < usual + 5 * MAX_REST * 16, "{longest}");
    // It waits for rests: one or more in total.
    let all: Cycle = resting.iter().sum();
    let mean = all / resting.len() as Cycle;
    assert!(mean > usual + MAX_REST * 16, "{mean}");
}

/// Instructions in a millisecond without arrivals, after two milliseconds for rests to grow.
fn idle_instructions(set: &[&str]) -> u64 {
    let bench = Bench::new("npsim.toml", set, &[]);
    let mut chip = bench.chip();
    let mut lines = bench.lines([]);
    let mut executed = || {
        let until = chip.now() + 600_000;
        run_until(&mut chip, until, &mut lines).unwrap();
        let microengines = &Stats::collect(&chip).microengines;
        microengines.iter().map(|me| me.instructions).sum::<u64>()
    };
    executed();
    let before = executed();
    executed() - before
}

#[test]
fn an_idle_router_hardly_polls() {
    let (polling, resting) = (idle_instructions(&[]), idle_instructions(&GROWING));
    assert!(resting * 40 < polling, "{resting} of {polling}");
}

#[test]
fn three_full_lines_are_forwarded() {
    let bench = Bench::new("npsim.toml", &GROWING, &[]);
    for size in ["1518", "600", "256"] {
        let mut full = load("1", size, "1ms");
        full.destinations = ["10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16"]
            .map(|prefix| prefix.parse().unwrap())
            .to_vec();
        let lines = run_without_loss(&bench, full);
        let last = lines.departures.iter().map(|sent| sent.end).max().unwrap();
        // At the end, no more packets wait than the longest delays allow.
        let late = last - lines.arrivals_end();
        assert!(late < 60_000, "{size}: {late} cycles");
    }
}

#[test]
fn rests_do_not_change_the_rate_of_minimum_frames() {
    let sent = |set: &[&str]| {
        let bench = Bench::new("npsim.toml", set, &[]);
        let mut lines = bench.lines(bench.loaded(load("1", "64", "1ms")));
        let mut chip = bench.chip();
        let end = lines.arrivals_end();
        run_until(&mut chip, end, &mut lines).unwrap();
        lines.departures.len()
    };
    let (polling, resting) = (sent(&[]), sent(&GROWING));
    assert!(resting * 100 > polling * 99, "{resting} of {polling}");
}

/// A burst at the full rate of the lines into a router that has long been idle.
#[test]
fn a_burst_after_a_pause_loses_nothing() {
    let bench = Bench::new("npsim.toml", &GROWING, &[]);
    for pause in [1_000_000, 1_001_111, 1_002_345, 1_003_999] {
        let mut frames = bench.loaded(load("1", "64", "12us"));
        for frame in &mut frames {
            frame.start_ps += pause * 1_000;
            frame.end_ps += pause * 1_000;
        }
        let mut lines = bench.lines(frames);
        let mut chip = bench.chip();
        drain(&mut chip, &mut lines).unwrap();
        check_at_rest(&bench, &chip, &lines, &[]).unwrap();
        assert_eq!(lines.departures.len(), lines.arrivals.len(), "{pause}");
    }
}
