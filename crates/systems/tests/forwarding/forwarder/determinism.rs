//! Equal inputs give equal bytes, however the run is cut into steps,
//! copied or watched.

use std::path::Path;

use super::bench::{Forwarder, drain};
use crate::command::{self, root};
use crate::recorded_lines::{RecordedLines, Sent};
use npsim::engine::ENGINE;
use npsim::links::Links;
use npsim::project::Overrides;
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_inspect::stats::Stats;
use npsim_net::capture::Capture;
use npsim_net::pace::{Pace, PortAssignment};
use npsim_systems::project::{assembled, load};
use proptest::prelude::*;

/// The capture and the statistics that the command writes for the forwarder.
fn run_outputs(trace: &str, arguments: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let forwarder = Path::new("microcode/forward");
    command::run_outputs(forwarder, Path::new(trace), arguments)
}

#[test]
fn repeated_runs_write_identical_files() {
    for (trace, arguments) in [
        ("traces/mixed.pcap", &[][..]),
        (
            "traces/minsize.pcap.gz",
            &["--pace", "line", "--ports", "round-robin"],
        ),
        ("traces/two-ports.pcapng", &["--pace", "400kpps"]),
        (
            "traces/exceptions.pcap",
            &["--pace", "line", "--ports", "flow"],
        ),
    ] {
        let first = run_outputs(trace, arguments);
        assert!(first.0.len() > 1000 && first.1.len() > 1000);
        let second = run_outputs(trace, arguments);
        assert!(first.0 == second.0, "{trace}: captures differ");
        assert!(first.1 == second.1, "{trace}: statistics differ");
    }
    let other = run_outputs("traces/mixed.pcap", &["--pace", "line"]);
    assert!(
        other != run_outputs("traces/mixed.pcap", &[]),
        "another pace gives other bytes"
    );
}

/// Frames of the mixed capture, back to back on all ports.
fn traffic() -> RecordedLines {
    let frames = Capture::open(&root().join("traces/mixed.pcap"))
        .unwrap()
        .frames;
    Forwarder::shipped().lines(&frames[..60], PortAssignment::RoundRobin, Pace::Line)
}

/// Everything observable about a chip.
#[derive(PartialEq, Debug)]
struct View {
    stats: Stats,
    sent: Vec<Sent>,
    contexts: Vec<String>,
    scratch: Vec<Option<u32>>,
    free_buffers: u32,
}

fn view(chip: &Chip, lines: &RecordedLines) -> View {
    let buffers = Forwarder::shipped().project.boot.buffers.as_ref().unwrap();
    View {
        stats: Stats::collect(chip),
        sent: lines.departures.clone(),
        contexts: chip
            .microengines()
            .iter()
            .flat_map(|me| me.state_report())
            .collect(),
        scratch: (0..4096)
            .map(|word| chip.units().scratch.read(4 * word))
            .collect(),
        free_buffers: chip
            .units()
            .sram
            .entry(buffers.channel, buffers.entry)
            .unwrap()
            .count(),
    }
}

/// The uninterrupted run, and its end.
fn run_uninterrupted() -> (View, Cycle) {
    let (mut chip, mut lines) = (Forwarder::shipped().chip(), traffic());
    let end = drain(&mut chip, &mut lines, &mut NoObserver);
    assert!(lines.departures.len() > 40);
    (view(&chip, &lines), end)
}

fn run_to(chip: &mut Chip, lines: &mut RecordedLines, until: Cycle) {
    assert_eq!(chip.run(until, lines, &mut NoObserver), Stop::Reached);
    assert_eq!(chip.now(), until);
}

/// Microcode that contends for one ring on all microengines: its log shows any difference in
/// timing.
struct RingContention {
    chip: Chip,
    /// SRAM byte address of the log.
    log: u32,
}

impl RingContention {
    const LOG_WORDS: u32 = 4096;

    fn new() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/sram_ring.toml");
        let overrides = Overrides {
            ids: Some("0-7".into()),
            ..Overrides::default()
        };
        let project = load(&file, &overrides);
        let programs = assembled(&project);
        let simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
        let defines = &project.programs[0].defines;
        let (_, log) = defines.iter().find(|(name, _)| name == "LOG").unwrap();
        let log = u32::from_str_radix(log.trim_start_matches("0x"), 16).unwrap();
        Self {
            chip: simulation.chip().clone(),
            log,
        }
    }

    fn log(&self) -> Vec<u32> {
        (0..Self::LOG_WORDS)
            .map(|word| {
                self.chip
                    .units()
                    .sram
                    .read_word(self.log + 4 * word)
                    .unwrap()
            })
            .collect()
    }

    fn instructions(&self) -> Vec<u64> {
        let now = self.chip.now();
        let microengines = self.chip.microengines().iter();
        microengines
            .map(|me| me.stats_at(now).instructions)
            .collect()
    }
}

fn run_quiet(chip: &mut Chip, mut step: impl FnMut() -> Cycle) {
    let mut links = Links::idle(600_000_000);
    loop {
        let until = chip.now().saturating_add(step());
        match chip.run(until, &mut links, &mut NoObserver) {
            Stop::Reached => {}
            Stop::Quiet => return,
            Stop::Fault(fault) => panic!("{fault:?}"),
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Cycle>> {
    let step = prop_oneof![1 => 1..4u64, 3 => 1..200u64, 3 => 1..5_000u64, 1 => 1..50_000u64];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stepped_run_equals_an_uninterrupted_run(steps in steps()) {
        let (expected, end) = run_uninterrupted();
        let (mut chip, mut lines) = (Forwarder::shipped().chip(), traffic());
        let mut steps = steps.into_iter().cycle();
        while chip.now() < end {
            let until = (chip.now() + steps.next().unwrap()).min(end);
            run_to(&mut chip, &mut lines, until);
        }
        prop_assert_eq!(view(&chip, &lines), expected);
    }

    /// Not only the observable part: every bit of the state.
    #[test]
    fn stepped_run_reaches_the_same_full_state(
        steps in steps(),
        end in 1_000..120_000u64,
    ) {
        let state = |steps: &[Cycle]| {
            let (mut chip, mut lines) = (Forwarder::shipped().chip(), traffic());
            let mut steps = steps.iter().cycle();
            while chip.fabric().now < end {
                let until = steps.next().map_or(end, |step| chip.fabric().now + step);
                run_to(&mut chip, &mut lines, until.min(end));
            }
            chip.save().unwrap()
        };
        prop_assert!(state(&steps) == state(&[]));
    }

    #[test]
    fn ring_contention_is_independent_of_steps(steps in steps()) {
        let mut through = RingContention::new();
        run_quiet(&mut through.chip, || Cycle::MAX);
        let mut stepped = RingContention::new();
        let mut steps = steps.into_iter().cycle();
        run_quiet(&mut stepped.chip, || steps.next().unwrap());
        prop_assert!(through.log().iter().all(|word| *word != 0), "the log is full");
        prop_assert!(stepped.log() == through.log());
        prop_assert_eq!(stepped.instructions(), through.instructions());
    }

    #[test]
    fn cloned_chip_continues_like_the_original(permille in 0..1000u64) {
        let (expected, end) = run_uninterrupted();
        let (mut chip, mut lines) = (Forwarder::shipped().chip(), traffic());
        run_to(&mut chip, &mut lines, end * permille / 1000);
        let (mut copy, mut copied_lines) = (chip.clone(), lines.clone());
        run_to(&mut chip, &mut lines, end);
        // The original's end must not have touched the copy.
        run_to(&mut copy, &mut copied_lines, end);
        prop_assert_eq!(view(&chip, &lines), view(&copy, &copied_lines));
        prop_assert_eq!(view(&copy, &copied_lines), expected);
    }
}

/// An observer that counts events.
#[derive(Default)]
struct Counter {
    instructions: u64,
    commands: u64,
}

impl Observer for Counter {
    fn see(&mut self, _: Cycle, what: &TraceEvent) {
        match what {
            TraceEvent::Issued { count, .. } => self.instructions += u64::from(*count),
            TraceEvent::Command { .. } => self.commands += 1,
            _ => {}
        }
    }
}

#[test]
fn observer_does_not_change_the_run() {
    let (expected, _) = run_uninterrupted();
    let (mut chip, mut lines) = (Forwarder::shipped().chip(), traffic());
    let mut counter = Counter::default();
    drain(&mut chip, &mut lines, &mut counter);
    assert_eq!(view(&chip, &lines), expected);
    let sum = |count: fn(&npsim_inspect::stats::MicroengineStats) -> u64| -> u64 {
        expected.stats.microengines.iter().map(count).sum()
    };
    assert_eq!(counter.instructions, sum(|me| me.instructions));
    assert_eq!(counter.commands, sum(|me| me.commands));
}
