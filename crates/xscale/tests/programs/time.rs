//! The cost of programs, and that it is the same however a run is split.

use crate::bench::{Running, elf, project_with};
use npsim_project::Overrides;
use npsim_testkit::slow_path::{self, Bench};
use npsim_xscale::{Probe, ProbeEvent, Processor};

#[test]
fn cache_counts_match_a_simple_model() {
    let model = Running::new("walk", "").run_without_fault(10_000_000);
    assert!(model.processor().has_ended());
    // The array is twice as large as the cache: none of 2048 lines is found again. Then come 128 lines, none of which
    // is cached at first, and which stay, and the few lines of stack and constants.
    let misses = model.count("data_misses");
    assert!(
        (2 * 2048 + 128..2 * 2048 + 128 + 40).contains(&misses),
        "{misses}"
    );
    let hits = model.count("data_hits");
    assert!((9 * 128..9 * 128 + 60).contains(&hits), "{hits}");
    let lines = model.count("code_misses");
    assert!((4..12).contains(&lines), "{lines}");
}

#[test]
fn better_cache_models_are_faster() {
    let busy = |cache: &str| {
        let running =
            Running::new("walk", &format!("cache = \"{cache}\"\n")).run_without_fault(20_000_000);
        assert!(running.processor().has_ended(), "{cache}");
        (
            running.bench.gpp.counts(0, 20_000_000).busy,
            running.count("instructions"),
        )
    };
    let [none, model, perfect] = ["none", "model", "perfect"].map(busy);
    assert_eq!(
        (none.1, model.1),
        (model.1, perfect.1),
        "the same instructions"
    );
    assert!(
        none.0 > model.0 && model.0 > perfect.0,
        "{none:?} {model:?} {perfect:?}"
    );
    // A line takes 180 cycles plus the wait for the bus and the pins.
    let lines = 2 * 2048 + 128;
    let difference = model.0 - perfect.0;
    assert!(
        (lines * 180..lines * 240).contains(&difference),
        "{difference}"
    );
}

#[test]
fn core_clock_keeps_its_ratio_to_the_microengine_clock() {
    // The chips' own clocks, one of which divides the other, and slower and faster ones.
    let clocks = [
        ("ixp2400", [600, 599, 350, 700, 1999]),
        ("ixp2800", [700, 1400, 999, 533, 2000]),
    ];
    for (chip, core_mhz) in clocks
        .into_iter()
        .flat_map(|(chip, all)| all.map(|it| (chip, it)))
    {
        let setting = format!("profile.xscale.core_mhz={core_mhz}");
        let overrides = Overrides {
            set: vec![setting.parse().unwrap()],
            chip: Some(chip.to_owned()),
            ..Overrides::default()
        };
        for cache in ["none", "model", "perfect"] {
            let sections = format!("[gpp.program]\nelf = \"program.elf\"\ncache = \"{cache}\"\n");
            let project = project_with(elf("walk"), &sections, &overrides).unwrap();
            let mut bench = slow_path::load_on(&project.profile, &project.boot).unwrap();
            bench.run_until(20_000_000);
            let processor: &Processor = bench.gpp.task().unwrap();
            assert!(processor.has_ended(), "{cache}");
            // It never sleeps: it is busy all the time.
            let busy = bench.gpp.counts(0, 20_000_000).busy;
            assert!(busy > 5_000, "{busy}");
            let me_mhz = project.profile.me_mhz();
            let (cycles, expected) = (processor.cpu().cycles(), busy * core_mhz / me_mhz);
            assert!(
                cycles.abs_diff(expected) <= 1 + core_mhz / me_mhz,
                "{chip}, {cache}, {core_mhz} MHz: {cycles} against {expected} core cycles"
            );
        }
    }
}

/// The whole state of a chip's core.
fn state(bench: &Bench) -> (Vec<u8>, Vec<Vec<u8>>) {
    let core = postcard::to_allocvec(&bench.gpp).unwrap();
    (core, bench.gpp.save_tasks().unwrap())
}

#[test]
fn restored_program_runs_identically() {
    for (name, keys) in [
        ("echo", ""),
        ("timer", ""),
        ("walk", ""),
        ("walk", "cache = \"none\"\n"),
        ("hello", "input = [{ at = \"100us\", text = \"ab\" }]\n"),
    ] {
        let mut whole = Running::new(name, keys);
        let mut saved = Running::new(name, keys);
        let fresh = slow_path::load(&saved.project.boot).unwrap();
        let ring = whole.ring(0);
        for part in 0..40_u32 {
            let at = u64::from(part + 1) * 7_919;
            for running in [&mut whole, &mut saved] {
                if part % 3 == 0 {
                    running.put(ring, part + 1);
                }
                running.run_until(at);
            }
            let bench = &mut saved.bench;
            let states = bench.gpp.save_tasks().unwrap();
            let bytes = postcard::to_allocvec(&(&bench.gpp, &bench.fabric.events)).unwrap();
            (bench.gpp, bench.fabric.events) = postcard::from_bytes(&bytes).unwrap();
            bench.gpp.restore_tasks(&fresh.gpp, &states).unwrap();
        }
        assert_eq!(whole.fault(), None);
        assert!(state(&whole.bench) == state(&saved.bench), "{name}");
        assert_eq!(whole.text(), saved.text());
        assert_eq!(whole.on_ring(whole.ring(1)), saved.on_ring(saved.ring(1)));
    }
}

#[test]
fn state_of_another_program_is_refused() {
    let mut one = Running::new("echo", "");
    let other = Running::new("wake", "");
    let states = other.bench.gpp.save_tasks().unwrap();
    let fresh = slow_path::load(&one.project.boot).unwrap();
    assert!(one.bench.gpp.restore_tasks(&fresh.gpp, &states).is_err());
}

/// Programs in their cycles, each given work on its first ring.
fn worked(name: &str, keys: &str, probe: Option<&Probe>) -> Running {
    let mut running = Running::new(name, keys);
    let ring = running.ring(0);
    if let Some(probe) = probe {
        let processor = running.bench.gpp.task_mut::<Processor>().unwrap();
        processor.set_probe(probe.clone());
    }
    for part in 0..20_u32 {
        running.put(ring, part + 1);
        running.run_until(u64::from(part + 1) * 7_919);
    }
    assert_eq!(running.fault(), None);
    running
}

#[test]
fn probe_records_every_instruction_without_changing_the_run() {
    for (name, keys) in [
        ("echo", ""),
        ("timer", ""),
        ("walk", ""),
        ("walk", "cache = \"none\"\n"),
        ("wake", ""),
        ("hello", "input = [{ at = \"100us\", text = \"ab\" }]\n"),
    ] {
        let probe = Probe {
            numbers: 0..u64::MAX,
            every: true,
            ..Probe::default()
        };
        let whole = worked(name, keys, None);
        let probed = worked(name, keys, Some(&probe));
        assert!(state(&whole.bench) == state(&probed.bench), "{name}");
        let probe_hits = &probed.processor().probe().probe_hits;
        let numbers: Vec<_> = probe_hits.iter().map(|it| it.number).collect();
        let all: Vec<_> = (0..probed.processor().cpu().instructions()).collect();
        assert!(numbers == all, "{name}: {} of {}", numbers.len(), all.len());
        assert!(probe_hits.is_sorted_by_key(|it| it.cycle), "{name}");
    }
}

#[test]
fn job_is_cut_before_the_requested_instruction() {
    let every = Probe {
        numbers: 0..u64::MAX,
        every: true,
        ..Probe::default()
    };
    let probed = worked("walk", "", Some(&every));
    let probe_hits = &probed.processor().probe().probe_hits;
    for hit in probe_hits.iter().step_by(probe_hits.len() / 50) {
        let mut cut = Running::new("walk", "");
        cut.run_until(hit.cycle);
        let processor = cut.bench.gpp.task_mut::<Processor>().unwrap();
        processor.set_probe(Probe {
            until: Some(hit.number),
            ..Probe::default()
        });
        cut.run_until(hit.cycle + 1);
        let cpu = cut.processor().cpu();
        assert_eq!(cpu.instructions(), hit.number);
        assert_eq!(ProbeEvent::Instruction(cpu.pc()), hit.what);
    }
}
